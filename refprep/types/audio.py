"""What a file turned out to be."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from refprep.types.arrays import Samples


class SampleFormat(enum.StrEnum):
    """The narrowest stored format that holds every decoded sample exactly."""

    PCM_16 = "PCM_16"
    PCM_24 = "PCM_24"
    FLOAT = "FLOAT"


class Downmix(enum.StrEnum):
    """How a file's channels became one."""

    NONE = "none"  # one channel in the file
    IDENTICAL = "identical"  # all channels equal, sample for sample: the first is kept
    LIVE_CHANNEL = "live-channel"  # the others are silent: the one with signal is kept
    INVERTED = "inverted"  # one is the negative of the other: the first is kept, a mean would cancel
    MEAN = "mean"  # arithmetic mean


@dataclass(frozen=True, slots=True)
class AudioSource:
    """What a file turned out to be when it was decoded.

    Attributes:
        path: As the caller gave it.
        file_sha256: Of the bytes on disk.
        container: Found by content: ``wav``, ``flac``, ``mp3``, ``ogg``, ``mp4``, ``webm``, ...
        codec: ``pcm_s16le``, ``flac``, ``mp3``, ``vorbis``, ``opus``, ``aac``, ...
        sample_format: Narrowest format that holds every sample.
        num_channels: In the file, before the downmix.
        declared_duration_s: What the header claims; None where it claims nothing.
        decoded_duration_s: What came out.
        downmix: How the channels became one.
        channel_peaks: Largest absolute sample of every channel, full scale at 1.0.
        extension_lies: The name's extension belongs to another container.
        is_narrowed: The file's samples (32-bit integer, 64-bit float) do not all fit float32.
        channel_correlation: Lowest correlation of the first channel with another, -1 to 1; None for one channel.
    """

    path: str
    file_sha256: str
    container: str
    codec: str
    sample_format: SampleFormat
    num_channels: int
    declared_duration_s: float | None
    decoded_duration_s: float
    downmix: Downmix
    channel_peaks: tuple[float, ...]
    extension_lies: bool = False
    is_narrowed: bool = False
    channel_correlation: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Clip:
    """Decoded mono audio at the file's own rate.

    Attributes:
        id: SHA-256 of the canonical PCM (``refprep.pipeline.decode.pcm_sha256``).
        source: What the file was.
        samples: (T,) float32, read-only.
        sample_rate_hz: Of ``samples``.
    """

    id: str
    source: AudioSource
    samples: Samples
    sample_rate_hz: int

    @property
    def num_samples(self) -> int:
        """Length in samples."""
        return int(self.samples.shape[0])

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return self.num_samples / self.sample_rate_hz
