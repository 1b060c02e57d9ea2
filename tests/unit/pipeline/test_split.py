"""A recording cut into utterances: the same ones, however it is read."""

from __future__ import annotations

import numpy as np
import pytest
from audio_files import sndfile_bytes
from fakes import make_clip
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tape_kit import RATE_HZ, SENTENCES, Tape, read_aloud, tape_samples

from refprep.pipeline import speech as speech_module
from refprep.pipeline.decode import decode_file
from refprep.pipeline.recording import as_recording, open_recording
from refprep.pipeline.split import SplitLimits, iter_utterances, plan_utterances, split_recording
from refprep.pipeline.transcribe import transcribe_clip, transcribe_recording
from refprep.types import Span, Word

LIMITS = SplitLimits()


def facts(utterances):
    return [(u.start_sample, u.end_sample, u.clip.id, u.text, u.check.coverage.ratio) for u in utterances]


def a_tape(num_sentences: int, **options) -> Tape:
    said = read_aloud(num_sentences, **options)
    return Tape(tape_samples(said).astype(np.float32), said)


def test_every_sentence_of_a_long_reading_is_an_utterance():
    tape = a_tape(60)
    found = split_recording(make_clip(tape.samples, RATE_HZ), tape.listener())
    assert [u.text for u in found] == [SENTENCES[k % len(SENTENCES)] for k in range(60)]
    assert tape.longest_s <= 60.0
    for u in found:
        np.testing.assert_array_equal(u.clip.samples, tape.samples[u.start_sample : u.end_sample])
        assert u.speech
        assert u.span.duration_s == pytest.approx(u.clip.duration_s)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    num_sentences=st.integers(5, 40),
    pauses_s=st.lists(st.sampled_from([0.3, 0.5, 0.8, 2.0, 7.0]), min_size=1, max_size=4),
    sizes=st.sampled_from([(20, 6), (33, 10), (90, 10)]),
    stored=st.sampled_from(["PCM_16", "PCM_24", "FLOAT"]),
)
def test_how_it_is_read_does_not_change_the_utterances(tmp_path, num_sentences, pauses_s, sizes, stored):
    """From memory or from a file, in windows of any length: all the same, to the last sample."""
    said = read_aloud(num_sentences, pauses_s=pauses_s)
    path = tmp_path / "long.wav"
    path.write_bytes(sndfile_bytes(tape_samples(said, subtype=stored), RATE_HZ, subtype=stored))
    whole = decode_file(path)
    tape = Tape(whole.samples, said)
    expected = split_recording(whole, tape.listener())
    assert expected
    with pytest.MonkeyPatch.context() as patch, open_recording(path, tmp_path / "scratch") as recording:
        patch.setattr(speech_module, "WINDOW_S", sizes[0])
        patch.setattr(speech_module, "OVERLAP_S", sizes[1])
        found = list(iter_utterances(recording, tape.listener()))
    assert facts(found) == facts(expected)
    for u in found:
        np.testing.assert_array_equal(u.clip.samples, whole.samples[u.start_sample : u.end_sample])
        assert u.clip.source.sample_format == whole.source.sample_format


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 30), st.lists(st.sampled_from([0.3, 0.8, 7.0, 40.0]), min_size=1, max_size=4))
def test_words_of_a_recording_are_those_of_the_clip(num_sentences, pauses_s):
    tape = a_tape(num_sentences, pauses_s=pauses_s)
    clip = make_clip(tape.samples, RATE_HZ)
    speech = tape.speech_spans(clip)
    one = transcribe_clip(clip, speech, tape)
    other = transcribe_recording(as_recording(clip), speech, tape)
    assert (one.text, one.language, one.model) == (other.text, other.language, other.model)
    for a, b in zip(one.words, other.words, strict=True):
        assert (a.span.start_s, a.span.end_s) == pytest.approx((b.span.start_s, b.span.end_s))


def test_it_tells_what_it_does_and_how_far_it_is():
    tape = a_tape(40)
    told: list[str] = []
    split_recording(make_clip(tape.samples, RATE_HZ), tape.listener(), on_step=told.append)
    kinds = [t.rsplit(" ", 3)[0] for t in told]
    assert list(dict.fromkeys(kinds)) == ["find speech", "transcribe", "check"]
    minutes, seconds = divmod(int(len(tape.samples) / RATE_HZ), 60)
    assert all(t.endswith(f" of {minutes:02}:{seconds:02}") for t in told)
    assert told[0].startswith("find speech 01:00 of")


def test_silence_has_no_utterance():
    tape = Tape(np.zeros(RATE_HZ * 70, np.float32), [])
    assert split_recording(make_clip(tape.samples, RATE_HZ), tape.listener()) == []
    assert set(tape.asked) == {"speech"}


def test_a_day_of_pauses_that_grow_shorter_is_planned():
    """One cut within the other, 20,000 deep."""
    number = 20_000
    speech = [Span(4.0 * k, 4.0 * k + 3.0 + 0.5 * k / number) for k in range(number)]
    words = tuple(Word("end.", s, 0.9) for s in speech)
    spans = plan_utterances(speech[:2000], words[:2000], 4.0 * 2000, LIMITS)
    assert len(spans) == 2000
