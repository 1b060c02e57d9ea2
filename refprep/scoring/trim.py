"""An output without the words of the reference that leaked into it."""

from __future__ import annotations

import contextlib
import os
import uuid
from dataclasses import replace
from pathlib import Path

import numpy as np

from refprep.errors import MachineError, UsageError
from refprep.pipeline.decode import narrowest_format, pcm_sha256
from refprep.pipeline.wav import write_wav
from refprep.scoring.output import kept_span
from refprep.types import Clip, OutputScore, Samples, freeze
from refprep.units import seconds_to_samples

_SEARCH_S = 0.005


def trim_leaks(clip: Clip, score: OutputScore) -> Clip:
    """Cut the leaked words off, each at the zero crossing nearest to its cut; the samples that stay are untouched.

    Args:
        clip: The output that was scored.
        score: Of it.

    Returns:
        The clip itself where nothing leaked.

    Raises:
        UsageError: Nothing would be left.
    """
    if not score.leaks:
        return clip
    rate_hz, span = clip.sample_rate_hz, kept_span(clip.duration_s, score.leaks)
    start = _zero_crossing(clip.samples, seconds_to_samples(span.start_s, rate_hz), rate_hz)
    end = _zero_crossing(clip.samples, seconds_to_samples(span.end_s, rate_hz), rate_hz)
    if end <= start:
        raise UsageError(
            "nothing but words of the reference is in it", where=clip.source.path, fix="Synthesise it again."
        )
    samples = freeze(clip.samples[start:end])
    return replace(clip, id=pcm_sha256(samples, rate_hz), samples=samples)


def write_trimmed(clip: Clip, path: Path) -> None:
    """Write a trimmed clip as WAV: whole, or not at all.

    Raises:
        MachineError: The disk refused.
    """
    temporary = path.with_name(f".{path.name}.refprep-{os.getpid()}-{uuid.uuid4().hex[:8]}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_wav(temporary, clip.samples, clip.sample_rate_hz, narrowest_format(clip.samples))
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise MachineError(
            f"it cannot be written: {error.strerror or error}",
            where=str(path),
            fix="Check free space and permissions; what was there before is untouched.",
        ) from error


def _zero_crossing(samples: Samples, at: int, rate_hz: int) -> int:
    """The sample nearest to ``at`` before which the sign changes; ``at`` where none does within 5 ms, or at an end."""
    if at <= 0 or at >= samples.shape[0]:
        return min(max(at, 0), int(samples.shape[0]))
    reach = seconds_to_samples(_SEARCH_S, rate_hz)
    first, last = max(1, at - reach), min(samples.shape[0], at + reach + 1)
    crossings = first + np.flatnonzero(
        np.signbit(samples[first:last]) != np.signbit(samples[first - 1 : last - 1])
    )
    if not crossings.size:
        return at
    return int(crossings[int(np.argmin(np.abs(crossings - at)))])
