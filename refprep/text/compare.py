"""Where two texts of the same speech part, word by word, whichever way their numbers are read.

Words are laid beside each other so that the fewest letters differ, not the fewest words: a recogniser that writes
"Brada Manu" for "Bradamano" is off by a letter or two, not by three words. What is left over on one side, as a
stretch of surplus letters, is what the other text lacks.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Indel

from refprep.text.fillers import is_filler
from refprep.text.normalise import fold
from refprep.text.path import Step, WeighedTokens, lay_beside
from refprep.text.settle import Tokens, settle
from refprep.text.words import is_spaceless

# A Han character stands for a syllable or two, a kana for less: in letters of an alphabetic script.
_HAN_LETTERS = 3.5
_KANA_LETTERS = 2.0
_MIN_SURPLUS_LETTERS = 3.0
_SAME_SPELLING = 0.8


@dataclass(frozen=True, slots=True)
class Difference:
    """A stretch where the texts part; half-open word ranges, either may be empty.

    Attributes:
        given: Range of words in the given text.
        heard: Range of words in the heard text.
        surplus_letters: Letters heard beyond those given; negative when more was given than heard.
        similarity: Of the two stretches' letters, 0-1 (normalised indel similarity); 0.0 if one is empty.
        given_only: Spoken words that only the given text has.
        heard_only: Spoken words that only the heard text has.
        agreement_elsewhere: Letters alike in everything outside this stretch, 0-1; 1.0 where there is nothing else.
    """

    given: tuple[int, int]
    heard: tuple[int, int]
    surplus_letters: float
    similarity: float
    given_only: tuple[str, ...]
    heard_only: tuple[str, ...]
    agreement_elsewhere: float = 1.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two texts laid beside each other.

    Attributes:
        differences: Stretches that part, in order, with all their words.
        missing: Stretches with more heard than given, small agreements inside them included, in order.
        extra: Stretches with more given than heard, likewise.
        pairs: (given word, heard word) that say the same.
        num_given_tokens: Spoken words (characters for spaceless scripts) in the given text.
        num_heard_tokens: The same for the heard text.
        distance: Token edits between them, with the best readings.
        letter_similarity: Of all letters laid beside each other, 0-1.
    """

    differences: tuple[Difference, ...]
    missing: tuple[Difference, ...]
    extra: tuple[Difference, ...]
    pairs: tuple[tuple[int, int], ...]
    num_given_tokens: int
    num_heard_tokens: int
    distance: int
    letter_similarity: float

    @property
    def error_rate(self) -> float:
        """Edits over the heard tokens: WER, or CER for spaceless scripts; may exceed 1."""
        return self.distance / max(1, self.num_heard_tokens)


def compare(given: Sequence[str], heard: Sequence[str], language: str) -> Comparison:
    """Find where a given text departs from a heard one.

    Words take the readings that bring the texts closest (``refprep.text.settle``); what is left is laid beside each other.

    Args:
        given: Written words (``refprep.text.words.split_words``).
        heard: Words of a recogniser.
        language: BCP 47, of both.
    """
    distance, given_tokens, heard_tokens = settle(given, heard, language)
    left, right = _weigh(given_tokens, language), _weigh(heard_tokens, language)
    steps = lay_beside(left, right)
    differences, missing, extra = _stretches(steps, left, right, given, heard)
    pairs = dict.fromkeys(
        pair
        for i, j in steps
        if i is not None and j is not None and left.keys[i] == right.keys[j]
        for pair in _word_pairs(left.owners[i], right.owners[j])
    )
    total = sum(left.letters) + sum(right.letters)
    cost = _cost(steps, left, right)
    return Comparison(
        differences=tuple(differences),
        missing=tuple(missing),
        extra=tuple(extra),
        pairs=tuple(pairs),
        num_given_tokens=len(left.keys),
        num_heard_tokens=len(right.keys),
        distance=distance,
        letter_similarity=1.0 - cost / total if total else 1.0,
    )


