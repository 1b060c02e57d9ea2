"""Chosen clips -> one reference: the same samples, declared gaps, a declared tail."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refprep.errors import UsageError
from refprep.text.words import join_texts
from refprep.types import Clip, JoinedClip, Reference, SampleFormat, freeze

_POLICY = re.compile(r"zeros-([0-9]+)ms")
_WIDTH = {SampleFormat.PCM_16: 0, SampleFormat.PCM_24: 1, SampleFormat.FLOAT: 2}


@dataclass(frozen=True, slots=True)
class SilencePolicy:
    """A named stretch of silence, such as ``zeros-120ms``: what it is and how long."""

    name: str
    duration_ms: int

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return self.duration_ms / 1000

    def num_samples(self, sample_rate_hz: int) -> int:
        """Length in samples: nearest, halves to even. Counted from the milliseconds, which are exact."""
        return round(self.duration_ms * sample_rate_hz / 1000)

    @classmethod
    def parse(cls, name: str, *, option: str) -> SilencePolicy:
        """Read a policy's name.

        Raises:
            UsageError: Not a policy, or longer than two seconds.
        """
        match = _POLICY.fullmatch(name)
        if match is None or int(match.group(1)) > 2000:
            raise UsageError(
                f"{name!r} is no policy",
                where=option,
                fix="Write zeros-120ms: digital silence and its length, 0 to 2000 ms.",
            )
        return cls(name, int(match.group(1)))


def join_clips(
    clips: Sequence[Clip], texts: Sequence[str], *, gap: SilencePolicy, tail: SilencePolicy, language: str
) -> Reference:
    """Lay complete clips behind each other, sample for sample.

    Args:
        clips: In the order they are to be heard; one sample rate.
        texts: What each says.
        gap: Between two clips.
        tail: After the last one.
        language: BCP 47.

    Returns:
        A reference whose ``samples[start:end]`` of every clip equal the clip's samples bit for bit, in the narrowest
        format that holds them all.

    Raises:
        UsageError: No clips, a text too many or too few, or two sample rates.
    """
    if not clips or len(clips) != len(texts):
        raise UsageError(
            f"{len(clips)} clips and {len(texts)} texts",
            where="join",
            fix="Give one text for every clip, one clip at least.",
        )
    rates = sorted({c.sample_rate_hz for c in clips})
    if len(rates) > 1:
        raise UsageError(
            f"clips of {' and '.join(str(r) for r in rates)} Hz in one reference",
            where=clips[0].source.path,
            fix="Use clips of one rate, or --resample.",
        )
    rate_hz = rates[0]
    gap_samples = gap.num_samples(rate_hz)
    pieces: list[np.ndarray[tuple[int], np.dtype[np.float32]]] = []
    joined: list[JoinedClip] = []
    position = 0
    for index, (clip, text) in enumerate(zip(clips, texts, strict=True)):
        if index:
            pieces.append(np.zeros(gap_samples, dtype=np.float32))
            position += gap_samples
        pieces.append(clip.samples)
        joined.append(JoinedClip(clip.id, clip.source.path, position, position + clip.num_samples, text))
        position += clip.num_samples
    pieces.append(np.zeros(tail.num_samples(rate_hz), dtype=np.float32))
    return Reference(
        samples=freeze(np.concatenate(pieces)),
        sample_rate_hz=rate_hz,
        sample_format=max((c.source.sample_format for c in clips), key=_WIDTH.__getitem__),
        clips=tuple(joined),
        gap_policy=gap.name,
        tail_policy=tail.name,
        text=join_texts(texts),
        language=language,
    )
