"""The delay pattern: codebook k of frame t stands in row t + k, and corners hold the pad code.

codes    (frames, n_vq)             int
delayed  (frames + n_vq - 1, n_vq)  int; none for no frames

A prompt holds whole blocks of it for a reference, and a cut one for speech to go on from.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
"""(frames, n_vq) int32, codebook 0 first."""


def delayed(codes: npt.NDArray[np.integer], pad_code: int) -> Codes:
    """Rows of some frames."""
    frames, books = codes.shape
    rows = np.full((frames + books - 1 if frames else 0, books), pad_code, np.int32)
    for book in range(books if frames else 0):
        rows[book : book + frames, book] = codes[:, book]
    return rows


def undelayed(rows: npt.NDArray[np.integer]) -> Codes:
    """Frames that some rows hold whole, from the row that begins the first one on; the others are left out."""
    books = rows.shape[1]
    frames = max(0, rows.shape[0] - books + 1)
    return np.stack([rows[k : k + frames, k] for k in range(books)], axis=1).astype(np.int32)


def frame_at(rows: Sequence[npt.NDArray[np.integer]], frame: int) -> Codes:
    """(n_vq,) codes of one frame, of rows that reach its last codebook."""
    return np.array([rows[frame + k][k] for k in range(rows[0].shape[0])], np.int32)
