"""Joins whose truth is known: where the left-out part starts, and how far a report is off."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from fakes import FakeAsr, FakeVoiceActivity, evenly, voiced_clip

from refprep.bench.lint import LintCase
from refprep.bench.spans import GAPS_S, make_span_cases, measure_spans
from refprep.pipeline.listen import Listener
from refprep.types import Clip, FaultKind, Span, Transcript

RATE_HZ = 16_000
TEXTS = ["one two three four", "five six seven eight", "nine ten eleven twelve", "red green blue white"]
SPEECH = Span(0.5, 2.1)


class LoudVoiceActivity(FakeVoiceActivity):
    """Speech where there is sound, in steps of 10 ms; silences under 0.1 s do not part it."""

    def speech_spans(self, clip: Clip) -> tuple[Span, ...]:
        frames = np.abs(clip.samples[: clip.num_samples // 160 * 160]).reshape(-1, 160).max(axis=1) > 1e-3
        spans: list[Span] = []
        for k in np.flatnonzero(frames):
            if spans and k / 100 - spans[-1].end_s < 0.1:
                spans[-1] = Span(spans[-1].start_s, (k + 1) / 100)
            else:
                spans.append(Span(k / 100, (k + 1) / 100))
        return tuple(spans)


class LoudnessAsr(FakeAsr):
    """Hears in every stretch of sound the text that goes with its loudness, at an even pace."""

    def transcribe(self, clip, intervals, *, language=None) -> Transcript:
        said = []
        for span in LoudVoiceActivity().speech_spans(clip):
            sound = clip.samples[round(span.start_s * RATE_HZ) : round(span.end_s * RATE_HZ)]
            said += evenly(TEXTS[round(float(np.max(np.abs(sound))) * 10) - 1], span.start_s, 0.4)
        self.scripts = {**self.scripts, clip.id: said}
        return super().transcribe(clip, intervals, language=language)


@pytest.fixture
def listener() -> Listener:
    asr = LoudnessAsr()
    return Listener(LoudVoiceActivity(), asr, asr)


@pytest.fixture
def cases(tmp_path: Path) -> list[LintCase]:
    made = []
    for k, text in enumerate(TEXTS):
        path = tmp_path / f"{k}.wav"
        samples = voiced_clip(3.0, [SPEECH], seed=k).samples
        soundfile.write(path, samples / np.max(np.abs(samples)) * (k + 1) / 10, RATE_HZ)
        made.append(LintCase(str(k), path, "en", "full", "pass", text, text, 0))
    return made


def test_joins_of_two_and_three_with_every_gap_in_turn(cases, listener):
    made = list(make_span_cases(cases, listener))
    assert [(c.kind, c.text) for c in made[:2]] == [
        (FaultKind.TAIL, TEXTS[0]), (FaultKind.GAP, f"{TEXTS[0]} {TEXTS[2]}"),
    ]  # fmt: skip
    assert {c.gap_s for c in made} <= set(GAPS_S)
    for case in made:
        # A part is its speech and 50 ms on either side.
        assert case.start_s == pytest.approx(SPEECH.duration_s + 0.05, abs=0.02)
        quiet = case.clip.samples[round((case.start_s + 0.01) * RATE_HZ) :][
            : round((case.gap_s + 0.05) * RATE_HZ)
        ]
        assert float(np.max(np.abs(quiet))) < 1e-3


def test_only_full_clips_that_fit_are_joined(cases, listener):
    others = [
        replace(cases[1], kind="tail_missing_80", expect="fail"),
        replace(cases[2], language="de"),
        replace(cases[3], text="something that nobody says here"),
    ]
    assert list(make_span_cases([cases[0], *others], listener)) == []
    assert len(list(make_span_cases(cases, listener, most=2))) == 2


def test_a_start_that_is_found_has_an_error_and_one_that_is_not_has_none(cases, listener):
    made = [c for c in make_span_cases(cases, listener) if c.kind is FaultKind.TAIL and c.gap_s >= 0.15]
    assert made
    errors_s = measure_spans(made, listener)
    assert all(e is not None and abs(e) < 0.06 for e in errors_s)
    complete = replace(made[0], text=f"{made[0].text} {TEXTS[TEXTS.index(made[0].text) + 1]}")
    assert measure_spans([complete], listener) == [None]
