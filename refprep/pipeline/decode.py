"""File -> Clip: any container, found by its content; one channel; the very samples, hashed.

libsndfile decodes what it can, libav the rest, both within this process: no ffmpeg program, no temporary file.
A file that is not whole is refused, because its text would no longer fit.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from refprep.pipeline.decoding.containers import extension_lies, find_container
from refprep.pipeline.decoding.downmix import Mixdown
from refprep.pipeline.decoding.reader import LengthLimit, float_parts, read_audio
from refprep.pipeline.decoding.scan import AudioScan
from refprep.pipeline.decoding.source import Source, open_source
from refprep.pipeline.decoding.stream import AudioStream
from refprep.types import AudioSource, Clip, SampleFormat, Samples, freeze

MAX_DURATION_S = 4 * 3600.0
MAX_BYTES = 4 << 30

_PCM_HASH_VERSION = 1
_STEP_SAMPLES = 1 << 20
_FIX_LENGTH = "Cut it into utterances with `refprep split`, or raise the limit"


def decode_file(
    path: str | Path, *, max_duration_s: float = MAX_DURATION_S, max_bytes: int = MAX_BYTES
) -> Clip:
    """Decode a file to mono audio at its own rate.

    Args:
        path: A regular file of any audio or video container; its name's extension is not trusted.
        max_duration_s: Longer audio is refused: from the header where it says so, else while decoding.
        max_bytes: A larger file is refused before it is read.

    Returns:
        The clip. 8, 16 and 24-bit PCM and 32-bit floats keep their values exactly (16-bit: x / 2^15, 24-bit: x / 2^23).
        The same bytes give the same ``id``, always.

    Raises:
        AudioDecodeError: Not a readable file, no audio, truncated or damaged, without samples, with NaN or infinite
            samples, of no usual rate, or over a limit. Silence is no error: it is a finding of ``refprep lint``.
    """
    name = str(path)
    with open_source(name, max_bytes=max_bytes) as source:
        container = find_container(source)
        whole, _ = read_audio(source, container, LengthLimit(max_duration_s, _FIX_LENGTH), _collect)
        stream = whole.stream
        whole.scan.refuse_unusable(source, stream.sample_rate_hz)
        mixdown = whole.scan.mixdown()
        samples = freeze(mixdown.apply(whole.channels))
        return Clip(
            id=pcm_sha256(samples, stream.sample_rate_hz),
            source=describe_source(
                source,
                container,
                stream,
                mixdown,
                sample_format=narrowest_format(samples),
                num_samples=samples.shape[0],
                is_narrowed=whole.is_narrowed,
            ),
            samples=samples,
            sample_rate_hz=stream.sample_rate_hz,
        )


def describe_source(
    source: Source,
    container: str,
    stream: AudioStream,
    mixdown: Mixdown,
    *,
    sample_format: SampleFormat,
    num_samples: int,
    is_narrowed: bool,
) -> AudioSource:
    """What a file turned out to be, when all of it was decoded."""
    return AudioSource(
        path=source.path,
        file_sha256=source.sha256,
        container=container,
        codec=stream.codec,
        sample_format=sample_format,
        num_channels=stream.num_channels,
        declared_duration_s=stream.declared_duration_s,
        decoded_duration_s=num_samples / stream.sample_rate_hz,
        downmix=mixdown.downmix,
        channel_peaks=mixdown.peaks,
        extension_lies=extension_lies(source.path, container),
        is_narrowed=is_narrowed,
        channel_correlation=mixdown.correlation,
    )


def pcm_sha256(samples: Samples, sample_rate_hz: int) -> str:
    """Name audio by its content.

    SHA-256 over the ASCII line ``refprep-pcm/1 f32le mono {rate}`` with a newline, then every sample as a
    little-endian float32. Negative zero counts as zero: it sounds the same and codecs are free to write either.

    Args:
        samples: (T,) float32.
        sample_rate_hz: The same samples at another rate are other audio.

    Returns:
        64 hex digits.
    """
    digest = hashlib.sha256(f"refprep-pcm/{_PCM_HASH_VERSION} f32le mono {sample_rate_hz}\n".encode("ascii"))
    for start in range(0, samples.shape[0], _STEP_SAMPLES):
        # -0.0 + 0.0 is 0.0 (IEEE 754 section 6.3); every other number stays.
        digest.update((samples[start : start + _STEP_SAMPLES] + np.float32(0.0)).astype("<f4").tobytes())
    return digest.hexdigest()


def narrowest_format(samples: Samples) -> SampleFormat:
    """The narrowest stored format that holds every sample of (T,) float32 exactly."""
    for sample_format, bits in ((SampleFormat.PCM_16, 16), (SampleFormat.PCM_24, 24)):
        if all(
            _fits(samples[i : i + _STEP_SAMPLES], bits) for i in range(0, samples.shape[0], _STEP_SAMPLES)
        ):
            return sample_format
    return SampleFormat.FLOAT


def _fits(samples: Samples, bits: int) -> bool:
    scale = np.float32(2.0 ** (bits - 1))
    if np.max(samples, initial=0.0) >= 1.0 or np.min(samples, initial=0.0) < -1.0:
        return False
    scaled = samples * scale  # exact: a power of two
    return bool(np.array_equal(scaled, np.rint(scaled)))


@dataclass(frozen=True, slots=True, eq=False)
class _Whole:
    """All of a file: (T, C) float32, and what was seen in it."""

    stream: AudioStream
    scan: AudioScan
    channels: Samples
    is_narrowed: bool


def _collect(stream: AudioStream) -> _Whole:
    scan, parts, is_narrowed = AudioScan(stream.num_channels), [], False
    for part, is_part_narrowed in float_parts(stream.blocks):
        scan.add(part)
        parts.append(part)
        is_narrowed = is_narrowed or is_part_narrowed
    channels = np.concatenate(parts) if parts else np.zeros((0, stream.num_channels), dtype=np.float32)
    return _Whole(stream, scan, channels, is_narrowed)


__all__ = [
    "MAX_BYTES",
    "MAX_DURATION_S",
    "decode_file",
    "describe_source",
    "narrowest_format",
    "pcm_sha256",
]
