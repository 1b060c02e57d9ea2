"""A small voice on disk, as `refprep build` writes one, of noise: what an export needs of it, and no model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from refprep.pipeline.decode import pcm_sha256
from refprep.pipeline.join import join_clips
from refprep.pipeline.silence_policy import SilencePolicy
from refprep.pipeline.wav import write_wav
from refprep.text.words import join_texts
from refprep.types import AudioSource, Clip, Downmix, Reference, SampleFormat, Samples, Span, freeze
from refprep.voice.names import AUDIO_NAME, SCHEMA_VERSION, TEXT_NAME, VOICE_NAME, sha256_of_file

RATE_HZ = 8000
TEXTS = (
    "It was the best of times.",
    'It was the "worst" of times: \\o/, he said;',
    "it was 5 o'clock, and it was the age of wisdom.",
    "It was the age of foolishness!",
    "It was the season of light, Æ – ñ 光.",
)
PROVENANCE = {"licence": "CC0-1.0", "consent": "signed 2026-01-02", "take": 3}
LENGTHS_S = (2.0, 3.5, 3.0, 4.0)
GAP, TAIL = "zeros-120ms", "zeros-160ms"


def noise(num_samples: int, seed: int, sample_format: str = "PCM_16") -> Samples:
    """Noise on the grid of a format, and beyond the grid of the next narrower one."""
    samples = np.random.default_rng(seed).standard_normal(num_samples) * 0.1
    if sample_format != "FLOAT":
        scale = 2.0 ** {"PCM_16": 15, "PCM_24": 23}[sample_format]
        samples = np.rint(samples * scale) / scale
    return freeze(samples.astype(np.float32))


def make_voice(
    folder: Path,
    lengths_s: Sequence[float] = LENGTHS_S,
    *,
    samples: Sequence[Samples] | None = None,
    texts: Sequence[str] | None = None,
    rate_hz: int = RATE_HZ,
    sample_format: str = "PCM_16",
    language: str = "en",
    speaker: str = "book/en/m/reader",
    provenance: Mapping[str, Any] | None = PROVENANCE,
    gap: str = GAP,
    tail: str = TAIL,
    nested: Sequence[int] = (),
    **top_level: Any,
) -> Path:
    """Write a voice; its sources are not there, as on another machine.

    Args:
        folder: Of the voice.
        lengths_s: Of the clips.
        samples: Of the clips, instead of noise of these lengths.
        texts: Of the clips.
        rate_hz, sample_format, language, speaker, gap, tail: Of the voice. For room tone the second quarter of every
            clip counts as a pause.
        nested: Numbers of clips after which a shorter reference ends.
        provenance: Of every clip; None for none.
        top_level: Further keys of voice.json.
    """
    pieces = (
        list(samples)
        if samples is not None
        else [noise(round(s * rate_hz), seed, sample_format) for seed, s in enumerate(lengths_s)]
    )
    clips = [_clip(f"../clips/{k}.wav", piece, rate_hz, sample_format) for k, piece in enumerate(pieces)]
    said = list(texts) if texts is not None else [TEXTS[k % len(TEXTS)] for k in range(len(clips))]
    reference = join_clips(
        clips,
        said,
        gap=SilencePolicy.parse(gap, option="gap"),
        tail=SilencePolicy.parse(tail, option="tail"),
        language=language,
        speech=[_speech(clip) for clip in clips],
        nested=nested,
    )
    folder.mkdir(parents=True)
    write_wav(folder / AUDIO_NAME, reference.samples, rate_hz, reference.sample_format)
    (folder / TEXT_NAME).write_text(reference.text + "\n", encoding="utf-8")
    rows = [_nested(folder, reference, num_clips) for num_clips in nested]
    document = {
        "schema_version": SCHEMA_VERSION,
        "speaker_id": speaker,
        "language": language,
        "text": reference.text,
        "audio": {
            "file": AUDIO_NAME,
            "file_sha256": sha256_of_file(folder / AUDIO_NAME),
            "pcm_sha256": pcm_sha256(reference.samples, rate_hz),
            "sample_rate_hz": rate_hz,
            "sample_format": reference.sample_format.value,
            "num_samples": int(reference.samples.shape[0]),
        },
        "text_file": {"file": TEXT_NAME, "file_sha256": sha256_of_file(folder / TEXT_NAME)},
        "gap_policy": gap,
        "tail_policy": tail,
        "silences": [asdict(s) for s in reference.silences],
        "room_tone_sample": reference.room_tone_sample,
        "nested": rows,
        "clips": [
            {
                "path": joined.path,
                "text": joined.text,
                "file_sha256": "0" * 64,
                "pcm_sha256": joined.clip_id,
                "source_pcm_sha256": joined.clip_id,
                "start_sample": joined.start_sample,
                "end_sample": joined.end_sample,
                **({"provenance": dict(provenance)} if provenance else {}),
            }
            for joined in reference.clips
        ],
        **top_level,
    }
    (folder / VOICE_NAME).write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    return folder


def _speech(clip: Clip) -> list[Span]:
    quarter_s = clip.duration_s / 4
    return [Span(0.0, quarter_s), Span(2 * quarter_s, 4 * quarter_s)]


def _nested(folder: Path, reference: Reference, num_clips: int) -> dict[str, Any]:
    """A shorter reference beside the whole one, and its row."""
    prefix = reference.samples[: reference.silences[num_clips - 1].end_sample]
    audio, text = folder / f"reference-{num_clips}.wav", folder / f"reference-{num_clips}.txt"
    said = join_texts([c.text for c in reference.clips[:num_clips]])
    write_wav(audio, prefix, reference.sample_rate_hz, reference.sample_format)
    text.write_text(said + "\n", encoding="utf-8")
    return {
        "file": audio.name,
        "file_sha256": sha256_of_file(audio),
        "pcm_sha256": pcm_sha256(prefix, reference.sample_rate_hz),
        "sample_rate_hz": reference.sample_rate_hz,
        "num_samples": int(prefix.shape[0]),
        "num_clips": num_clips,
        "text": said,
        "text_file": {"file": text.name, "file_sha256": sha256_of_file(text)},
    }


def _clip(path: str, samples: Samples, rate_hz: int, sample_format: str) -> Clip:
    seconds = samples.shape[0] / rate_hz
    source = AudioSource(
        path, "0" * 64, "wav", "", SampleFormat(sample_format), 1, seconds, seconds, Downmix.NONE, (1.0,)
    )
    return Clip(pcm_sha256(samples, rate_hz), source, samples, rate_hz)
