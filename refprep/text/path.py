"""The cheapest path through two texts, in letters: which spoken word stands beside which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from rapidfuzz.distance import Indel, Levenshtein
from rapidfuzz.process import cdist

Step: TypeAlias = tuple[int | None, int | None]  # (i, j) a pair, (i, None) given only, (None, j) heard only

_HEAD_GAP, _INNER_GAP, _TAIL_GAP = 0.25, 0.5, 0.0  # letters that opening a gap costs
_PAIR, _GIVEN_ONLY, _HEARD_ONLY = 0, 1, 2
_INFINITE = float("inf")
# Tokens of both texts, multiplied, above which long agreements are taken as they are: time grows with the square.
_LARGE = 150 * 150
# Cells of the table above which a stretch takes the path of fewest edits instead: texts so long with nothing in common.
_TOO_LARGE = 2_000_000
_MARGIN = 8  # tokens of an agreement that stay open at either end: a repeated phrase is shorter


@dataclass(frozen=True, slots=True)
class WeighedTokens:
    """One text as spoken tokens.

    Attributes:
        texts: Folded tokens.
        keys: What each sounds like; equal keys are the same word.
        owners: Half-open range of written words each is from.
        letters: What each weighs, in letters of an alphabetic script.
    """

    texts: list[str]
    keys: list[str]
    owners: list[tuple[int, int]]
    letters: list[float]


def lay_beside(left: WeighedTokens, right: WeighedTokens) -> list[Step]:
    """Cheapest path through both texts in letters, in order.

    Opening a gap costs half a letter between words that agree, a quarter before all of them and nothing after
    (Gotoh's affine gaps): of several cheapest paths that keeps what is missing in one piece, and at an edge where
    it can lie there.
    """
    n, m = len(left.keys), len(right.keys)
    if left.keys == right.keys:
        return [(i, i) for i in range(n)]
    if n * m <= _LARGE:
        return _cheapest(left, right, (0, n), (0, m))
    steps: list[Step] = []
    i, j = 0, 0
    for block in Levenshtein.opcodes(left.keys, right.keys):
        if block.tag == "equal" and block.src_end - block.src_start > 2 * _MARGIN:
            first, last = block.src_start + _MARGIN, block.src_end - _MARGIN
            shift = block.dest_start - block.src_start
            steps += _cheapest(left, right, (i, first), (j, first + shift))
            steps += [(k, k + shift) for k in range(first, last)]
            i, j = last, last + shift
    return steps + _cheapest(left, right, (i, n), (j, m))


def _cheapest(
    left: WeighedTokens, right: WeighedTokens, given: tuple[int, int], heard: tuple[int, int]
) -> list[Step]:
    """Cheapest path through a part of both texts, by half-open ranges of tokens."""
    (i0, i1), (j0, j1) = given, heard
    n, m = i1 - i0, j1 - j0
    if not n or not m:
        return [*((i, None) for i in range(i0, i1)), *((None, j) for j in range(j0, j1))]
    if n * m > _TOO_LARGE:
        return _fewest_edits(left, right, given, heard)
    at_head, at_tail = not i0 and not j0, i1 == len(left.keys) and j1 == len(right.keys)
    lefts, rights = left.letters[i0:i1], right.letters[j0:j1]
    similarity = cdist(
        left.keys[i0:i1], right.keys[j0:j1], scorer=Indel.normalized_similarity, dtype=np.float64
    )
    swap = (np.asarray(lefts)[:, None] + np.asarray(rights)[None, :]) * (1.0 - similarity)
    # Below half alike two words are two words: leaving both over keeps surplus stretches whole.
    swaps = np.where(similarity >= 0.5, swap, np.inf).tolist()
    # Three states a cell: the last step paired two words, left a given one over, or left a heard one over.
    came: list[list[tuple[int, int, int]]] = []
    above: list[tuple[float, float, float]] = []
    for i in range(n + 1):
        row: list[tuple[float, float, float]] = []
        came_row: list[tuple[int, int, int]] = []
        for j in range(m + 1):
            if not i and not j:
                row.append((0.0, _INFINITE, _INFINITE))
                came_row.append((0, 0, 0))
                continue
            is_head, is_tail = at_head and (not i or not j), at_tail and (i == n or j == m)
            opening = _HEAD_GAP if is_head else _TAIL_GAP if is_tail else _INNER_GAP
            pair = given_only = heard_only = _INFINITE
            pair_came = given_came = heard_came = _PAIR
            if i and j:
                price = swaps[i - 1][j - 1]
                if price < _INFINITE:
                    pair, pair_came = _least(*above[j - 1])
                    pair += price
            if i:
                p, g, h = above[j]
                given_only, given_came = _least(p + opening, g, h)
                given_only += lefts[i - 1]
            if j:
                p, g, h = row[j - 1]
                heard_only, heard_came = _least(p + opening, g, h)
                heard_only += rights[j - 1]
            row.append((pair, given_only, heard_only))
            came_row.append((pair_came, given_came, heard_came))
        above = row
        came.append(came_row)
    steps: list[Step] = []
    i, j = n, m
    last = above[m]
    state = min((_HEARD_ONLY, _GIVEN_ONLY, _PAIR), key=lambda k: last[k])
    while i or j:
        previous = came[i][j][state]
        if state == _PAIR:
            i, j = i - 1, j - 1
            steps.append((i0 + i, j0 + j))
        elif state == _GIVEN_ONLY:
            i -= 1
            steps.append((i0 + i, None))
        else:
            j -= 1
            steps.append((None, j0 + j))
        state = previous
    return steps[::-1]


def _fewest_edits(
    left: WeighedTokens, right: WeighedTokens, given: tuple[int, int], heard: tuple[int, int]
) -> list[Step]:
    steps: list[Step] = []
    for block in Levenshtein.opcodes(left.keys[slice(*given)], right.keys[slice(*heard)]):
        ours = range(given[0] + block.src_start, given[0] + block.src_end)
        theirs = range(heard[0] + block.dest_start, heard[0] + block.dest_end)
        if block.tag == "equal":
            steps += zip(ours, theirs, strict=True)
        else:
            steps += [*((i, None) for i in ours), *((None, j) for j in theirs)]
    return steps


def _least(pair: float, given_only: float, heard_only: float) -> tuple[float, int]:
    """The cheapest of three states and which it is; the first of equals."""
    if pair <= given_only:
        return (pair, _PAIR) if pair <= heard_only else (heard_only, _HEARD_ONLY)
    return (given_only, _GIVEN_ONLY) if given_only <= heard_only else (heard_only, _HEARD_ONLY)
