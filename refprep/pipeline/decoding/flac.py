"""The STREAMINFO block of a FLAC file: how many samples there should be, and the MD5 they should have (RFC 9639)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from refprep.pipeline.decoding import mpeg
from refprep.pipeline.decoding.source import Source
from refprep.types import Samples

_WHOLE_BYTE_BITS = (8, 16, 24)  # what libsndfile decodes too


@dataclass(frozen=True, slots=True)
class StreamInfo:
    """What the header declares.

    Attributes:
        num_samples: For each channel; 0 where the writer did not know.
        md5: Of the interleaved integer samples; all zero where the writer did not compute it.
    """

    sample_rate_hz: int
    num_channels: int
    bits_per_sample: int
    num_samples: int
    md5: bytes

    @property
    def is_plain(self) -> bool:
        """Of known length and of a depth that every decoder knows: one that fails on it says that it is damaged."""
        return self.num_samples > 0 and self.bits_per_sample in _WHOLE_BYTE_BITS


def read_streaminfo(source: Source) -> StreamInfo:
    """Read the header, behind an ID3 tag if there is one.

    Raises:
        AudioDecodeError: The file ends within its header.
    """
    start = 0
    while (head := source.read_at(start, 10))[:3] == b"ID3":
        start += mpeg.id3_size(head)
    block = source.read_at(start, 42)
    if len(block) < 42:
        raise source.error(
            "the FLAC file is truncated within its header", fix="Copy or download the file again"
        )
    # RFC 9639 section 8.2: 20 bits rate, 3 bits channels - 1, 5 bits depth - 1, 36 bits samples, 128 bits MD5.
    packed = int.from_bytes(block[18:26], "big")
    return StreamInfo(
        sample_rate_hz=packed >> 44,
        num_channels=((packed >> 41) & 7) + 1,
        bits_per_sample=((packed >> 36) & 31) + 1,
        num_samples=packed & ((1 << 36) - 1),
        md5=block[26:42],
    )


class Checksum:
    """What was decoded, counted and hashed block by block, to hold it against what the header declares.

    Args:
        info: The header.
    """

    def __init__(self, info: StreamInfo) -> None:
        self.num_samples = 0
        self._info = info
        self._has_md5 = any(info.md5) and info.bits_per_sample in _WHOLE_BYTE_BITS
        self._digest = hashlib.md5(usedforsecurity=False)

    def add(self, channels: Samples) -> None:
        """Count a block, (T, C) float32 as decoded."""
        self.num_samples += channels.shape[0]
        if not self._has_md5:
            return
        # Interleaved little-endian integers of whole bytes (RFC 9639 section 8.2).
        bits = self._info.bits_per_sample
        step = 1 << 18
        for start in range(0, channels.shape[0], step):
            scaled = channels[start : start + step].astype(np.float64) * 2.0 ** (bits - 1)
            integers = np.rint(scaled).astype("<i4").reshape(-1, 1)
            self._digest.update(np.ascontiguousarray(integers.view(np.uint8)[:, : bits // 8]).tobytes())

    def refuse_damaged(self, source: Source) -> None:
        """Raise when this is not what the encoder saw.

        Raises:
            AudioDecodeError: Samples are missing, or they are others.
        """
        if self._info.num_samples > self.num_samples:
            raise truncated(source, self._info, self.num_samples)
        if self._has_md5 and self._digest.digest() != self._info.md5:
            raise damaged(source)


def truncated(source: Source, info: StreamInfo, num_decoded: int) -> Exception:
    """The error for a file that ends early."""
    return source.error(
        f"the file is truncated: its header declares {info.num_samples / info.sample_rate_hz:.3f} s, "
        f"{num_decoded / info.sample_rate_hz:.3f} s are present",
        fix="Copy or download it again",
    )


def damaged(source: Source) -> Exception:
    """The error for a file with wrong bytes in it."""
    return source.error(
        "the FLAC file is damaged: what decodes is not what was encoded (checksum)",
        fix="Copy or download it again",
    )
