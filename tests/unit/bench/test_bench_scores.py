"""Outputs with planted faults: what is made of a clip, how a score of it is judged, what is counted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from fakes import evenly, spoken, voiced_clip
from score_values import HEAD_LEAK, SCORE, TAIL_LEAK

from refprep.bench.composites import SaidClip, clip_like, faded
from refprep.bench.score_cases import EXPECTED, LEAK_GAPS_S, ScoreCase, clause_boundary, make_cases
from refprep.bench.scores import judge, read_voices, summarise
from refprep.errors import ManifestError
from refprep.linter.registry import select_rules
from refprep.linter.run import run_rules
from refprep.manifest import Utterance
from refprep.scoring import ScoredOutput
from refprep.types import Clip, OutputScore, Span

RATE_HZ = 16_000
TEXT = "one two three four five six seven eight"
PAUSE = Span(2.1, 2.4)  # between the fourth word and the fifth
SPEECH = (Span(0.5, PAUSE.start_s), Span(PAUSE.end_s, 4.0))


def said(path: str = "out.wav", *, seed: int = 1) -> SaidClip:
    clip = voiced_clip(4.5, SPEECH, seed=seed, path=path)
    words = [*evenly("one two three four", 0.5, 0.4), *evenly("five six seven eight", 2.4, 0.4)]
    return SaidClip(clip, TEXT, "en", spoken(words), SPEECH)


def cases(*kinds: str, seed: int = 0) -> dict[str, ScoreCase]:
    stranger = voiced_clip(3.0, [Span(0.0, 3.0)], seed=9)
    return {
        c.kind: c
        for c in make_cases(said(), said("reference", seed=2), [stranger], kinds or list(EXPECTED), seed)
    }


def test_every_kind_is_made_of_a_clip_that_is_good_for_it():
    made = cases()
    assert set(made) == set(EXPECTED) - {"other-half"}  # 3.2 s of speech are no two halves
    assert made["plain"].clip.samples.tobytes() == said().clip.samples.tobytes()


def test_the_same_seed_draws_the_same_whatever_else_is_asked_for():
    assert cases()["tail-3"].clip.id == cases()["tail-3"].clip.id
    alone = cases("head-1")["head-1"]
    assert alone.clip.id == cases("head-1", "tail-2")["head-1"].clip.id
    gaps = {round(c.join.duration_s, 3) for s in range(20) if (c := cases("head-1", seed=s)["head-1"]).join}
    assert gaps == set(LEAK_GAPS_S)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_a_leak_is_the_last_words_and_the_join_is_where_they_meet_the_text(count):
    made = cases(f"head-{count}", f"tail-{count}")
    head, tail = made[f"head-{count}"], made[f"tail-{count}"]
    assert head.words == tail.words == " ".join(TEXT.split()[-count:])
    assert head.join is not None
    assert tail.join is not None
    pause_s = PAUSE.duration_s if count == 4 else 0.0  # a cut is anywhere in it
    assert 0.4 * count - 0.1 <= head.join.start_s <= 0.4 * count + pause_s + 0.1
    assert tail.join.start_s == pytest.approx(4.0 - 0.5 + 0.04, abs=0.02)


def test_clauses_are_swapped_at_their_pause():
    assert clause_boundary(said()) == 4
    swapped = cases("swapped")["swapped"].clip
    assert swapped.duration_s == pytest.approx(3.5 + 0.04 + 0.1, abs=0.01)
    spoken_through = replace(said(), edged=(Span(0.5, 4.0),))
    assert clause_boundary(spoken_through) is None


def test_room_tone_is_behind_and_a_missing_word_is_cut_off():
    made = cases()
    assert made["room-tone"].clip.duration_s == pytest.approx(24.5)
    assert made["last-word"].clip.duration_s == pytest.approx(3.6, abs=0.15)
    assert made["last-word"].words == "eight"


def test_a_second_half_by_another_begins_where_it_says():
    long = replace(
        said(),
        clip=voiced_clip(8.0, [Span(0.5, 7.5)]),
        words=spoken(evenly(TEXT, 0.5, 0.85)),
        edged=(Span(0.5, 7.5),),
    )
    stranger = voiced_clip(3.0, [Span(0.0, 3.0)], seed=9)
    (made,) = make_cases(long, said(), [stranger], ["other-half"], 0)
    assert made.join is not None
    at = round(made.join.start_s * RATE_HZ)
    assert made.clip.samples[: at - 80].tobytes() == long.clip.samples[: at - 80].tobytes()
    assert made.clip.samples[at : at + 100].tobytes() == stranger.samples[:100].tobytes()
    assert not list(make_cases(long, said(), [], ["other-half"], 0))


def test_fades_begin_at_zero_and_leave_the_middle():
    found = faded(np.ones(1000, dtype=np.float32), RATE_HZ)
    assert found[0] == 0.0
    assert found[-1] == 0.0
    assert np.all(found[80:-80] == 1.0)


# ---------------------------------------------------------------- judging


def scored(score: OutputScore) -> ScoredOutput:
    return ScoredOutput(score, run_rules([score], select_rules(), path=score.path))


def planted(kind: str, join: Span | None = None) -> ScoreCase:
    clip = clip_like(said().clip, said().clip.samples, f"{kind}:out.wav")
    return ScoreCase(kind, clip, TEXT, "en", "eight", join)


@pytest.mark.parametrize(
    ("join", "error_s"),
    [(Span(0.6, 0.8), 0.0), (Span(0.76, 0.8), -0.05), (Span(0.5, 0.61), 0.1)],
)
def test_a_cut_is_right_anywhere_between_leak_and_text(join, error_s):
    outcome = judge(planted("head-1", join), scored(replace(SCORE, leaks=(HEAD_LEAK,))))
    assert outcome.found
    assert outcome.cut_error_s == pytest.approx(error_s)


def test_a_leak_at_the_other_edge_is_not_the_one_that_was_planted():
    outcome = judge(planted("head-1", Span(0.6, 0.8)), scored(replace(SCORE, leaks=(TAIL_LEAK,))))
    assert not outcome.found
    assert outcome.cut_error_s is None


def test_what_is_counted():
    leak, fine = scored(replace(SCORE, leaks=(HEAD_LEAK,))), scored(SCORE)
    outcomes = [
        judge(planted("plain"), fine, "a"),
        judge(planted("plain"), leak, "b"),
        judge(planted("head-1", Span(0.6, 0.8)), leak, "a"),
        judge(planted("head-2", Span(0.2, 0.5)), leak, "a"),
        judge(planted("head-2", Span(0.2, 0.5)), fine, "b"),
        judge(planted("twice"), leak, "b"),
    ]
    found = summarise(outcomes)
    assert found["outputs"] == 2
    assert found["false_alarms"] == {
        "of": 2,
        "clips": 1,
        "leaks": 1,
        "by_fault": {"leaked-reference-words": 1},
    }
    assert found["leaks"] == {"of": 3, "found": 2, "recall": 0.6667, "alone": 2}
    assert found["kinds"]["twice"]["found"] == 0
    assert found["cut_error_ms"] == {"of": 2, "median": 105, "p95": 199, "max": 210, "within_100": 1}
    assert [(w["kind"], w["cut_error_ms"]) for w in found["wrong"]] == [
        ("plain", None),
        ("head-2", 210),
        ("head-2", None),
        ("twice", None),
    ]


# ---------------------------------------------------------------- sharing out


def utterances(folder: Path, clip: Clip, reader: str, count: int, **extra: str) -> list[Utterance]:
    found = []
    for k in range(count):
        path = folder / f"{reader.replace('/', '_')}_{k}.wav"
        soundfile.write(path, clip.samples * (0.9 - 0.1 * k), clip.sample_rate_hz)
        found.append(Utterance(path, f"{TEXT} {k}", "en", reader, extra=extra))
    return found


def test_every_clip_is_an_output_once_and_never_in_its_own_reference(tmp_path):
    clip = voiced_clip(6.0, [Span(0.5, 5.5)])
    own = utterances(tmp_path, clip, "corpus/en/f/ana", 4)
    others = utterances(tmp_path, clip, "corpus/en/f/eva", 1) + utterances(
        tmp_path, clip, "corpus/en/m/bob", 2
    )
    voices = read_voices([*own, *others])
    assert [(v.reader[-3:], len(v.outputs)) for v in voices] == [
        ("ana", 2),
        ("ana", 2),
        ("bob", 1),
        ("bob", 1),
    ]
    for voice in voices:
        inside = {c.clip_id for c in voice.reference.clips}
        assert not inside & {o.clip.id for o in voice.outputs}
    assert len({o.clip.source.path for v in voices for o in v.outputs}) == 6
    assert [len(v.strangers) for v in voices] == [1, 1, 0, 0]
    assert [len(v.outputs) for v in read_voices([*own, *others], limit=3)] == [1, 1, 1]


@pytest.mark.parametrize(
    "extra",
    [{"kind": "derived"}, {"kind": "joined"}, {"transcript_status": "guess"}, {"transcript_status": "none"}],
)
def test_rows_that_prove_nothing_are_left_out(tmp_path, extra):
    rows = utterances(tmp_path, voiced_clip(6.0, [Span(0.5, 5.5)]), "corpus/en/f/ana", 2, **extra)
    with pytest.raises(ManifestError, match="two clips with texts"):
        read_voices(rows)


def test_an_output_that_says_what_the_reference_says_is_none(tmp_path):
    rows = utterances(tmp_path, voiced_clip(6.0, [Span(0.5, 5.5)]), "corpus/en/f/ana", 2)
    with pytest.raises(ManifestError, match="two clips with texts"):
        read_voices([replace(row, text=TEXT) for row in rows])