def _weigh(tokens: Tokens, language: str) -> WeighedTokens:
    # A filler weighs nothing: people do not write them down, recognisers do not hear them.
    letters = [0.0 if is_filler(token, language) else _letters(token) for token in tokens.texts]
    return WeighedTokens(tokens.texts, tokens.keys, tokens.owners, letters)


def _word_pairs(given: tuple[int, int], heard: tuple[int, int]) -> list[tuple[int, int]]:
    """Written words that share a token; words that are read together are paired in order, the last with all left over."""
    count = max(given[1] - given[0], heard[1] - heard[0])
    return [(min(given[0] + k, given[1] - 1), min(heard[0] + k, heard[1] - 1)) for k in range(count)]


def _letters(token: str) -> float:
    total = 0.0
    for ch in token:
        if not is_spaceless(ch):
            total += 1.0
        else:
            total += _KANA_LETTERS if "\u3040" <= ch <= "\u30ff" else _HAN_LETTERS
    return total


def _is_same(left: WeighedTokens, right: WeighedTokens, i: int | None, j: int | None) -> bool:
    return i is not None and j is not None and left.keys[i] == right.keys[j]


def _step_cost(left: WeighedTokens, right: WeighedTokens, i: int | None, j: int | None) -> float:
    if i is None:
        return right.letters[j] if j is not None else 0.0
    if j is None:
        return left.letters[i]
    both = left.letters[i] + right.letters[j]
    return both * (1.0 - float(Indel.normalized_similarity(left.keys[i], right.keys[j])))


def _cost(steps: Sequence[Step], left: WeighedTokens, right: WeighedTokens) -> float:
    """Letters that differ along a path. A run that spells the same, cut otherwise ("fire fox", "firefox"), costs little."""
    total = 0.0
    for same, group in itertools.groupby(steps, key=lambda step: _is_same(left, right, *step)):
        if same:
            continue
        run = list(group)
        cost = sum(_step_cost(left, right, i, j) for i, j in run)
        one = "".join(left.keys[i] for i, _ in run if i is not None)
        other = "".join(right.keys[j] for _, j in run if j is not None)
        similarity = float(Indel.normalized_similarity(one, other))
        # Long texts that have nothing in common reach about 0.4; only near equality says anything.
        if similarity >= _SAME_SPELLING:
            letters = sum(_step_letters(left, right, i, j) for i, j in run)
            cost = min(cost, letters * (1.0 - similarity))
        total += cost
    return total


def _step_letters(left: WeighedTokens, right: WeighedTokens, i: int | None, j: int | None) -> float:
    return (left.letters[i] if i is not None else 0.0) + (right.letters[j] if j is not None else 0.0)


def _stretches(
    steps: list[Step],
    left: WeighedTokens,
    right: WeighedTokens,
    given: Sequence[str],
    heard: Sequence[str],
) -> tuple[list[Difference], list[Difference], list[Difference]]:
    """Cut the path into runs that agree and runs that part, then find where one side has more to say."""
    runs: list[tuple[int, int, float, float]] = []  # first step, last step + 1, surplus, letters agreed on
    start = 0
    while start < len(steps):
        same = _is_same(left, right, *steps[start])
        end = start + 1
        while end < len(steps) and _is_same(left, right, *steps[end]) == same:
            end += 1
        inside = range(start, end)
        surplus = 0.0 if same else sum(_surplus(left, right, *steps[k]) for k in inside)
        agreed = sum(left.letters[i] for i, _ in (steps[k] for k in inside) if i is not None) if same else 0.0
        runs.append((start, end, surplus, agreed))
        start = end

    def difference(start: int, end: int) -> Difference:
        return _difference(steps, start, end, left, right, given, heard)

    differences = [difference(s, e) for s, e, _, agreed in runs if not agreed]
    found: list[list[Difference]] = []
    for sign in (1.0, -1.0):
        # A short agreement by chance ("and", "the") does not end a stretch: it costs the letters agreed on.
        values = [sign * surplus - agreed for _, _, surplus, agreed in runs]
        ranges = _heaviest_ranges(values, at_least=_MIN_SURPLUS_LETTERS)
        found.append([difference(runs[a][0], runs[b - 1][1]) for a, b in ranges])
    kept = [d for d in differences if d.similarity < 1.0 and (d.given_only or d.heard_only)]
    return kept, found[0], found[1]


