"""Recording -> its speech: voice activity in overlapping windows at fixed places.

Two neighbours are joined in the longest pause that both see in the middle of their overlap, so that no stretch of speech is
cut where a window happens to end, and each window's network has heard two seconds and more before what counts of it. Of
ten minutes of seven readers, 0.3 % of the speech is other than what silero finds when it is given all at once, which takes
memory by the hour; longer overlaps come no closer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from refprep.pipeline.recording import Recording
from refprep.protocols import VoiceActivity
from refprep.types import Span

WINDOW_S = 60  # silero with its library takes 90 MB for a window, 290 MB for five minutes
# A window begins every 48 s, on a frame of silero (32 ms): off by half of one, most spans move by 16 ms.
OVERLAP_S = 12
_MARGIN_S = 2.0  # at both ends of an overlap, where one of the two windows begins or ends


def find_speech(
    recording: Recording,
    voice_activity: VoiceActivity,
    *,
    on_time: Callable[[float], None] = lambda _: None,
) -> tuple[Span, ...]:
    """Speech in a recording of any length.

    Args:
        recording: Up to ``WINDOW_S`` it is heard as one.
        voice_activity: Asked about one window at a time.
        on_time: Told up to where it has heard, seconds.

    Returns:
        Sorted, disjoint, seconds from the recording's start.
    """
    rate_hz = recording.sample_rate_hz
    found: list[Span] = []
    start_s = 0
    while True:
        clip = recording.cut(start_s * rate_hz, (start_s + WINDOW_S) * rate_hz)
        spans = [Span(start_s + s.start_s, start_s + s.end_s) for s in voice_activity.speech_spans(clip)]
        if start_s:
            within = Span(start_s + _MARGIN_S, start_s + OVERLAP_S - _MARGIN_S)
            tail: list[Span] = []
            while found and found[-1].end_s > within.start_s:
                tail.insert(0, found.pop())
            found += _joined(tail, spans, _joint(tail, spans, within))
        else:
            found = spans
        on_time(min(start_s + WINDOW_S, recording.duration_s))
        if (start_s + WINDOW_S) * rate_hz >= recording.num_samples:
            return tuple(found)
        start_s += WINDOW_S - OVERLAP_S


def _joint(left: Sequence[Span], right: Sequence[Span], within: Span) -> float:
    """Middle of the longest pause of both; of ``within``, where they have none."""
    pauses, reached_s = [], within.start_s
    for span in sorted(s for s in (*left, *right) if s.overlap_s(within) > 0.0):
        if span.start_s > reached_s:
            pauses.append(Span(reached_s, span.start_s))
        reached_s = max(reached_s, span.end_s)
    if reached_s < within.end_s:
        pauses.append(Span(reached_s, within.end_s))
    longest = max(pauses, key=lambda p: p.duration_s, default=within)
    return (longest.start_s + longest.end_s) / 2


def _joined(left: Sequence[Span], right: Sequence[Span], at_s: float) -> list[Span]:
    before = [Span(s.start_s, min(s.end_s, at_s)) for s in left if s.start_s < at_s]
    after = [Span(max(s.start_s, at_s), s.end_s) for s in right if s.end_s > at_s]
    if before and after and before[-1].end_s == after[0].start_s:
        before[-1:], after[:1] = [Span(before[-1].start_s, after[0].end_s)], []
    return [*before, *after]
