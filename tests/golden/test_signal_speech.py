"""Real speech: every clip decodes to the duration its manifest states, and every dirty clip fires its rule."""

from __future__ import annotations

import csv
import importlib
import os
from pathlib import Path

import pytest

from refprep.dsp.resample import resample
from refprep.pipeline.decode import decode_file
from refprep.pipeline.quality import measure_quality
from refprep.types import AudioSource, Clip, Span

PACK = os.environ.get("REFPREP_SPEECH_PACK", "")
pytestmark = [
    pytest.mark.speech,
    pytest.mark.skipif(not PACK, reason="REFPREP_SPEECH_PACK does not name a folder with manifest.csv"),
]

CODES = [f"RP{n:03d}" for n in (*range(2, 8), *range(201, 212))]
RULES = [importlib.import_module(f"refprep.linter.rules.{code.lower()}").RULE for code in CODES]
DIRTY = {
    "clipped_heavy.wav": {"RP201", "RP208"},
    "clipped_mild.wav": {"RP201", "RP208"},
    "dc_offset.wav": {"RP210"},
    "long_inner_pause.flac": {"RP206"},
    "narrowband_8k.wav": {"RP203", "RP204"},
    "narrowband_8k_mulaw.wav": {"RP204"},
    "noise_pink_0db.flac": {"RP202"},
    "noise_white_10db.flac": {"RP202"},
    "quiet.wav": {"RP203"},
    "silence_digital.wav": {"RP205"},
    "silence_roomtone.wav": {"RP205"},
    "stereo_left_only.wav": {"RP004"},
    "stereo_speaker_per_channel.flac": {"RP006"},
}
CLEAN_CORPORA = ("librispeech", "ljspeech", "vctk")
MAX_CLEAN_FINDINGS = (
    9  # of 98 clips: 5 end within a word, 2 pause for over 2 s, 1 is very quiet; none of another rule
)


def manifest() -> list[dict[str, str]]:
    with (Path(PACK) / "manifest.csv").open(encoding="utf-8", newline="") as rows:
        return list(csv.DictReader(rows))


def speech_of(clip: Clip) -> tuple[Span, ...]:
    vad = pytest.importorskip("faster_whisper.vad")
    options = vad.VadOptions(min_silence_duration_ms=100, speech_pad_ms=30)
    found = vad.get_speech_timestamps(resample(clip.samples, clip.sample_rate_hz, 16_000), options)
    return tuple(Span(s["start"] / 16_000, min(s["end"] / 16_000, clip.duration_s)) for s in found)


def findings(row: dict[str, str]) -> list[str]:
    clip = decode_file(Path(PACK) / row["path"])
    report = measure_quality(clip, speech_of(clip), text=row["transcript"] or None, language=row["language"])
    return [r.code for r in RULES for _ in r.check(clip.source if r.noun is AudioSource else report)]


def test_every_clip_decodes_to_its_duration():
    for row in manifest():
        clip = decode_file(Path(PACK) / row["path"])
        assert clip.duration_s == pytest.approx(float(row["duration_s"]), abs=0.001), row["path"]
        assert clip.sample_rate_hz == int(row["sample_rate"]), row["path"]
        assert clip.source.num_channels == int(row["channels"]), row["path"]
        assert clip.source.codec == row["codec"].removesuffix("float"), row["path"]
        assert clip.source.file_sha256 == row["sha256"], row["path"]


def test_every_dirty_clip_fires_its_rule():
    rows = {Path(row["path"]).name: row for row in manifest() if row["kind"] == "derived"}
    for name, codes in DIRTY.items():
        assert codes <= set(findings(rows[name])), name


def test_clean_corpora_are_nearly_silent():
    found = [
        (row["path"], code)
        for row in manifest()
        if row["kind"] == "original"
        and "noisy" not in row["tags"]
        and row["path"].split("/")[1] in CLEAN_CORPORA
        for code in findings(row)
    ]
    assert len(found) <= MAX_CLEAN_FINDINGS, found
    assert {code for _, code in found} <= {"RP203", "RP206", "RP209"}
