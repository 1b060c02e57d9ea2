"""Reports to steps: what is tried, in which order, and what is said where nothing can be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from fakes import FakeAsr, FakeVoiceActivity, make_clip
from fix_kit import RATE_HZ, WORDS, phrases, samples_of
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.fix.cuts import EDGE_S, MIN_LEFT_S, MIN_PAUSE_S, WordTimes, head_cuts, refined_voice, tail_cuts
from refprep.fix.plan import Plan, plan_fixes
from refprep.fix.step import Step, apply_step
from refprep.linter.registry import all_rules
from refprep.linter.rule import FixAvailability
from refprep.linter.run import FileReport, run_rules
from refprep.manifest import Utterance
from refprep.pipeline.listen import Listener
from refprep.pipeline.mend import mended_text
from refprep.pipeline.quality import measure_quality
from refprep.types import Span

SAID = " ".join(WORDS)
TWO = ("Before winter came they carried dry wood", "from every forest of the land")


def reported(
    text: str | None, said, *, duration_s: float | None = None, voice=()
) -> tuple[FileReport, tuple[Span, ...]]:
    """A report of a scripted clip, and its refined voice."""
    end_s = duration_s if duration_s is not None else said[-1][2] + 0.4
    clip = make_clip(samples_of([*said, *(("", v.start_s, v.end_s) for v in voice)], end_s), RATE_HZ)
    spans: list[Span] = []
    for _, a, b in sorted([*said, *(("", v.start_s, v.end_s) for v in voice)], key=lambda w: w[1]):
        if spans and a - spans[-1].end_s < 0.1:
            spans[-1] = Span(spans[-1].start_s, min(b, end_s))
        else:
            spans.append(Span(a, min(b, end_s)))
    asr = FakeAsr({clip.id: said})
    check = (
        Listener(FakeVoiceActivity(default=spans), asr, asr).check(clip, text, language="en")
        if text is not None
        else None
    )
    quality = measure_quality(clip, spans, text=None, language="en")
    utterance = Utterance(Path("a.wav"), text, "en")
    nouns = [utterance, quality, *([check] if check else [])]
    rules = {c: r for c, r in all_rules().items() if c.startswith(("RP1", "RP205", "RP209"))}
    found = run_rules(nouns, rules, path="a.wav")
    report = FileReport(utterance, found, clip.duration_s, speech=tuple(spans), quality=quality, check=check)
    return report, refined_voice(clip, spans, quality)


def plan(text, said, *, unsafe=False, heard_text=None, **options) -> Plan:
    report, voice = reported(text, said, **options)
    return plan_fixes(report, voice, unsafe=unsafe, heard_text=heard_text)


def test_a_clean_pair_needs_nothing():
    for unsafe in (False, True):
        assert plan(SAID, phrases(SAID), unsafe=unsafe) == Plan((), ())


def test_text_and_edges_are_mended_together_first_and_then_apart():
    found = plan(" ".join(WORDS[:7]), phrases(SAID, start_s=2.0)).steps
    assert [s.codes for s in found] == [{"RP101", "RP205"}, {"RP101"}, {"RP205"}]
    assert [s.text for s in found] == [SAID, SAID, " ".join(WORDS[:7])]
    assert found[0].keep == found[2].keep
    assert abs(found[0].keep.start_s - 1.8) < 0.03
    assert found[1].keep.start_s == 0.0


def test_what_keeps_speech_comes_before_what_loses_it():
    said = phrases(*TWO)
    found = plan(TWO[0], said, unsafe=True).steps
    assert found[0] == Step(" ".join(TWO), Span(0.0, found[0].keep.end_s), frozenset({"RP101"}))
    assert found[-1].text == TWO[0]
    assert said[6][2] < found[-1].keep.end_s < said[7][1]
    assert plan(TWO[0], said).steps == found[:1]


def test_a_head_without_text_can_be_cut():
    said = phrases(*TWO)
    cut = plan(TWO[1], said, unsafe=True).steps[-1]
    assert cut.text == TWO[1]
    assert said[6][2] < cut.keep.start_s < said[7][1]


def test_a_recognisers_text_is_only_taken_when_asked():
    other = "Printing in the only sense with which we are concerned"
    assert plan(other, phrases(SAID)).steps == ()
    assert [s.text for s in plan(other, phrases(SAID), unsafe=True).steps] == [SAID]
    assert plan(None, phrases(SAID), heard_text=SAID).steps == ()
    assert [s.codes for s in plan(None, phrases(SAID), unsafe=True, heard_text=SAID).steps] == [{"RP108"}]
    assert plan(None, phrases(SAID), unsafe=True).steps == ()


def test_a_text_of_which_nothing_is_spoken_is_not_emptied():
    report, voice = reported("thank you", [("Before", 0.5, 0.9)], duration_s=2.0)
    silent = FileReport(
        report.utterance, report.findings, 2.0, speech=(), quality=report.quality, check=report.check
    )
    for step in plan_fixes(silent, voice, unsafe=False).steps:
        assert step.text


def test_noise_after_the_voice_is_cut_without_a_word():
    said = phrases(SAID)
    report, voice = reported(SAID, said, duration_s=said[-1][2] + 0.5)
    from dataclasses import replace

    quality = replace(report.quality, tail_level_dbfs=-10.0)
    loud = run_rules([quality], {"RP209": all_rules()["RP209"]}, path="a.wav")
    step = plan_fixes(replace(report, findings=loud, quality=quality), voice, unsafe=True).steps[0]
    assert step.text == SAID
    assert said[-1][2] < step.keep.end_s < said[-1][2] + 0.3


def test_no_pause_is_an_obstacle_that_is_named():
    said = phrases(SAID)
    found = plan(SAID, said, duration_s=said[-1][2] - 0.1, unsafe=True)
    assert found.steps == ()
    assert found.obstacles == (
        "RP209: there is no pause where a cut would leave a second of speech with its words",
    )


def test_a_text_that_was_not_aligned_is_not_cut():
    report, voice = reported(" ".join(TWO), phrases(*TWO), duration_s=phrases(*TWO)[-1][2] - 0.1)
    unaligned = FileReport(
        report.utterance, report.findings, report.duration_s, speech=report.speech, quality=report.quality
    )
    found = plan_fixes(unaligned, voice, unsafe=True)
    assert found.steps == ()
    assert "when each word of the text is spoken" in found.obstacles[0]


def test_every_rule_with_a_fix_gets_a_step():
    said, late = phrases(*TWO), phrases(*TWO, start_s=2.0)
    laugh = Span(said[-1][2] + 0.4, said[-1][2] + 1.5)
    text = " ".join(TWO)
    cases = [
        plan(TWO[0], said), plan(TWO[1], said), plan(text.replace("they carried dry ", ""), said),
        plan(text + " thank you for listening", said), plan(text, late),
        plan("Printing in the only sense with which we are concerned", said, unsafe=True),
        plan(text.replace("winter", "elephant"), said, unsafe=True), plan(None, said, unsafe=True, heard_text=text),
        plan(text, said, duration_s=said[-1][2] - 0.1, unsafe=True),
        plan(text, said, voice=[laugh], duration_s=laugh.end_s + 0.3, unsafe=True),
    ]  # fmt: skip
    fixed = {code for case in cases for step in case.steps for code in step.codes}
    assert fixed == {c for c, r in all_rules().items() if r.fix is not FixAvailability.NONE}
    assert {c for case in cases[:5] for s in case.steps for c in s.codes} == {
        c for c, r in all_rules().items() if r.fix is FixAvailability.SAFE
    }


@settings(max_examples=40, deadline=None)  # every example measures a clip
@given(
    st.lists(st.booleans(), min_size=len(WORDS), max_size=len(WORDS)),
    st.integers(0, len(WORDS)),
    st.sampled_from([(), ("thank", "you", "for", "listening"), ("elephant", "elephants")]),
)
def test_a_safe_step_never_takes_away_a_spoken_word(kept, at, extra):
    written = [w for w, k in zip(WORDS, kept, strict=True) if k]
    text = " ".join([*written[:at], *extra, *written[at:]])
    report, voice = reported(text, phrases(SAID))
    for step in plan_fixes(report, voice, unsafe=False).steps:
        remaining = iter((step.text or "").split())
        assert all(word in remaining for word in written)
        assert step.keep == Span(0.0, report.duration_s)


def test_mended_as_the_check_suggests():
    for text in (
        " ".join(WORDS[:7]),
        " ".join(WORDS[4:]),
        SAID + " thank you for listening",
        SAID.replace("winter", "elephant"),
    ):
        check = reported(text, phrases(SAID))[0].check
        assert mended_text(check.given, check.heard, check.faults) == check.suggested_text == SAID


# --------------------------------------------------------------------------- cuts and samples


@st.composite
def scripts(draw):
    """Words, some with a pause before them."""
    said, at_s = [], 0.3
    for k in range(draw(st.integers(2, 14))):
        at_s += draw(st.sampled_from([0.0, 0.0, 0.05, 0.15, 0.3, 0.8]))
        length_s = draw(st.sampled_from([0.2, 0.4, 0.7]))
        said.append((f"w{k}", round(at_s, 3), round(at_s + length_s, 3)))
        at_s += length_s
    return said


@settings(max_examples=40, deadline=None)
@given(scripts(), st.integers(0, 13), st.booleans())
def test_a_cut_lies_in_a_pause_and_leaves_the_words_that_are_in_it(said, place, is_tail):
    text = " ".join(w for w, _, _ in said)
    report, voice = reported(text, said)
    times = WordTimes(report.check)
    at_s = said[min(place, len(said) - 1)][1]
    cuts = (
        tail_cuts(voice, times, uncovered_from_s=at_s)
        if is_tail
        else head_cuts(voice, times, uncovered_to_s=at_s, duration_s=report.duration_s)
    )
    lengths = []
    for keep, left in cuts:
        edge_s = keep.end_s if is_tail else keep.start_s
        assert all(edge_s <= a or edge_s >= b for _, a, b in said), "within a word"
        inside = [w for w, a, b in said if keep.start_s <= a and b <= keep.end_s]
        assert left == " ".join(inside)
        nearest = min(min(abs(edge_s - a), abs(edge_s - b)) for _, a, b in said)
        assert MIN_PAUSE_S / 2 - 0.03 <= nearest <= EDGE_S + 0.03
        assert sum(b - a for _, a, b in said if keep.start_s <= a and b <= keep.end_s) >= MIN_LEFT_S - 0.1
        lengths.append(keep.duration_s)
    assert lengths == sorted(lengths, reverse=True)


@given(st.integers(1, 4000), st.integers(0, 4000), st.integers(0, 4000))
def test_samples_that_stay_are_the_very_samples(length, a, b):
    rng = np.random.default_rng(length)
    clip = make_clip((rng.integers(-30000, 30000, length) / 2**15).astype(np.float32), 1000)
    start, end = sorted((min(a, length), min(b, length)))
    changed, text = apply_step(clip, Step("what is left", Span(start / 1000, end / 1000), frozenset()))
    assert text == "what is left"
    assert changed.samples.tobytes() == clip.samples[start:end].tobytes()
    assert changed.sample_rate_hz == clip.sample_rate_hz
    assert changed.source.sample_format is clip.source.sample_format


def test_a_clip_of_which_all_stays_is_itself():
    clip = make_clip(np.ones(1000, np.float32) / 2, 1000)
    assert apply_step(clip, Step("x", Span(0.0, 1.0), frozenset()))[0] is clip
