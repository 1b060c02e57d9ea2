"""Text, faults -> the text as it should be."""

from __future__ import annotations

from collections.abc import Collection

from refprep.text.words import join_words, split_words
from refprep.types import FaultKind, TextFault, Transcript


def mended_text(given: Transcript, heard: Transcript, faults: Collection[TextFault]) -> str:
    """The given text with faults mended; the text itself where there are none.

    Args:
        given: The text under test.
        heard: Free transcription of the same clip.
        faults: Of the text, all or some; mended from the end, so that their word ranges stay true.
    """
    if not faults:
        return given.text
    if any(f.kind is FaultKind.WRONG_TEXT for f in faults):
        return heard.text
    words = split_words(given.text)
    for fault in sorted(faults, key=lambda f: f.word_range, reverse=True):
        first, last = fault.word_range
        if fault.instead:
            words[first:last] = [fault.instead]
        elif fault.kind is FaultKind.UNSPOKEN:
            words[first:last] = []
        elif fault.kind is FaultKind.OTHER_WORD:
            words[first:last] = [fault.words]
        else:
            # A misheard word inside the range stays as the user wrote it.
            at = first if fault.kind is FaultKind.HEAD else last
            words[at:at] = [fault.words]
    return join_words(words)
