"""File -> Clip: any container, found by its content; one channel; the very samples, hashed.

libsndfile decodes what it can, libav the rest, both within this process: no ffmpeg program, no temporary file.
A file that is not whole is refused, because its text would no longer fit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from refprep.pipeline.decoding import av_reader, boxes, flac, ogg, riff, sndfile_reader
from refprep.pipeline.decoding.containers import extension_lies, find_container
from refprep.pipeline.decoding.downmix import to_mono
from refprep.pipeline.decoding.source import Source, open_source
from refprep.pipeline.decoding.stream import AudioStream, Block, to_float32
from refprep.types import AudioSource, Clip, SampleFormat, Samples, freeze

MAX_DURATION_S = 4 * 3600.0
MAX_BYTES = 4 << 30
# What recorders and archives use lies well within; a header beyond is damaged, and resampling it would take all memory.
RATES_HZ = (1_000, 768_000)
# Floats that somebody scaled as 32-bit integers reach 2^31. Beyond are bytes that are no samples, and their squares
# overflow.
LOUDEST = 2.0**40

_PCM_HASH_VERSION = 1
_STEP_SAMPLES = 1 << 20
# Their durations are claims of a tag or a guess; the others' are checked against the file before they are believed.
_UNRELIABLE_DURATION = frozenset({"mp3", "aac"})


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
        stream, channels, is_narrowed = _decode(source, container, max_duration_s)
        _refuse_unusable(source, channels, stream.sample_rate_hz)
        mono = to_mono(channels)
        samples = freeze(mono.samples)
        return Clip(
            id=pcm_sha256(samples, stream.sample_rate_hz),
            source=AudioSource(
                path=name,
                file_sha256=source.sha256,
                container=container,
                codec=stream.codec,
                sample_format=narrowest_format(samples),
                num_channels=stream.num_channels,
                declared_duration_s=stream.declared_duration_s,
                decoded_duration_s=samples.shape[0] / stream.sample_rate_hz,
                downmix=mono.downmix,
                channel_peaks=mono.peaks,
                extension_lies=extension_lies(name, container),
                is_narrowed=is_narrowed,
                channel_correlation=mono.correlation,
            ),
            samples=samples,
            sample_rate_hz=stream.sample_rate_hz,
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


def _decode(source: Source, container: str, max_duration_s: float) -> tuple[AudioStream, Samples, bool]:
    """Open, decode and check one file; (T, C) float32, and whether that lost precision."""
    if container in ("wav", "rf64"):
        return _decode_wav(source, container, max_duration_s)
    if container == "flac":
        return _decode_flac(source, max_duration_s)
    if container == "ogg":
        return _decode_ogg(source, max_duration_s)
    boxes.refuse_truncated(source, container)
    try:
        if container not in sndfile_reader.CONTAINERS:
            raise sndfile_reader.NotForSndfile(container)
        stream = sndfile_reader.open_stream(source, source.stream, container)
    except sndfile_reader.NotForSndfile:
        stream = av_reader.open_stream(source, source.stream, container)
    return stream, *_collect(source, stream, container, max_duration_s)


def _decode_wav(source: Source, container: str, max_duration_s: float) -> tuple[AudioStream, Samples, bool]:
    layout = riff.read_layout(source)
    riff.refuse_truncated(source, layout)
    content = source.stream
    if layout.has_unpadded_chunk:
        content = riff.plain_wav(source, layout)
    try:
        if layout.declared_bytes is None:
            # libsndfile takes a data size of 0 for an empty file; libav reads on to the end.
            raise sndfile_reader.NotForSndfile("streamed")
        stream = sndfile_reader.open_stream(source, content, container)
    except sndfile_reader.NotForSndfile:
        stream = av_reader.open_stream(source, content, container)
    if layout.declared_bytes is None:
        stream = replace(stream, declared_duration_s=None)
    return stream, *_collect(source, stream, container, max_duration_s)


def _decode_flac(source: Source, max_duration_s: float) -> tuple[AudioStream, Samples, bool]:
    info = flac.read_streaminfo(source)
    try:
        if not info.is_plain:  # libsndfile seeks to the end of a stream of unknown length, and fails
            raise sndfile_reader.NotForSndfile("streamed, or of an unusual depth")
        stream = sndfile_reader.open_stream(source, source.stream, "flac")
        channels, is_narrowed = _collect(source, stream, "flac", max_duration_s)
    except (sndfile_reader.NotForSndfile, sndfile_reader.DecodeFailed) as error:
        stream = av_reader.open_stream(source, source.stream, "flac")
        if info.num_samples:
            stream = replace(stream, declared_duration_s=info.num_samples / info.sample_rate_hz)
        channels, is_narrowed = _collect(source, stream, "flac", max_duration_s)
        if info.is_plain and channels.shape[0] >= info.num_samples and not any(info.md5):
            raise flac.damaged(
                source
            ) from error  # libav plays over the gap, and no checksum speaks against it
    flac.refuse_damaged(source, info, channels)
    return stream, channels, is_narrowed


def _decode_ogg(source: Source, max_duration_s: float) -> tuple[AudioStream, Samples, bool]:
    """Decode every link of a chain; they must agree in rate and channels."""
    links = ogg.split_links(source)
    codec = ogg.codec_of(links[0].read(64))
    streams: list[AudioStream] = []
    parts: list[Samples] = []
    is_narrowed = False
    for link in links:
        try:
            if codec != "vorbis":
                raise sndfile_reader.NotForSndfile(codec)
            stream = sndfile_reader.open_stream(source, link, "ogg")
        except sndfile_reader.NotForSndfile:
            stream = av_reader.open_stream(source, link, "ogg")
        streams.append(stream)
        left_s = max_duration_s - sum(p.shape[0] for p in parts) / stream.sample_rate_hz
        part, is_part_narrowed = _collect(source, stream, "ogg", left_s, limit_s=max_duration_s)
        parts.append(part)
        is_narrowed = is_narrowed or is_part_narrowed
    first = streams[0]
    if any((s.sample_rate_hz, s.num_channels) != (first.sample_rate_hz, first.num_channels) for s in streams):
        raise source.error(
            "a chained Ogg file whose parts differ in rate or channels",
            fix="Export its parts as files of their own",
        )
    declared = [s.declared_duration_s for s in streams if s.declared_duration_s is not None]
    whole = AudioStream(
        codec=first.codec,
        sample_rate_hz=first.sample_rate_hz,
        num_channels=first.num_channels,
        declared_duration_s=sum(declared) if len(declared) == len(streams) else None,
        blocks=iter(()),
    )
    return whole, np.concatenate(parts), is_narrowed


def _collect(
    source: Source,
    stream: AudioStream,
    container: str,
    max_duration_s: float,
    *,
    limit_s: float | None = None,
) -> tuple[Samples, bool]:
    """Take all blocks, (T, C) float32, unless there are more than ``max_duration_s`` of them."""
    limit_s = max_duration_s if limit_s is None else limit_s
    declared_s = stream.declared_duration_s
    if declared_s is not None and declared_s > max_duration_s and container not in _UNRELIABLE_DURATION:
        raise _too_long(source, f"{declared_s:.0f} s long by its header", limit_s)
    parts, num_samples, is_narrowed = [], 0, False
    for block in _translated(source, stream.blocks, container):
        part, is_block_narrowed = to_float32(block)
        num_samples += part.shape[0]
        if num_samples > max_duration_s * stream.sample_rate_hz:
            raise _too_long(source, "longer", limit_s)
        parts.append(part)
        is_narrowed = is_narrowed or is_block_narrowed
    channels = np.concatenate(parts) if parts else np.zeros((0, stream.num_channels), dtype=np.float32)
    return channels, is_narrowed


def _translated(source: Source, blocks: Iterator[Block], container: str) -> Iterator[Block]:
    """The blocks; a failure within them becomes an error about the file (a FLAC file gets a second chance)."""
    try:
        yield from blocks
    except sndfile_reader.DecodeFailed as error:
        if container == "flac":
            raise
        raise source.error(
            f"the {container} file is damaged: {error}", fix="Copy or download it again"
        ) from error


def _too_long(source: Source, what: str, limit_s: float) -> Exception:
    return source.error(
        f"the audio is {what}, over the limit of {limit_s:.0f} s (max_duration_s)",
        fix="Cut it into utterances with `refprep split`, or raise the limit",
    )


def _refuse_unusable(source: Source, channels: Samples, sample_rate_hz: int) -> None:
    if channels.shape[0] == 0:
        raise source.error("the file holds no samples", fix="Record or export it again")
    if not RATES_HZ[0] <= sample_rate_hz <= RATES_HZ[1]:
        raise source.error(
            f"{sample_rate_hz} samples a second are no sample rate of audio",
            fix="The header is damaged: copy, download or export the file again",
        )
    for is_bad, kind in (
        (np.isnan, "NaN (not a number)"),
        (np.isinf, "infinite"),
        (_is_absurd, "beyond any level of sound"),
    ):
        bad = is_bad(channels).any(axis=1)
        if bad.any():
            first_s = float(np.argmax(bad)) / sample_rate_hz
            raise source.error(
                f"{int(bad.sum())} of {bad.shape[0]} samples are {kind}, the first at {first_s:.3f} s",
                fix="Export it again from the original recording",
            )


def _is_absurd(samples: Samples) -> NDArray[np.bool_]:
    return (samples > LOUDEST) | (samples < -LOUDEST)


__all__ = ["MAX_BYTES", "MAX_DURATION_S", "decode_file", "narrowest_format", "pcm_sha256"]
