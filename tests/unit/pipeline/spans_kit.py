"""Strategies for spans, on a grid where float arithmetic is exact."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import strategies as st

from refprep.types import Alignment, Span, Word

GRID_S = 0.125  # a power of two: sums and differences have no rounding


@st.composite
def disjoint_spans(draw, *, max_spans=8, max_length=40, max_gap=40, min_gap=0, min_spans=0, grid_s=GRID_S):
    """Sorted, disjoint spans whose ends are multiples of the grid."""
    lengths = draw(st.lists(st.integers(1, max_length), min_size=min_spans, max_size=max_spans))
    at = draw(st.integers(0, max_gap))
    spans = []
    for length in lengths:
        spans.append(Span(at * grid_s, (at + length) * grid_s))
        at += length + draw(st.integers(min_gap, max_gap))
    return spans


def aligned(spans, probability: float = 0.9) -> Alignment:
    """An alignment of one word for every span."""
    return Alignment(tuple(Word("word", s, probability) for s in spans), "fake")


def cells(spans, grid_s: float = GRID_S) -> set[int]:
    """The grid cells that spans fill."""
    return {k for s in spans for k in range(round(s.start_s / grid_s), round(s.end_s / grid_s))}


def is_sorted_and_disjoint(spans) -> bool:
    return all(a.end_s <= b.start_s for a, b in pairwise(spans))
