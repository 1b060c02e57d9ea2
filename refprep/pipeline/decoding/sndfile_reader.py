"""Decoding by libsndfile: PCM of every width, companded and ADPCM WAV, FLAC, Vorbis."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import BinaryIO

import soundfile

from refprep.pipeline.decoding.source import Source
from refprep.pipeline.decoding.stream import AudioStream, Block

# MP3 and Opus are left to libav: libmpg123 writes to stderr and stops where a lying Xing header says, and libsndfile
# gives Opus another rate in Ogg than libav in WebM.
CONTAINERS = frozenset({"wav", "rf64", "w64", "flac", "ogg", "aiff", "au", "caf", "nist", "voc"})
_LEFT_TO_AV = ("MPEG_LAYER", "OPUS")
_BLOCK_SAMPLES = 1 << 18
_DTYPES = {"PCM_32": "int32", "ALAC_32": "int32", "DOUBLE": "float64"}
_CODECS = {
    "PCM_S8": "pcm_s8",
    "PCM_U8": "pcm_u8",
    "PCM_16": "pcm_s16",
    "PCM_24": "pcm_s24",
    "PCM_32": "pcm_s32",
    "FLOAT": "pcm_f32",
    "DOUBLE": "pcm_f64",
    "ULAW": "pcm_mulaw",
    "ALAW": "pcm_alaw",
    "IMA_ADPCM": "adpcm_ima",
    "MS_ADPCM": "adpcm_ms",
    "VORBIS": "vorbis",
}


class _ClampedStream:
    """The stream, with seeks before its start clamped to it.

    libsndfile seeks there when a damaged header says so; an exception within its callback would reach nobody but stderr.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def read(self, num_bytes: int = -1) -> bytes:
        return self._stream.read(num_bytes)

    def tell(self) -> int:
        return self._stream.tell()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_CUR:
            offset += self._stream.tell()
        elif whence == os.SEEK_END:
            offset += self._stream.seek(0, os.SEEK_END)
        return self._stream.seek(max(0, offset))


class NotForSndfile(Exception):  # noqa: N818  # no error: the other decoder takes it
    """libsndfile does not read this, or not as we want it."""


class DecodeFailed(Exception):  # noqa: N818  # translated by the caller, which knows the container
    """libsndfile opened the file and failed within it."""


def open_stream(source: Source, stream: BinaryIO, container: str) -> AudioStream:
    """Open an audio stream.

    Args:
        source: The file, for messages.
        stream: Its bytes, or a repaired copy of them.
        container: As found by content.

    Raises:
        NotForSndfile: libsndfile has no decoder for it.
    """
    stream.seek(0)
    try:
        file = soundfile.SoundFile(_ClampedStream(stream))
    except (soundfile.LibsndfileError, TypeError) as error:
        raise NotForSndfile(str(error)) from error
    if file.subtype.startswith(_LEFT_TO_AV):
        file.close()
        raise NotForSndfile(file.subtype)
    return AudioStream(
        codec=_codec_name(file, container),
        sample_rate_hz=file.samplerate,
        num_channels=file.channels,
        declared_duration_s=file.frames / file.samplerate,
        blocks=_blocks(file),
    )


def _blocks(file: soundfile.SoundFile) -> Iterator[Block]:
    dtype = _DTYPES.get(file.subtype, "float32")
    with file:
        while True:
            try:
                block = file.read(_BLOCK_SAMPLES, dtype=dtype, always_2d=True)
            except soundfile.LibsndfileError as error:
                raise DecodeFailed(str(error)) from error
            if not len(block):
                return
            yield block


def _codec_name(file: soundfile.SoundFile, container: str) -> str:
    if container == "flac" or (container == "ogg" and file.subtype.startswith("PCM")):
        return "flac"
    subtype = str(file.subtype)
    name = _CODECS.get(subtype, subtype.lower())
    if name in ("pcm_s16", "pcm_s24", "pcm_s32", "pcm_f32", "pcm_f64"):
        is_big = file.endian == "BIG" or (file.endian == "FILE" and container in ("aiff", "au", "caf"))
        return f"{name}{'be' if is_big else 'le'}"
    return name
