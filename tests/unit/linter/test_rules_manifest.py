"""What a manifest says of speakers and of findings to live with: RP305, RP901, RP902, and the nouns they read."""

from __future__ import annotations

from pathlib import Path

import pytest

from refprep.linter.rule import Finding, Severity
from refprep.linter.speakers import Contradiction, SpeakerClaim, SpeakerRoll
from refprep.linter.waivers import Waiver, WaiverUse, apply_waivers, read_waivers
from refprep.manifest import Utterance

CLAIM = SpeakerClaim("2121", ())
# code: (value that fires, words of the message, words of the remedy)
FIRES = {
    "RP305": (
        SpeakerClaim("2121", (Contradiction("gender", "m", "f", "rows.csv:2"),)),
        'speaker "2121" has gender m here and f at rows.csv:2',
        "ids of their own",
    ),
    "RP901": (
        WaiverUse((Waiver("RP205", "room tone"),), ()),
        'the ignore of RP205 ("room tone") takes out nothing',
        "out of the manifest",
    ),
    "RP902": (WaiverUse((), (Waiver("RP205", ""),)), "the ignore of RP205 gives no reason", '"why"'),
}
QUIET = {"RP305": CLAIM, "RP901": WaiverUse((), ()), "RP902": WaiverUse((), ())}


def row(speaker: str, line: int, **extra: object) -> Utterance:
    return Utterance(Path(f"{line}.wav"), speaker=speaker, source=f"rows.csv:{line}", extra=extra)


def contradictions(*rows: Utterance) -> list[tuple[Contradiction, ...]]:
    roll = SpeakerRoll(rows)
    return [roll.claim(r).contradictions for r in rows]


@pytest.mark.parametrize(
    ("column", "first", "second"),
    [
        ("gender", "f", "m"),
        ("gender", "Female", "M"),
        ("sex", "woman", "man"),
        ("country", "us", "de"),
        ("corpus", "vctk", "librispeech"),
        ("dataset", "A", "B"),
    ],
)
def test_a_bare_number_with_two_of_a_kind_is_two_people(column, first, second):
    quiet, told = contradictions(row("2121", 2, **{column: first}), row("2121", 7, **{column: second}))
    assert quiet == ()
    assert len(told) == 1
    assert told[0].where == "rows.csv:2"


@pytest.mark.parametrize(
    ("first", "second", "what"),
    [
        ("vctk/gb/f/p225", "vctk/gb/m/p225", "gender"),
        ("vctk/gb/f/p225", "vctk/us/f/P225", "country"),
        ("VCTK/gb/f/p225", "vctk/gb/M/p225", "gender"),
    ],
)
def test_one_name_of_one_corpus_is_one_person(first, second, what):
    assert [c.what for c in contradictions(row(first, 2), row(second, 3))[1]] == [what]


@pytest.mark.parametrize(
    "rows",
    [
        (row("a/us/f/2121", 2), row("b/de/m/2121", 3)),  # full ids of two corpora
        (row("2121", 2, gender="f"), row("2121", 3, gender="female")),
        (row("2121", 2, gender="f"), row("2121", 3)),
        (row("2121", 2, gender="f"), row("2121", 3, gender="unknown")),
        (row("2121", 2, gender="f"), row("2122", 3, gender="m")),
        (row("", 2, gender="f"), row("", 3, gender="m")),
        (row("vctk/en/f/p225", 2, country="gb"), row("vctk/en/f/p225", 3, corpus="VCTK 0.92")),
    ],
)
def test_what_is_no_contradiction(rows):
    assert contradictions(*rows) == [(), ()]


def test_a_row_can_contradict_itself():
    ((told,),) = contradictions(row("vctk/gb/f/p225", 2, gender="m"))
    assert (told.what, told.here, told.there) == ("gender", "m", "f")


# --------------------------------------------------------------------------- waivers


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"RP303": "one speaker"}, (Waiver("RP303", "one speaker"),)),
        ({"rp3": None}, (Waiver("RP3", ""),)),
        ("RP303: one speaker; rp205:a: b", (Waiver("RP303", "one speaker"), Waiver("RP205", "a: b"))),
        ("RP303", (Waiver("RP303", ""),)),
        (["RP303", "RP2"], (Waiver("RP303", ""), Waiver("RP2", ""))),
        (7, (Waiver("7", ""),)),
        (None, ()),
        ("", ()),
        ({}, ()),
    ],
)
def test_waivers_are_read_as_a_table_a_cell_or_a_list(written, expected):
    assert read_waivers(Utterance(Path("a.wav"), extra={"ignore": written})) == expected


def found(*codes: str) -> list[Finding]:
    return [Finding(c, "n", Severity.ERROR, "a.wav", "m", "r") for c in codes]


@pytest.mark.parametrize(
    ("findings", "waivers", "left", "stale", "malformed"),
    [
        (("RP101", "RP205"), (Waiver("RP205", "x"),), ["RP101"], [], []),
        (("RP101", "RP205"), (Waiver("RP2", "x"),), ["RP101"], [], []),
        (("RP101",), (Waiver("RP205", "x"),), ["RP101"], ["RP205"], []),
        (("RP101",), (Waiver("RP303", "did not run"),), ["RP101"], [], []),
        (("RP205",), (Waiver("RP205", ""),), [], [], ["RP205"]),
        (("RP205",), (Waiver("NOISE", "x"),), ["RP205"], [], ["NOISE"]),
        (("RP205",), (Waiver("RP299", "x"),), ["RP205"], [], ["RP299"]),
        (("RP101",), (Waiver("", "x"), Waiver("E1", "")), ["RP101"], [], ["", "E1"]),
    ],
)
def test_what_a_waiver_takes_out_and_what_becomes_of_it(findings, waivers, left, stale, malformed):
    kept, use = apply_waivers(
        found(*findings), waivers, codes=("RP101", "RP205"), known=("RP101", "RP205", "RP303")
    )
    assert [f.code for f in kept] == left
    assert [w.code for w in use.stale] == stale
    assert [w.code for w in use.malformed] == malformed
