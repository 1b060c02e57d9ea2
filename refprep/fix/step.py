"""One change of a pair. Audio and text change together, and samples that stay are the very samples."""

from __future__ import annotations

from dataclasses import dataclass

from refprep.pipeline.align import cut_clip
from refprep.types import Clip, Span


@dataclass(frozen=True, slots=True)
class Step:
    """One change of a pair.

    Attributes:
        text: What the text becomes; None for a pair without one.
        keep: What stays of the audio.
        codes: Of the findings it is meant to remove; others may go with them.
    """

    text: str | None
    keep: Span
    codes: frozenset[str]


def apply_step(clip: Clip, step: Step) -> tuple[Clip, str | None]:
    """Change a pair.

    Returns:
        The samples that stay, and the text that is left of them. The clip is the same object where nothing is cut.
    """
    if step.keep.start_s <= 0.0 and step.keep.end_s >= clip.duration_s:
        return clip, step.text
    return cut_clip(clip, step.keep), step.text
