from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from refprep.moss.pattern import delayed, undelayed

SHAPES = st.tuples(st.integers(0, 50), st.integers(1, 33))
CODES = hnp.arrays(np.int32, SHAPES, elements=st.integers(0, 1023))


@given(CODES)
def test_there_and_back(codes):
    assert np.array_equal(undelayed(delayed(codes, 1024)), codes)


@given(CODES)
def test_corners_hold_pads_and_nothing_else_does(codes):
    frames, books = codes.shape
    rows = delayed(codes, 1024)
    assert rows.shape == ((frames + books - 1 if frames else 0), books)
    assert (rows != 1024).sum() == codes.size


@given(CODES, st.integers(0, 90))
def test_a_cut_block_keeps_its_whole_frames(codes, kept):
    rows = delayed(codes, 1024)[:kept]
    whole = undelayed(rows)
    assert np.array_equal(whole, codes[: max(0, len(rows) - codes.shape[1] + 1)])
