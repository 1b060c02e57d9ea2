"""Where does a missing stretch start? Truth by construction: real clips, joined at known samples.

Full clips of a labelled set are cut to their speech and joined by silence of several lengths; the text of one of them is
left out. Joins that the recogniser does not understand (more than 10 % word errors) are left out: that is another thing
to measure. Where the words before it end in the join is known to the resolution of the energy edges, 10 ms.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from refprep.bench.lint import LintCase
from refprep.pipeline.decode import decode_file, pcm_sha256
from refprep.pipeline.edges import speech_edges
from refprep.pipeline.listen import Listener
from refprep.text.words import join_words
from refprep.types import Clip, FaultKind, TextCheck, freeze
from refprep.units import seconds_to_samples

GAPS_S = (0.0, 0.15, 0.3, 0.6, 1.0)
_UNDERSTOOD_ERROR_RATE = 0.1
_EDGE_S = 0.05  # of the recording's own sound kept around its speech, so that no consonant is cut
_MOST_S = 29.0  # one window of the recogniser


@dataclass(frozen=True, slots=True)
class SpanCase:
    """A join with one part's text left out.

    Attributes:
        clip: The join.
        text: Of the other parts.
        language: BCP 47.
        kind: Where the part lies: TAIL or GAP.
        start_s: Where the speech before it ends.
        gap_s: Silence before it.
    """

    clip: Clip
    text: str
    language: str
    kind: FaultKind
    start_s: float
    gap_s: float


def make_span_cases(cases: Sequence[LintCase], listener: Listener, *, most: int = 60) -> Iterator[SpanCase]:
    """Joins of the full clips among labelled cases: neighbours of one language and sample rate.

    Args:
        cases: Labelled; those that must pass as they are, one a clip.
        listener: For their voice activity.
        most: So many are tried.

    Yields:
        Alternately a join of two clips with the second one's text left out (TAIL), and of three with the middle one's
        (GAP), the silence going round ``GAPS_S``.
    """
    whole = {c.path: c for c in cases if c.kind == "full" and c.expect == "pass" and c.text.strip()}
    parts = [_Part.of(decode_file(c.path), c, listener) for c in whole.values()]
    gaps = itertools.cycle(GAPS_S)
    tried = 0
    for at, first in enumerate(parts):
        fits = [p for p in parts[at + 1 :] if first.fits(p)]
        for size in (2, 3):
            chosen = [first, *fits[: size - 1]]
            gap_s = next(gaps)
            if len(chosen) < size or sum(p.clip.duration_s for p in chosen) + 2 * gap_s > _MOST_S:
                continue
            if tried == most:
                return
            tried += 1
            case = _join(chosen, gap_s)
            spoken = join_words(p.case.text for p in chosen)
            if listener.check(case.clip, spoken, language=case.language).error_rate <= _UNDERSTOOD_ERROR_RATE:
                yield case


def measure_spans(cases: Sequence[SpanCase] | Iterator[SpanCase], listener: Listener) -> list[float | None]:
    """Error of every reported start, seconds, signed; None where the stretch was not found."""
    return [_error(listener.check(c.clip, c.text, language=c.language), c.kind, c.start_s) for c in cases]


def _error(check: TextCheck, kind: FaultKind, start_s: float) -> float | None:
    found = [f.span.start_s - start_s for f in check.faults if f.kind is kind]
    return min(found, key=abs, default=None)


@dataclass(frozen=True, slots=True)
class _Part:
    """A clip cut to its speech, and where in the cut the speech ends."""

    clip: Clip
    case: LintCase
    offset_s: float

    @classmethod
    def of(cls, clip: Clip, case: LintCase, listener: Listener) -> _Part:
        """The clip without the silence around its speech."""
        speech = listener.speech(clip)
        if not speech:
            return cls(clip, case, clip.duration_s)
        rate_hz, edged = clip.sample_rate_hz, speech_edges(clip, speech)
        start_s = max(0.0, edged[0].start_s - _EDGE_S)
        end_s = min(clip.duration_s, edged[-1].end_s + _EDGE_S)
        kept = clip.samples[seconds_to_samples(start_s, rate_hz) : seconds_to_samples(end_s, rate_hz)]
        return cls(_clip(clip, kept), case, float(edged[-1].end_s - start_s))

    def fits(self, other: _Part) -> bool:
        """The two can be joined, and their texts are in one language."""
        return (
            self.clip.sample_rate_hz == other.clip.sample_rate_hz
            and self.case.language == other.case.language
        )


def _join(parts: Sequence[_Part], gap_s: float) -> SpanCase:
    rate_hz = parts[0].clip.sample_rate_hz
    silence = np.zeros(seconds_to_samples(gap_s, rate_hz), dtype=np.float32)
    pieces: list[np.ndarray[tuple[int], np.dtype[np.float32]]] = []
    starts: list[int] = []
    for part in parts:
        if pieces:
            pieces.append(silence)
        starts.append(sum(len(p) for p in pieces))
        pieces.append(part.clip.samples)
    left_out = 1
    return SpanCase(
        clip=_clip(parts[0].clip, np.concatenate(pieces)),
        text=join_words(p.case.text for k, p in enumerate(parts) if k != left_out),
        language=parts[0].case.language,
        kind=FaultKind.TAIL if len(parts) == 2 else FaultKind.GAP,
        start_s=starts[left_out - 1] / rate_hz + parts[left_out - 1].offset_s,
        gap_s=gap_s,
    )


def _clip(like: Clip, samples: np.ndarray[tuple[int], np.dtype[np.float32]]) -> Clip:
    frozen = freeze(samples)
    return replace(like, id=pcm_sha256(frozen, like.sample_rate_hz), samples=frozen)
