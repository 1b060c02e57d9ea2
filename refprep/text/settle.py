"""Which reading every word of two texts takes: the ones that bring the texts closest.

Texts start with their plainest readings. Where they part, words and runs of words (``refprep.text.readings.units``)
are settled one after another until nothing moves; stretches that agree at once are left alone, so that the work grows
with what differs, not with the length of the texts.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from rapidfuzz.distance import Levenshtein

from refprep.text.normalise import Reading
from refprep.text.readings import Unit, readings, units
from refprep.text.sounds import sound_key

# Tokens of an agreeing stretch that still take part in the settling beside it: a date or an amount is shorter.
_MARGIN = 4
# Words of both sides of one stretch, multiplied; above it the stretch is settled in pieces: trying a reading costs the
# length of the piece.
_LARGE = 10_000
_ROUNDS = 3
_MOST_CUTS = (
    6  # tokens that one word of the other text can be written as: "neun zehn hundert vier und achtzig"
)
_SHORTEST_CUT = 3  # letters
_Region: TypeAlias = tuple[
    tuple[int, int], tuple[int, int]
]  # half-open word ranges, of the given and the heard text


@dataclass(frozen=True, slots=True)
class Tokens:
    """One text, settled: its spoken words, what they sound like, and the half-open range of written words each is from."""

    texts: list[str]
    keys: list[str]
    owners: list[tuple[int, int]]


@dataclass(slots=True)
class _Text:
    """One text while it is settled; ``joined`` holds the units in force by their first word."""

    options: list[list[Reading]]
    units: list[Unit]
    language: str
    chosen: list[Reading] = field(default_factory=list)
    joined: dict[int, Unit] = field(default_factory=dict)
    covered: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, words: Sequence[str], language: str) -> _Text:
        options = [list(readings(word, language)) for word in words]
        return cls(options, units(words, language), language, [o[0] for o in options])

    def keys(self, first: int, last: int) -> list[str]:
        return [sound_key(t, self.language) for reading in self.chosen[first:last] for t in reading]

    def flat(self) -> Tokens:
        texts: list[str] = []
        owners: list[tuple[int, int]] = []
        for word, reading in enumerate(self.chosen):
            owner = (word, self.joined[word].last if word in self.joined else word + 1)
            texts += reading
            owners += [owner] * len(reading)
        return Tokens(texts, [sound_key(t, self.language) for t in texts], owners)

    def state(self, first: int, last: int) -> tuple[list[Reading], dict[int, Unit], set[int]]:
        return self.chosen[first:last], dict(self.joined), set(self.covered)

    def restore(self, first: int, last: int, state: tuple[list[Reading], dict[int, Unit], set[int]]) -> None:
        self.chosen[first:last], self.joined, self.covered = list(state[0]), dict(state[1]), set(state[2])

    def join(self, unit: Unit, reading: Reading) -> None:
        self.chosen[unit.first : unit.last] = [reading, *[()] * (unit.last - unit.first - 1)]
        self.joined[unit.first] = unit
        self.covered.update(range(unit.first, unit.last))


def settle(given: Sequence[str], heard: Sequence[str], language: str) -> tuple[int, Tokens, Tokens]:
    """Read two texts so that the fewest tokens differ.

    Returns:
        Token edits between the texts, and both as tokens.
    """
    texts = (_Text.of(given, language), _Text.of(heard, language))
    for region in _regions(*texts):
        _settle_region(texts, region)
    left, right = texts[0].flat(), texts[1].flat()
    return Levenshtein.distance(left.keys, right.keys), left, right


def _regions(left: _Text, right: _Text) -> list[_Region]:
    """Word ranges of both texts between the places where they agree for long."""
    one, other = left.flat(), right.flat()
    cuts = [(0, 0)]
    for block in Levenshtein.opcodes(one.keys, other.keys):
        if block.tag != "equal" or block.src_end - block.src_start <= 2 * _MARGIN:
            continue
        inside = range(_MARGIN, block.src_end - block.src_start - _MARGIN + 1)
        starts = [
            (one.owners[i][0], other.owners[j][0])
            for k in inside
            if (i := block.src_start + k) < len(one.owners)
            and (j := block.dest_start + k) < len(other.owners)
            if one.owners[i - 1][0] != one.owners[i][0] and other.owners[j - 1][0] != other.owners[j][0]
        ]
        cuts += [starts[0], starts[-1]] if starts else []
    cuts.append((len(left.chosen), len(right.chosen)))
    found = []
    for (g, h), (g_next, h_next) in itertools.pairwise(cuts):
        if left.keys(g, g_next) != right.keys(h, h_next):
            found += _pieces(left, right, ((g, g_next), (h, h_next)))
    return found


def _pieces(left: _Text, right: _Text, region: _Region) -> list[_Region]:
    """A region, cut in two at the middle of the given text until its pieces are small."""
    (g, g_end), (h, h_end) = region
    if (g_end - g) * (h_end - h) <= _LARGE or g_end - g < 2:
        return [region]
    middle = (g + g_end) // 2
    at = len(left.keys(g, middle))
    beside = 0
    for block in Levenshtein.opcodes(left.keys(g, g_end), right.keys(h, h_end)):
        if block.src_start <= at:
            beside = min(block.dest_start + at - block.src_start, block.dest_end)
    cut = h
    while cut < h_end and beside > 0:
        beside -= len(right.chosen[cut])
        cut += 1
    halves = (((g, middle), (h, cut)), ((middle, g_end), (cut, h_end)))
    return [piece for half in halves for piece in _pieces(left, right, half)]


def _settle_region(texts: tuple[_Text, _Text], region: _Region) -> None:
    _add_cuts(texts, region)
    best: tuple[int, list[tuple[list[Reading], dict[int, Unit], set[int]]]] | None = None
    before = [text.state(*span) for text, span in zip(texts, region, strict=True)]
    # Plain; digit by digit and spelt out, together on both sides; by its sound.
    for start in (_start_plain, _start_longest, _start_joined):
        is_new = start is _start_plain
        for text, span, state in zip(texts, region, before, strict=True):
            text.restore(*span, state)
            is_new |= start(text, *span)
        if not is_new:
            continue
        distance = _descend(texts, region)
        if best is None or distance < best[0]:
            best = distance, [text.state(*span) for text, span in zip(texts, region, strict=True)]
        if distance == 0:
            break
    if best is not None:
        for text, span, state in zip(texts, region, best[1], strict=True):
            text.restore(*span, state)


def _start_plain(text: _Text, first: int, last: int) -> bool:
    del text, first, last
    return False


def _start_longest(text: _Text, first: int, last: int) -> bool:
    is_new = False
    for k in range(first, last):
        longest = max(text.options[k], key=len)
        is_new |= longest != text.chosen[k]
        text.chosen[k] = longest
    return is_new


def _start_joined(text: _Text, first: int, last: int) -> bool:
    is_new = False
    for unit in text.units:
        if (
            first <= unit.first
            and unit.last <= last
            and not text.covered.intersection(range(unit.first, unit.last))
        ):
            text.join(unit, unit.readings[0])
            is_new = True
    return is_new


def _add_cuts(texts: tuple[_Text, _Text], region: _Region) -> None:
    """Give words the cut that the other text writes them with: "zweiundzwanzig" beside "zwei und zwanzig"."""
    runs = [_runs(text, *span) for text, span in zip(texts, region, strict=True)]
    for text, (first, last), other in zip(texts, region, reversed(runs), strict=True):
        for k in range(first, last):
            extra = [
                cut
                for option in text.options[k]
                if (cut := tuple(t for token in option for t in other.get(token, (token,)))) != option
            ]
            text.options[k] += [cut for cut in dict.fromkeys(extra) if cut not in text.options[k]]


def _runs(text: _Text, first: int, last: int) -> dict[str, Reading]:
    """Neighbouring tokens of the plainest readings, written as one -> the tokens."""
    tokens = [token for reading in text.chosen[first:last] for token in reading]
    known = set(tokens)
    found: dict[str, Reading] = {}
    for start in range(len(tokens)):
        joined = tokens[start]
        for end in range(start + 2, min(start + _MOST_CUTS, len(tokens)) + 1):
            joined += tokens[end - 1]
            if len(joined) >= _SHORTEST_CUT and joined not in known:
                found.setdefault(joined, tuple(tokens[start:end]))
    return found


def _descend(texts: tuple[_Text, _Text], region: _Region) -> int:
    """Settle words and units of a region one after another; returns the token edits that are left."""
    best = Levenshtein.distance(texts[0].keys(*region[0]), texts[1].keys(*region[1]))
    for _ in range(_ROUNDS):
        before = best
        for side in (0, 1):
            if best:
                best = _descend_side(texts[side], region[side], texts[1 - side], region[1 - side], best)
        if best in (0, before):
            break
    return best


def _descend_side(
    text: _Text, span: tuple[int, int], other: _Text, other_span: tuple[int, int], best: int
) -> int:
    """One pass over the words and units of one text while the other stands still; returns the edits that are left."""
    offset = span[0]
    against, could_be = other.keys(*other_span), _possible_keys(other, *other_span)
    own = [text.keys(k, k + 1) for k in range(*span)]
    for unit, choices in _moves(text, *span):
        if unit.first in text.covered and text.joined.get(unit.first) != unit:
            continue  # another unit took the word in this pass
        here = slice(unit.first - offset, unit.last - offset)
        kept, taken = own[here], None
        for choice in choices:
            keys = [sound_key(token, text.language) for token in choice]
            # A reading that shares no word with the other text brings it no closer.
            if keys == kept[0] or could_be.isdisjoint(keys):
                continue
            own[here] = [keys, *[[]] * (len(kept) - 1)]
            now = Levenshtein.distance(list(itertools.chain.from_iterable(own)), against)
            if now < best:
                best, taken = now, choice
        if taken is None:
            own[here] = kept
            continue
        own[here] = [[sound_key(token, text.language) for token in taken], *[[]] * (len(kept) - 1)]
        if unit.readings:
            text.join(unit, taken)
        else:
            text.chosen[unit.first] = taken
        if best == 0:
            break
    return best


def _moves(text: _Text, first: int, last: int) -> Iterable[tuple[Unit, Sequence[Reading]]]:
    """Single words with several readings, then runs of words; a run that overlaps one in force must wait."""
    for k in range(first, last):
        if len(text.options[k]) > 1 and k not in text.covered:
            yield Unit(k, k + 1, ()), text.options[k]
    for unit in text.units:
        if first <= unit.first and unit.last <= last:
            in_force = text.covered.intersection(range(unit.first, unit.last))
            if not in_force or text.joined.get(unit.first) == unit:
                yield unit, unit.readings


def _possible_keys(text: _Text, first: int, last: int) -> set[str]:
    ways = itertools.chain(
        itertools.chain.from_iterable(text.options[first:last]),
        itertools.chain.from_iterable(u.readings for u in text.units if first <= u.first and u.last <= last),
    )
    return {sound_key(token, text.language) for reading in ways for token in reading}
