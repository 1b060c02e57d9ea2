"""Heard words, speech -> where a stretch of words lies on the clock."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from refprep.types import Span, Word


def place_words(words: Sequence[Word], first: int, last: int, speech: Sequence[Span]) -> Span:
    """The stretch of a clip in which some of its words are spoken.

    It begins where the word before it ends and ends where the word behind it begins. Where voice activity knows a pause
    between two words, those are the edges of the pause: the aligner lets a word begin or end anywhere in it.

    Args:
        words: All words that are heard, sorted by start.
        first: Index of the first of the stretch.
        last: Index behind its last.
        speech: Voice activity: sorted, disjoint, not empty.

    Returns:
        A span that ends with the speech where the stretch ends the clip, and begins with it where it opens the clip.
    """
    if first > 0:
        start_s = _between(words[first - 1].span, words[first].span, speech).start_s
    else:
        start_s = min(speech[0].start_s, words[first].span.end_s)
    if last < len(words):
        end_s = _between(words[last - 1].span, words[last].span, speech).end_s
    else:
        end_s = speech[-1].end_s
    return Span(start_s, max(end_s, start_s))


def _between(before: Span, after: Span, speech: Sequence[Span]) -> Span:
    """What lies between two words: the longest pause, else the moment where the aligner parts them."""
    low_s = (before.start_s + before.end_s) / 2
    high_s = max(low_s, (after.start_s + after.end_s) / 2)
    # A word may be stretched over the whole pause beside it: the pause counts as voice activity has it.
    pauses = [Span(a.end_s, b.start_s) for a, b in pairwise(speech) if a.end_s < high_s and b.start_s > low_s]
    if pauses:
        return max(pauses, key=lambda pause: pause.duration_s)
    return Span(before.end_s, max(before.end_s, min(after.start_s, high_s)))
