"""Frames of codes where a reference is louder than a pause."""

from __future__ import annotations

from refprep.types import CodeMatrix, CodesCase


def loud_codes(case: CodesCase) -> CodeMatrix:
    """(frames, codebooks) int32, without the frames of pauses."""
    count = min(len(case.is_loud), case.entry.num_frames)
    loud: CodeMatrix = case.entry.codes[:count][case.is_loud[:count]]
    return loud