def _surplus(left: WeighedTokens, right: WeighedTokens, i: int | None, j: int | None) -> float:
    return (right.letters[j] if j is not None else 0.0) - (left.letters[i] if i is not None else 0.0)


def _heaviest_ranges(values: Sequence[float], *, at_least: float) -> list[tuple[int, int]]:
    """Disjoint half-open ranges of largest sum (Kadane, repeated left and right of the best), in order."""

    def search(low: int, high: int) -> list[tuple[int, int]]:
        best, best_range = 0.0, (low, low)
        total, start = 0.0, low
        for index in range(low, high):
            if total <= 0.0:
                total, start = 0.0, index
            total += values[index]
            if total > best:
                best, best_range = total, (start, index + 1)
        if best < at_least:
            return []
        return [*search(low, best_range[0]), best_range, *search(best_range[1], high)]

    return search(0, len(values))


def _difference(
    steps: list[Step],
    start: int,
    end: int,
    left: WeighedTokens,
    right: WeighedTokens,
    given: Sequence[str],
    heard: Sequence[str],
) -> Difference:
    inside = steps[start:end]
    given_range = _word_range([i for i, _ in steps], start, end, left.owners, len(given))
    heard_range = _word_range([j for _, j in steps], start, end, right.owners, len(heard))
    only = [(i, j) for i, j in inside if not _is_same(left, right, i, j)]
    outside = [*steps[:start], *steps[end:]]
    letters = sum(_step_letters(left, right, i, j) for i, j in outside)
    cost = _cost(outside, left, right)
    return Difference(
        given=given_range,
        heard=heard_range,
        surplus_letters=sum(_surplus(left, right, i, j) for i, j in inside),
        similarity=_similarity(given[slice(*given_range)], heard[slice(*heard_range)]),
        given_only=tuple(left.texts[i] for i, _ in only if i is not None and left.letters[i]),
        heard_only=tuple(right.texts[j] for _, j in only if j is not None and right.letters[j]),
        agreement_elsewhere=1.0 - cost / letters if letters else 1.0,
    )


def _word_range(
    indices: list[int | None], start: int, end: int, owners: list[tuple[int, int]], num_words: int
) -> tuple[int, int]:
    inside = [owners[i] for i in indices[start:end] if i is not None]
    if inside:
        return inside[0][0], inside[-1][1]
    before = [owners[i] for i in indices[:start] if i is not None]
    after = [owners[i] for i in indices[end:] if i is not None]
    if before and after and before[-1] == after[0]:
        return after[0][0], after[0][0]  # inside one written word ("1984" read short): before it
    at = before[-1][1] if before else (after[0][0] if after else num_words)
    return at, at


def _similarity(given: Sequence[str], heard: Sequence[str]) -> float:
    left, right = "".join(fold(w) for w in given), "".join(fold(w) for w in heard)
    if not left or not right:
        return 1.0 if left == right else 0.0
    return float(Indel.normalized_similarity(left, right))


def equal_cuts(words: Sequence[str], first: int, last: int) -> list[tuple[int, int]]:
    """Half-open ranges whose removal leaves the same text as that of one of them.

    Of words written twice it is not said which copy is the one too many: "a b a b c" without either "a b", or without
    "b a", is "a b c".

    Args:
        words: Of a text.
        first: Start of one of the ranges.
        last: Its end.

    Returns:
        All of them, as long as the one, in order.
    """
    plain = [fold(w) for w in words]
    low, high = first, last
    while first < last and low > 0 and plain[low - 1] == plain[low - 1 + last - first]:
        low -= 1
    while first < last and high < len(plain) and plain[high] == plain[high - (last - first)]:
        high += 1
    return [(start, start + last - first) for start in range(low, high - (last - first) + 1)]
