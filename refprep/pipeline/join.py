"""Chosen clips -> one reference: the same samples, declared gaps, a declared tail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refprep.errors import UsageError
from refprep.pipeline.silence_policy import SilencePolicy
from refprep.text.words import join_texts
from refprep.types import Clip, JoinedClip, JoinedSilence, Reference, SampleFormat, Samples, Span, freeze
from refprep.units import seconds_to_samples

_WIDTH = {SampleFormat.PCM_16: 0, SampleFormat.PCM_24: 1, SampleFormat.FLOAT: 2}
_FROM_SPEECH_S = 0.03
"""Room tone keeps this far from speech: where voice activity ends a breath or a soft consonant may go on."""


@dataclass(frozen=True, slots=True)
class RoomTone:
    """A pause of one of the clips, as half-open samples of that clip."""

    clip: int
    start_sample: int
    end_sample: int


def join_clips(
    clips: Sequence[Clip],
    texts: Sequence[str],
    *,
    gap: SilencePolicy,
    tail: SilencePolicy,
    language: str,
    speech: Sequence[Sequence[Span]] = (),
    nested: Sequence[int] = (),
) -> Reference:
    """Lay complete clips behind each other, sample for sample.

    Args:
        clips: In the order they are to be heard; one sample rate.
        texts: What each says.
        gap: Between two clips.
        tail: After the last one, and after the last clip of every nested reference.
        language: BCP 47.
        speech: Voice activity of every clip; needed for room tone only.
        nested: Numbers of clips, rising: after so many of them a shorter reference ends. What follows there is the
            tail instead of the gap, so that the shorter reference is a prefix of this one, bit for bit.

    Returns:
        A reference whose ``samples[start:end]`` of every clip equal the clip's samples bit for bit, in the narrowest
        format that holds them all.

    Raises:
        UsageError: No clips, a text too many or too few, two sample rates, or no pause long enough for room tone.
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
    # Nested references share their room tone: it has to come from the shortest of them.
    tone = _find_tone(clips[: min(nested, default=len(clips))], speech, (gap, tail), rate_hz)
    pieces: list[Samples] = []
    joined: list[JoinedClip] = []
    silences: list[JoinedSilence] = []
    position = 0
    for index, (clip, text) in enumerate(zip(clips, texts, strict=True)):
        pieces.append(clip.samples)
        joined.append(JoinedClip(clip.id, clip.source.path, position, position + clip.num_samples, text))
        position += clip.num_samples
        is_end = index + 1 == len(clips) or index + 1 in nested
        policy = tail if is_end else gap
        silence = _silence(policy, clips, tone, rate_hz)
        pieces.append(silence)
        silences.append(JoinedSilence(policy.name, position, position + len(silence)))
        position += len(silence)
    return Reference(
        samples=freeze(np.concatenate(pieces)),
        sample_rate_hz=rate_hz,
        sample_format=max((c.source.sample_format for c in clips), key=_WIDTH.__getitem__),
        clips=tuple(joined),
        gap_policy=gap.name,
        tail_policy=tail.name,
        text=join_texts(texts),
        language=language,
        silences=tuple(silences),
        room_tone_sample=None if tone is None else joined[tone.clip].start_sample + tone.start_sample,
        nested=tuple(nested),
    )


def _silence(policy: SilencePolicy, clips: Sequence[Clip], tone: RoomTone | None, rate_hz: int) -> Samples:
    num_samples = policy.num_samples(rate_hz)
    if policy.kind == "zeros" or tone is None:
        return np.zeros(num_samples, dtype=np.float32)
    return clips[tone.clip].samples[tone.start_sample : tone.start_sample + num_samples]


def _find_tone(
    clips: Sequence[Clip],
    speech: Sequence[Sequence[Span]],
    policies: Sequence[SilencePolicy],
    rate_hz: int,
) -> RoomTone | None:
    """The quietest stretch without speech that is as long as the longest room tone asked for; None without one asked.

    Raises:
        UsageError: No clip has such a stretch.
    """
    needed = max((p.num_samples(rate_hz) for p in policies if p.kind == "room-tone"), default=0)
    if not needed:
        return None
    best: tuple[float, RoomTone] | None = None
    for index, clip in enumerate(clips):
        for start, stop in _pauses(clip, speech[index] if index < len(speech) else ()):
            if stop - start < needed:
                continue
            power = np.cumsum(np.concatenate([[0.0], clip.samples[start:stop].astype(np.float64) ** 2]))
            energy = power[needed:] - power[:-needed]
            at = int(np.argmin(energy))
            if best is None or energy[at] < best[0]:
                best = float(energy[at]), RoomTone(index, start + at, start + at + needed)
    if best is None:
        raise UsageError(
            f"no chosen clip has a pause of {1000 * needed / rate_hz:.0f} ms",
            where="room-tone",
            fix="Ask for a shorter room tone, such as room-tone-60ms, or for zeros-120ms.",
        )
    return best[1]


def _pauses(clip: Clip, speech: Sequence[Span]) -> list[tuple[int, int]]:
    """Stretches without speech, in samples, a little away from it; the whole clip where nobody told of any speech."""
    edges = [0]
    for span in speech:
        edges += [
            seconds_to_samples(span.start_s - _FROM_SPEECH_S, clip.sample_rate_hz),
            seconds_to_samples(span.end_s + _FROM_SPEECH_S, clip.sample_rate_hz),
        ]
    edges.append(clip.num_samples)
    found = zip(edges[::2], edges[1::2], strict=True)
    return [(max(0, a), min(b, clip.num_samples)) for a, b in found if b > a] if speech else []
