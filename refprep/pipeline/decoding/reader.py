"""A source -> its blocks, by the decoder that reads its container best, with the checks that the container allows.

What is wrong with a file shows while its blocks are taken: only who took the last one knows that it is whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeVar

import numpy as np

from refprep.pipeline.decoding import av_reader, boxes, flac, ogg, riff, sndfile_reader
from refprep.pipeline.decoding.source import Source
from refprep.pipeline.decoding.stream import AudioStream, Block, to_float32
from refprep.types import Samples

# Their durations are claims of a tag or a guess; the others' are checked against the file before they are believed.
_UNRELIABLE_DURATION = frozenset({"mp3", "aac"})
_GROUP_SAMPLES = 1 << 16  # a frame of MP3 has 1152: work that numpy does on so few is mostly overhead

T = TypeVar("T")


class SecondChance(Exception):  # noqa: N818  # no error: the other decoder takes it, from the start
    """libsndfile failed within a file that libav may read, or explain better."""


@dataclass(frozen=True, slots=True)
class LengthLimit:
    """How long audio may be.

    Attributes:
        max_duration_s: Longer audio is refused: from the header where it says so, else while decoding.
        fix: What to do about it.
    """

    max_duration_s: float
    fix: str


def read_audio(
    source: Source, container: str, limit: LengthLimit, consume: Callable[[AudioStream], T]
) -> tuple[T, bool]:
    """Give a file's blocks to a function; once more, from the start, where the first decoder failed.

    Args:
        source: The file.
        container: As found by content.
        limit: Of its length.
        consume: Takes the blocks to the end; called again, it begins anew.

    Returns:
        What ``consume`` returned, and whether the second decoder read it.

    Raises:
        AudioDecodeError: No audio, truncated, damaged, or over the limit.
    """
    try:
        return consume(open_audio(source, container, limit)), False
    except SecondChance:
        return consume(open_audio(source, container, limit, is_second=True)), True


def open_audio(source: Source, container: str, limit: LengthLimit, *, is_second: bool = False) -> AudioStream:
    """Open a file; its blocks are decoded and checked as they are taken.

    Args:
        source: The file.
        container: As found by content.
        limit: Of its length.
        is_second: By the decoder that ``SecondChance`` asks for.

    Raises:
        AudioDecodeError: As ``read_audio``; some of it only while blocks are taken.
        SecondChance: Likewise.
    """
    if container in ("wav", "rf64"):
        return _limited(source, _open_wav(source, container), container, limit)
    if container == "flac":
        return _open_flac(source, limit, is_second=is_second)
    if container == "ogg":
        return _limited(source, _open_ogg(source), container, limit)
    boxes.refuse_truncated(source, container)
    try:
        if container not in sndfile_reader.CONTAINERS:
            raise sndfile_reader.NotForSndfile(container)
        stream = sndfile_reader.open_stream(source, source.stream, container)
    except sndfile_reader.NotForSndfile:
        stream = av_reader.open_stream(source, source.stream, container)
    return _limited(source, stream, container, limit)


def float_parts(blocks: Iterator[Block]) -> Iterator[tuple[Samples, bool]]:
    """Blocks of any kind as (T, C) float32, small ones put together; and whether that lost precision."""
    pending: list[Samples] = []
    num_pending, is_narrowed = 0, False
    for block in blocks:
        part, is_block_narrowed = to_float32(block)
        pending.append(part)
        num_pending += part.shape[0]
        is_narrowed = is_narrowed or is_block_narrowed
        if num_pending >= _GROUP_SAMPLES:
            yield (np.concatenate(pending) if len(pending) > 1 else part), is_narrowed
            pending, num_pending, is_narrowed = [], 0, False
    if pending:
        yield np.concatenate(pending), is_narrowed


def _open_wav(source: Source, container: str) -> AudioStream:
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
    return replace(stream, declared_duration_s=None) if layout.declared_bytes is None else stream


def _open_flac(source: Source, limit: LengthLimit, *, is_second: bool) -> AudioStream:
    info = flac.read_streaminfo(source)
    if is_second:
        stream = av_reader.open_stream(source, source.stream, "flac")
        if info.num_samples:
            stream = replace(stream, declared_duration_s=info.num_samples / info.sample_rate_hz)
    else:
        if not info.is_plain:  # libsndfile seeks to the end of a stream of unknown length, and fails
            raise SecondChance("streamed, or of an unusual depth")
        try:
            stream = sndfile_reader.open_stream(source, source.stream, "flac")
        except sndfile_reader.NotForSndfile as error:
            raise SecondChance(str(error)) from error
    stream = _limited(source, stream, "flac", limit)
    return replace(stream, blocks=_flac_blocks(source, stream, info, is_second=is_second))


def _flac_blocks(
    source: Source, stream: AudioStream, info: flac.StreamInfo, *, is_second: bool
) -> Iterator[Block]:
    """The blocks; behind the last one, what the header says of their number and checksum is held against them."""
    check = flac.Checksum(info)
    try:
        for block in stream.blocks:
            check.add(to_float32(block)[0])
            yield block
    except sndfile_reader.DecodeFailed as error:
        raise SecondChance(str(error)) from error
    if is_second and info.is_plain and check.num_samples >= info.num_samples and not any(info.md5):
        raise flac.damaged(source)  # libav plays over the gap, and no checksum speaks against it
    check.refuse_damaged(source)


def _open_ogg(source: Source) -> AudioStream:
    """Every link of a chain, one behind the other; they must agree in rate and channels."""
    links = ogg.split_links(source)
    codec = ogg.codec_of(source.read_at(0, 64))
    streams: list[AudioStream] = []
    for link in links:
        try:
            if codec != "vorbis":
                raise sndfile_reader.NotForSndfile(codec)
            streams.append(sndfile_reader.open_stream(source, link, "ogg"))
        except sndfile_reader.NotForSndfile:
            streams.append(av_reader.open_stream(source, link, "ogg"))
    first = streams[0]
    if any((s.sample_rate_hz, s.num_channels) != (first.sample_rate_hz, first.num_channels) for s in streams):
        raise source.error(
            "a chained Ogg file whose parts differ in rate or channels",
            fix="Export its parts as files of their own",
        )
    declared = [s.declared_duration_s for s in streams if s.declared_duration_s is not None]
    return replace(
        first,
        declared_duration_s=sum(declared) if len(declared) == len(streams) else None,
        blocks=chain.from_iterable(s.blocks for s in streams),
    )


def _limited(source: Source, stream: AudioStream, container: str, limit: LengthLimit) -> AudioStream:
    """The stream, refused where it is longer than the limit."""
    declared_s = stream.declared_duration_s
    if declared_s is not None and declared_s > limit.max_duration_s and container not in _UNRELIABLE_DURATION:
        raise _too_long(source, f"{declared_s:.0f} s long by its header", limit)
    return replace(stream, blocks=_limited_blocks(source, stream, container, limit))


def _limited_blocks(
    source: Source, stream: AudioStream, container: str, limit: LengthLimit
) -> Iterator[Block]:
    """The blocks; a failure within them becomes an error about the file (a FLAC file gets a second chance)."""
    num_samples = 0
    try:
        for block in stream.blocks:
            num_samples += block.shape[0]
            if num_samples > limit.max_duration_s * stream.sample_rate_hz:
                raise _too_long(source, "longer", limit)
            yield block
    except sndfile_reader.DecodeFailed as error:
        if container == "flac":
            raise
        raise source.error(
            f"the {container} file is damaged {num_samples / stream.sample_rate_hz:.2f} s in: {error}",
            fix="Copy or download it again",
        ) from error


def _too_long(source: Source, what: str, limit: LengthLimit) -> Exception:
    return source.error(
        f"the audio is {what}, over the limit of {limit.max_duration_s:.0f} s (max_duration_s)", fix=limit.fix
    )
