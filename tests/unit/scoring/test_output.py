"""Outputs of scripted clips: what leaks, what is said twice, elsewhere, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from fakes import FakeAsr, FakeEncoder, FakeVoiceActivity, Said, evenly, voiced_clip
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.errors import TextInputError
from refprep.identity.verifier import Verifier
from refprep.pipeline.align import cut_clip
from refprep.pipeline.joined import reference_clip
from refprep.pipeline.listen import Listener
from refprep.scoring import ScoredOutput, score_output
from refprep.scoring.target import ScoreTarget, measure_target
from refprep.types import Clip, OutputEdge, Reference, SampleFormat, Span, WordsFault

RATE_HZ = 8000
REFERENCE = "Nobody ever wanted to walk down the garden path before breakfast"
TEXT = "Before winter came they carried dry wood from every forest"
WORD_S = 0.4
START_S = 0.5


@dataclass
class World:
    """Scripted clips; a stretch that is cut out of one says what is said in it."""

    scripts: dict[str, Said] = field(default_factory=dict)
    speech: dict[str, Sequence[Span]] = field(default_factory=dict)
    encoder: FakeEncoder = field(default_factory=lambda: FakeEncoder(vectors=_Everybody()))

    def clip(self, said: str, *, seed: int = 3) -> Clip:
        script = evenly(said, START_S, WORD_S)
        span = Span(START_S, script[-1][2])
        clip = voiced_clip(span.end_s + 0.5, [span], seed=seed, sample_rate_hz=RATE_HZ)
        self.know(clip, script, span)
        return clip

    def know(self, clip: Clip, script: Said, span: Span) -> None:
        self.scripts[clip.id] = script
        self.speech[clip.id] = [span]

    def know_cut(self, clip: Clip, start_s: float, end_s: float) -> None:
        piece = cut_clip(clip, Span(start_s, end_s))
        inside = [
            (w, max(0.0, a - start_s), max(0.0, b - start_s))
            for w, a, b in self.scripts[clip.id]
            if a >= start_s - 0.15 and b <= end_s + 0.15
        ]
        first_s, last_s = max(0.0, inside[0][1]), min(inside[-1][2], piece.duration_s)
        self.know(piece, inside, Span(first_s, last_s))

    def listener(self) -> Listener:
        asr = FakeAsr(self.scripts)
        return Listener(FakeVoiceActivity(self.speech), asr, asr)

    def target(self, listener: Listener) -> ScoreTarget:
        span = Span(START_S, START_S + WORD_S * len(REFERENCE.split()))
        samples = voiced_clip(span.end_s + 0.5, [span], seed=9, sample_rate_hz=RATE_HZ).samples
        reference = Reference(samples, RATE_HZ, SampleFormat.PCM_16, (), "", "", REFERENCE, "en")
        self.know(reference_clip(reference), evenly(REFERENCE, START_S, WORD_S), span)
        return measure_target(reference, listener, [Verifier(self.encoder)])


class _Everybody(dict[str, Sequence[float]]):
    def __missing__(self, key: str) -> Sequence[float]:
        return (1.0, 0.1, 0.0, 0.0)


def scored(said: str, text: str | None = TEXT) -> ScoredOutput:
    world = World()
    listener = world.listener()
    target = world.target(listener)
    clip = world.clip(said)
    return score_output(clip, target, _Nearest(listener, world, clip), text=text, language="en")


class _Nearest(Listener):
    """Knows the script of whatever stretch of the clip it is given."""

    def __init__(self, listener: Listener, world: World, whole: Clip) -> None:
        super().__init__(listener.voice_activity, listener.transcriber, listener.aligner)
        self._world, self._whole = world, whole

    def speech(self, clip: Clip) -> tuple[Span, ...]:
        if clip.id not in self._world.scripts:
            at = self._whole.samples.tobytes().find(clip.samples.tobytes()) // 4
            start_s = at / RATE_HZ
            self._world.know_cut(self._whole, start_s, start_s + clip.duration_s)
        return super().speech(clip)


def kinds(output: ScoredOutput) -> list[WordsFault]:
    assert output.score.text is not None
    return [f.fault for f in output.score.text.faults]


def test_the_text_passes():
    output = scored(TEXT)
    assert output.passed
    assert output.findings == ()
    assert output.score.text is not None
    assert output.score.text.error_rate == 0.0
    assert [w.name for w in output.score.windows] == ["early", "late"]


@pytest.mark.parametrize("count", [1, 2, 4])
def test_the_last_words_of_the_reference_in_front_are_a_leak(count):
    leak = " ".join(REFERENCE.split()[-count:])
    output = scored(f"{leak} {TEXT}")
    assert output.faults == ("leaked-reference-words",)
    (found,) = output.score.leaks
    assert found.edge is OutputEdge.HEAD
    assert found.words == leak
    assert found.cut_s == pytest.approx(START_S + WORD_S * count, abs=0.1)
    assert kinds(output) == []


def test_words_of_the_reference_behind_the_text_are_a_leak():
    output = scored(f"{TEXT} garden path")
    assert output.faults == ("leaked-reference-words",)
    (found,) = output.score.leaks
    assert (found.edge, found.words) == (OutputEdge.TAIL, "garden path")
    assert found.cut_s == pytest.approx(START_S + WORD_S * len(TEXT.split()), abs=0.1)


@pytest.mark.parametrize("start", ["before breakfast", "breakfast"])
def test_a_text_that_begins_with_the_words_itself_does_not_leak(start):
    text = f"{start} everybody carried dry wood from every forest"
    output = scored(text, text)
    assert output.score.leaks == ()
    assert output.passed


def test_other_words_in_front_are_wrong_and_no_leak():
    output = scored(f"Honestly my dear {TEXT}")
    assert output.score.leaks == ()
    assert output.faults == ("wrong-words",)
    assert kinds(output) == [WordsFault.INSERTED]


def test_the_text_twice_is_repeated():
    output = scored(f"{TEXT} {TEXT}")
    assert output.faults == ("repeated-text",)
    assert output.score.text is not None
    assert output.score.text.error_rate == pytest.approx(1.0)


def test_clauses_in_another_order_are_reordered():
    words = TEXT.split()
    output = scored(" ".join([*words[6:], *words[:6]]))
    assert output.faults == ("reordered-text",)


@pytest.mark.parametrize(("kept", "place"), [(slice(None, -1), "tail"), (slice(1, None), "head")])
def test_a_word_missing_at_an_edge_is_missing(kept, place):
    output = scored(" ".join(TEXT.split()[kept]))
    assert output.faults == ("missing-words",)
    assert output.score.text is not None
    (fault,) = output.score.text.faults
    assert fault.place == place
    assert fault.words == (TEXT.split()[-1] if place == "tail" else TEXT.split()[0])


@settings(max_examples=15, deadline=None)
@given(first=st.integers(2, 5), count=st.integers(2, 4))
def test_words_missing_inside_are_missing(first, count):
    words = TEXT.split()
    output = scored(" ".join([*words[:first], *words[first + count :]]))
    assert output.faults == ("missing-words",)


def test_without_a_text_nothing_is_said_of_words():
    output = scored("garden path before breakfast", None)
    assert output.score.text is None
    assert output.score.leaks == ()
    assert output.score.windows
    assert output.passed


@pytest.mark.parametrize("text", ["", " ... "])
def test_an_empty_text_is_an_error(text):
    with pytest.raises(TextInputError, match="no words"):
        scored(TEXT, text)


def test_nobody_speaking_is_the_only_finding():
    world = World()
    listener = world.listener()
    target = world.target(listener)
    silent = voiced_clip(2.0, [], sample_rate_hz=RATE_HZ)
    world.speech[silent.id] = []
    output = score_output(silent, target, listener, text=TEXT, language="en")
    assert output.faults == ("no-speech",)
    assert len(output.findings) == 1


def test_another_voice_is_named_by_its_window():
    world = World()
    listener = world.listener()
    target = world.target(listener)
    clip = world.clip(TEXT)
    turned = _Turning(vectors=_Everybody())
    (voice,) = target.voices
    target = replace(target, voices=(replace(voice, verifier=Verifier(turned)),))
    output = score_output(clip, target, listener, text=TEXT, language="en")
    assert output.faults == ("voice-drift",)
    assert [w.name for w in output.score.windows if w.is_off] == ["late"]


class _Turning(FakeEncoder):
    """Hears somebody else in the second half."""

    def embed(self, clip: Clip, speech: Sequence[Span]):
        is_late = speech[0].start_s > clip.duration_s / 3
        vector = (0.0, 0.0, 1.0, 0.0) if is_late else (1.0, 0.1, 0.0, 0.0)
        return FakeEncoder(vectors={clip.id: vector}).embed(clip, speech)
