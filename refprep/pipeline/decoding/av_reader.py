"""Decoding by libav through PyAV, in this process: MP3, Opus, AAC, and audio inside video."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream as AvStream
from av.container import InputContainer

from refprep.errors import AudioDecodeError
from refprep.pipeline.decoding import mpeg
from refprep.pipeline.decoding.containers import HEAD_BYTES
from refprep.pipeline.decoding.source import Source
from refprep.pipeline.decoding.stream import AudioStream, Block

# Named, never probed: a probed playlist (HLS, concat) would make libav open other files and URLs.
_DEMUXERS = {
    "wav": "wav",
    "rf64": "wav",
    "w64": "w64",
    "flac": "flac",
    "ogg": "ogg",
    "mp3": "mp3",
    "aac": "aac",
    "mp4": "mov",
    "mov": "mov",
    "webm": "matroska",
    "mkv": "matroska",
    "avi": "avi",
    "aiff": "aiff",
    "au": "au",
    "caf": "caf",
    "nist": "nistsphere",
    "voc": "voc",
    "asf": "asf",
    "flv": "flv",
    "amr": "amr",
    "ac3": "ac3",
    "wavpack": "wv",
    "ape": "ape",
    "tta": "tta",
    "mpegts": "mpegts",
    "mpegps": "mpeg",
}
# Their demuxers guess a duration from the bit rate; a guess is no claim of the header.
_NO_DECLARED_DURATION = frozenset({"aac", "amr", "ac3", "mpegts", "mpegps"})
_FIX = "Export it again as WAV or FLAC"
_SCALES = {"u8": 2.0**7, "s16": 2.0**15}


def open_stream(source: Source, stream: BinaryIO, container: str) -> AudioStream:
    """Open the first audio stream of a file.

    Args:
        source: The file, for messages.
        stream: Its bytes, or a part of them.
        container: As found by content.

    Raises:
        AudioDecodeError: No audio stream, no decoder for it, or a damaged header.
    """
    # Before the demuxer owns the position in the stream: reading through it later would move it.
    mp3_s = _declared_mp3_s(source) if container == "mp3" else None
    stream.seek(0)
    try:
        opened = av.open(stream, "r", format=_DEMUXERS[container])
    except (av.FFmpegError, ValueError) as error:
        raise _translate(source, container, error) from error
    if not opened.streams.audio:
        kind = "a video" if opened.streams.video else f"a file ({container})"
        opened.close()
        raise source.error(f"{kind} without an audio stream", fix="Name a file that has sound")
    track = opened.streams.audio[0]
    if getattr(track, "codec_context", None) is None:  # whatever the type stubs say
        opened.close()
        raise source.error(f"there is no decoder for the audio of this {container} file", fix=_FIX)
    declared_s = mp3_s if container == "mp3" else _declared_s(opened, track)
    codec = track.codec_context.name.removesuffix("float")
    # The first frame knows better than the header: implicit SBR doubles the rate that an AAC header names.
    frames = _frames(source, opened, track)
    first = next(frames, None)
    if first is None:
        return AudioStream(codec, 1, 1, declared_s, iter(()))
    return AudioStream(
        codec=codec,
        sample_rate_hz=first.sample_rate,
        num_channels=first.layout.nb_channels,
        declared_duration_s=None if container in _NO_DECLARED_DURATION else declared_s,
        blocks=_blocks(source, first, frames),
    )


def _blocks(source: Source, first: AudioFrame, others: Iterator[AudioFrame]) -> Iterator[Block]:
    rate_hz, num_channels = first.sample_rate, first.layout.nb_channels
    for frame in chain((first,), others):
        if frame.sample_rate != rate_hz or frame.layout.nb_channels != num_channels:
            raise source.error(
                f"its format changes in the middle, from {rate_hz} Hz and {num_channels} channel(s) "
                f"to {frame.sample_rate} Hz and {frame.layout.nb_channels}",
                fix="Split it where the format changes, or export it again as WAV",
            )
        yield _to_block(source, frame)


def _frames(source: Source, opened: InputContainer, track: AvStream) -> Iterator[AudioFrame]:
    decoded_s, num_bad, first_bad_s = 0.0, 0, 0.0
    with opened:
        try:
            for packet in opened.demux(track):
                try:
                    frames = packet.decode()
                except (av.InvalidDataError, av.EOFError):
                    first_bad_s = first_bad_s if num_bad else decoded_s
                    num_bad += 1
                    continue
                if frames and num_bad:
                    # Bad packets behind the last good one are a cut last frame or a tag; in the middle, speech is lost.
                    raise source.error(
                        f"the file is damaged {first_bad_s:.2f} s in: {num_bad} packet(s) do not decode",
                        fix="Copy or download it again",
                    )
                for frame in frames:
                    decoded_s += frame.samples / frame.sample_rate
                    yield frame
        except av.FFmpegError as error:
            raise source.error(
                f"decoding failed {decoded_s:.2f} s in: {error.strerror}", fix="Copy or download it again"
            ) from error
    if num_bad and not decoded_s:
        raise source.error(f"none of its {num_bad} packets decodes", fix="Copy or download it again")


def _to_block(source: Source, frame: AudioFrame) -> Block:
    kind = frame.format.name.removesuffix("p")
    if kind not in (*_SCALES, "s32", "flt", "dbl"):
        # Asked before numpy is: PyAV raises a bare ValueError for formats numpy has no type for (s64).
        raise source.error(f"its sample format {frame.format.name} is not supported", fix=_FIX)
    array = frame.to_ndarray()
    block: Block = array.T if frame.format.is_planar else array.reshape(-1, frame.layout.nb_channels)
    if kind in _SCALES:
        offset = 128.0 if kind == "u8" else 0.0
        return ((block.astype(np.float32) - np.float32(offset)) / np.float32(_SCALES[kind])).astype(
            np.float32
        )
    return block


def _declared_s(opened: InputContainer, track: AvStream) -> float | None:
    if track.duration is not None and track.time_base is not None:
        return float(track.duration * track.time_base)
    # The duration of the whole container is that of the longest stream: beside a picture it says nothing of the sound.
    return opened.duration / 1e6 if opened.duration and not opened.streams.video else None


def _declared_mp3_s(source: Source) -> float | None:
    """Without a Xing header libav would answer with a guess from the bit rate."""
    start, head = 0, source.read_at(0, HEAD_BYTES)
    while head.startswith(b"ID3"):
        start += mpeg.id3_size(head)
        head = source.read_at(start, HEAD_BYTES)
    return mpeg.declared_mp3_s(head)


def _translate(source: Source, container: str, error: Exception) -> AudioDecodeError:
    reason = getattr(error, "strerror", None) or str(error)
    if container in ("mp4", "mov") and b"moov" not in source.read_at(0, source.size_bytes):
        return source.error(
            "the file is truncated: its index (moov) is missing",
            fix="Record or download it again, to the end",
        )
    return source.error(f"the {container} file is damaged: {reason}", fix="Copy or download it again")
