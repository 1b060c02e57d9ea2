"""Who speaks in the utterances of a recording."""

from __future__ import annotations

import math

import numpy as np
import pytest
from fakes import FakeEncoder, unit

from refprep.identity.verifier import Verifier
from refprep.pipeline import split_voices
from refprep.pipeline.split_voices import UtteranceVoice, find_voices
from refprep.types import Span, Voiceprint

VERIFIER = Verifier(FakeEncoder(), None)


def print_of(degrees: float, speech_s: float = 3.0, windows: tuple[float, ...] = ()) -> Voiceprint:
    def direction(angle: float) -> list[float]:
        return [math.cos(math.radians(angle)), math.sin(math.radians(angle)), 0.0, 0.0]

    rows = np.stack([unit(direction(a)) for a in windows or (degrees,)])
    spans = tuple(Span(float(k), float(k + 1)) for k in range(len(rows)))
    return Voiceprint("id", "fake-encoder", unit(direction(degrees)), rows, spans, speech_s)


def test_the_voice_with_most_speech_is_the_first():
    prints = [print_of(0.0), print_of(90.0, 9.0), print_of(5.0), print_of(92.0, 9.0)]
    found = find_voices(prints, VERIFIER)
    assert [v.voice for v in found] == [2, 1, 2, 1]
    assert all(v.is_sure for v in found)
    assert found[0].score == pytest.approx(math.cos(math.radians(5.0)))


def test_one_with_too_little_speech_has_no_voice():
    assert find_voices([None, print_of(0.0), None], VERIFIER) == (
        UtteranceVoice(),
        UtteranceVoice(1, None, True, None),
        UtteranceVoice(),
    )
    assert find_voices([], VERIFIER) == ()
    assert find_voices([None], VERIFIER) == (UtteranceVoice(),)


def test_a_second_person_inside_is_found():
    prints = [print_of(0.0), print_of(2.0), print_of(10.0, windows=(1.0, 2.0, 80.0))]
    assert [v.is_mixed for v in find_voices(prints, VERIFIER)] == [False, False, True]


def test_without_a_window_threshold_nothing_is_said_of_that():
    verifier = Verifier(FakeEncoder(window_threshold=None), None)
    assert [v.is_mixed for v in find_voices([print_of(0.0), print_of(2.0)], verifier)] == [None, None]


def test_between_two_voices_nothing_is_sure():
    prints = [print_of(0.0), print_of(1.0), print_of(60.0), print_of(61.0), print_of(29.0)]
    assert not find_voices(prints, VERIFIER)[4].is_sure


def test_many_are_held_against_the_longest(monkeypatch):
    monkeypatch.setattr(split_voices, "MAX_COMPARED", 10)
    many = [print_of(90.0 * (k % 2) + k / 10, 2.0 + (k % 7)) for k in range(60)]
    far = print_of(-60.0, 1.0)
    found = find_voices([*many, far], VERIFIER)
    assert len({v.voice for v in found[:-1:2]}) == 1
    assert len({v.voice for v in found[1:-1:2]}) == 1
    assert {v.voice for v in found[:-1]} == {1, 2}
    assert all(v.is_sure for v in found[:-1])
    assert found[-1].voice is None
