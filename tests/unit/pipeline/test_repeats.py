"""Words written twice: the copy that nobody says is found, repetition that is spoken is left alone."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from refprep.pipeline.repeats import copy_fault, repeated_words
from refprep.types import FaultKind, Span, Word

SAID = "a bridge over which the gods passed".split()


def placed(words: list[str], copy: tuple[int, int] = (0, 0), *, first_p: float = 0.0) -> tuple[Word, ...]:
    """0.3 s for every word; those of the copy get no time, and all but the first are likely."""
    found, now = [], 0.0
    for k, word in enumerate(words):
        length_s = 0.0 if copy[0] <= k < copy[1] else 0.3
        found.append(Word(word, Span(now, now + length_s), first_p if k == copy[0] < copy[1] else 0.95))
        now += length_s
    return tuple(found)


def test_either_copy_may_be_the_one_without_a_place():
    twice = [*SAID[:4], *SAID[1:4], *SAID[4:]]
    for copy in ((1, 4), (4, 7)):
        assert repeated_words(twice, SAID, placed(twice, copy)) == [copy]


def test_at_the_end_and_of_a_whole_text():
    assert repeated_words([*SAID, *SAID[-3:]], SAID, placed([*SAID, *SAID[-3:]], (7, 10))) == [(7, 10)]
    assert repeated_words([*SAID, *SAID], SAID, placed([*SAID, *SAID], (7, 14))) == [(7, 14)]


def test_what_is_heard_twice_or_has_its_time_or_begins_likely_is_spoken_twice():
    twice = [*SAID[:4], *SAID[1:4], *SAID[4:]]
    assert repeated_words(twice, twice, placed(twice, (4, 7))) == []
    assert repeated_words(twice, SAID, placed(twice)) == []
    assert repeated_words(twice, SAID, placed(twice, (4, 7), first_p=0.4)) == []


def test_a_single_word_twice_is_no_fault():
    words = ["very", "very", "good"]
    assert repeated_words(words, ["very", "good"], placed(words, (1, 2))) == []


def test_words_written_three_times_and_said_once_are_two_copies():
    """The second pair of copies was given the place of the first, and one fault was told twice."""
    thrice = [*SAID[:4], *SAID[1:4], *SAID[1:4], *SAID[4:]]
    silent = tuple(
        Word(w.text, w.span, 0.0 if k in (1, 4) else w.probability)
        for k, w in enumerate(placed(thrice, (1, 7)))
    )
    assert repeated_words(thrice, SAID, silent) == [(1, 4), (4, 7)]


@given(st.lists(st.sampled_from("abc"), max_size=14), st.lists(st.sampled_from("abc"), max_size=14))
@example(list("ababab"), [])
@example(list("abababab"), [])
@example(list("aaaaaaa"), [])
def test_copies_are_disjoint_and_stand_beside_their_like(words, heard):
    silent = tuple(Word(w, Span(0.0, 0.0), 0.0) for w in words)
    found = repeated_words(words, heard, silent)
    assert all(b <= c for (_, b), (c, _) in pairwise(found))
    for first, last in found:
        copy = words[first:last]
        assert copy in (words[first - len(copy) : first], words[last : last + len(copy)])
    left = [w for k, w in enumerate(words) if not any(a <= k < b for a, b in found)]
    assert set(left) == set(words)  # something that is like it stays


def test_a_copy_as_a_fault():
    twice = [*SAID[:4], *SAID[1:4], *SAID[4:]]
    fault = copy_fault(placed(twice, (4, 7)), 4, 7)
    assert (fault.kind, fault.words, fault.word_range) == (FaultKind.UNSPOKEN, "bridge over which", (4, 7))
    assert fault.evidence == {"first_probability": 0.0, "words_of_no_length": 3.0, "written": "twice"}
    assert fault.span.duration_s == 0.0
