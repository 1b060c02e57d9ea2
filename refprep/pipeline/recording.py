"""File -> Recording: audio of any length, of which only the part that is asked for is in memory.

The file is decoded twice, in blocks. The first pass tells what only the whole file tells: whether it is sound to its
end, how its channels become one, and in which format every sample fits. The second writes the one channel to a scratch
file, from which any part is read. A clip cut from a recording has the very samples that ``decode_file`` gives of the whole.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import BinaryIO

import numpy as np

from refprep.pipeline.decode import describe_source, narrowest_format, pcm_sha256
from refprep.pipeline.decoding.containers import find_container
from refprep.pipeline.decoding.downmix import Mixdown
from refprep.pipeline.decoding.reader import LengthLimit, float_parts, open_audio, read_audio
from refprep.pipeline.decoding.scan import AudioScan
from refprep.pipeline.decoding.source import Source, open_source
from refprep.pipeline.decoding.stream import AudioStream
from refprep.types import AudioSource, Clip, Downmix, SampleFormat, Samples, Span, freeze
from refprep.units import seconds_to_samples

MAX_DURATION_S = 24 * 3600.0
MAX_BYTES = 64 << 30
_LIMIT = LengthLimit(MAX_DURATION_S, "Cut it into parts of less than a day.")
_MARGIN_S = (
    1  # around a piece: a resampling filter reaches 4 ms, and rates are whole numbers of samples a second
)
_WIDTHS = (SampleFormat.PCM_16, SampleFormat.PCM_24, SampleFormat.FLOAT)

OnTime = Callable[[float], None]


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """One channel of audio, read in parts.

    Attributes:
        source: What the file was; of a clip in memory, that clip's.
        sample_rate_hz: The file's own.
        num_samples: Of the one channel.
        read: First sample, one past the last -> (T,) float32.
    """

    source: AudioSource
    sample_rate_hz: int
    num_samples: int
    read: Callable[[int, int], Samples]

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return self.num_samples / self.sample_rate_hz

    def cut(self, start: int, stop: int) -> Clip:
        """Samples ``start`` to ``stop`` as a clip of its own; beyond the end there are none."""
        samples = freeze(self.read(start, min(stop, self.num_samples)))
        return Clip(pcm_sha256(samples, self.sample_rate_hz), self.source, samples, self.sample_rate_hz)

    def cut_span(self, span: Span) -> Clip:
        """A span as a clip of its own."""
        return self.cut(
            seconds_to_samples(span.start_s, self.sample_rate_hz),
            seconds_to_samples(span.end_s, self.sample_rate_hz),
        )

    def around(self, span: Span) -> tuple[Clip, float]:
        """A span with at least a second on both sides, from a whole second on; and that second.

        From a whole second on, a change of rate has the same grid as one of the whole recording: what a model hears of
        the span does not depend on how it was cut out.
        """
        start_s = max(0, math.floor(span.start_s) - _MARGIN_S)
        stop_s = math.ceil(span.end_s) + _MARGIN_S
        return self.cut(start_s * self.sample_rate_hz, stop_s * self.sample_rate_hz), float(start_s)


def as_recording(clip: Clip) -> Recording:
    """A clip in memory, cut like a recording on disk."""
    return Recording(
        clip.source, clip.sample_rate_hz, clip.num_samples, lambda start, stop: clip.samples[start:stop]
    )


@contextmanager
def open_recording(
    path: str | Path, scratch: Path, *, on_time: Callable[[float, float | None], None] = lambda *_: None
) -> Iterator[Recording]:
    """Open a recording of minutes or hours.

    Args:
        path: A regular file of any audio or video container.
        scratch: A file that is written meanwhile and removed afterwards: 2 bytes a sample where 16 bits hold them all,
            else 4.
        on_time: Told up to where the file was looked through, and how long it is, seconds; None while that is unknown.

    Yields:
        The recording; the file itself is not needed any more.

    Raises:
        AudioDecodeError: As ``decode_file`` says, with where in the file a decoder failed; and where the file's audio
            was another one the second time.
        OSError: The disk refused.
    """
    try:
        with scratch.open("w+b") as spool:
            yield _spool(str(path), spool, on_time)
    finally:
        scratch.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class _FirstPass:
    """What only the whole file tells."""

    stream: AudioStream
    scan: AudioScan
    formats: tuple[SampleFormat, ...]  # of every channel, then of their mean
    is_narrowed: bool
    digest: bytes


def _spool(path: str, spool: BinaryIO, on_time: Callable[[float, float | None], None]) -> Recording:
    with open_source(path, max_bytes=MAX_BYTES, in_memory_bytes=0) as source:
        container = find_container(source)
        first, is_second = read_audio(source, container, _LIMIT, partial(_look_through, on_time=on_time))
        stream, num_samples = first.stream, first.scan.num_samples
        first.scan.refuse_unusable(source, stream.sample_rate_hz)
        mixdown = first.scan.mixdown()
        sample_format = first.formats[-1 if mixdown.downmix is Downmix.MEAN else mixdown.channel]
        dtype = np.dtype("<i2" if sample_format is SampleFormat.PCM_16 else "<f4")
        again = open_audio(source, container, _LIMIT, is_second=is_second)
        _write(source, again, mixdown, dtype, spool, first.digest)
        described = describe_source(
            source,
            container,
            stream,
            mixdown,
            sample_format=sample_format,
            num_samples=num_samples,
            is_narrowed=first.is_narrowed,
        )
    return Recording(described, stream.sample_rate_hz, num_samples, partial(_read_back, spool, dtype))


def _look_through(stream: AudioStream, *, on_time: Callable[[float, float | None], None]) -> _FirstPass:
    scan, digest, is_narrowed = AudioScan(stream.num_channels), hashlib.sha256(), False
    formats = (SampleFormat.PCM_16,) * (stream.num_channels + 1)
    mean = Mixdown(Downmix.MEAN, 0, (), None)
    for part, is_part_narrowed in float_parts(stream.blocks):
        scan.add(part)
        digest.update(np.ascontiguousarray(part).data)
        is_narrowed = is_narrowed or is_part_narrowed
        channels = [np.ascontiguousarray(part[:, c]) for c in range(stream.num_channels)]
        candidates = [*channels, mean.apply(part)] if stream.num_channels > 1 else channels * 2
        formats = tuple(
            max(f, narrowest_format(samples), key=_WIDTHS.index)
            for f, samples in zip(formats, candidates, strict=True)
        )
        on_time(scan.num_samples / stream.sample_rate_hz, stream.declared_duration_s)
    return _FirstPass(replace(stream, blocks=iter(())), scan, formats, is_narrowed, digest.digest())


def _write(
    source: Source,
    stream: AudioStream,
    mixdown: Mixdown,
    dtype: np.dtype[np.int16 | np.float32],
    spool: BinaryIO,
    digest: bytes,
) -> None:
    """Write the one channel; raise where it is not the audio that the first pass saw."""
    again = hashlib.sha256()
    for part, _ in float_parts(stream.blocks):
        again.update(np.ascontiguousarray(part).data)
        samples = mixdown.apply(part)
        if dtype.kind == "i":
            samples = samples * np.float32(2.0**15)  # exact: a power of two
        spool.write(samples.astype(dtype).tobytes())
    if again.digest() != digest:
        raise source.error(
            "the file changed while it was read: its audio is not what it was a moment ago",
            fix="Wait until it is fully written, then try again",
        )


def _read_back(spool: BinaryIO, dtype: np.dtype[np.int16 | np.float32], start: int, stop: int) -> Samples:
    spool.seek(start * dtype.itemsize)
    raw = np.frombuffer(spool.read(max(0, stop - start) * dtype.itemsize), dtype=dtype)
    if dtype.kind == "i":
        return raw.astype(np.float32) / np.float32(2.0**15)
    return raw.astype(np.float32)
