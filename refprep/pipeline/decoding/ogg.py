"""The pages of an Ogg file: whole, undamaged, and split where one stream is chained behind another.

Decoders skip a damaged page without a word and stop at the first link of a chain; both lose speech (RFC 3533).
"""

from __future__ import annotations

import struct
import zlib
from typing import BinaryIO

from refprep.pipeline.decoding.source import Source

_BIT_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
_BEGIN, _END = 0x02, 0x04


def split_links(source: Source) -> list[BinaryIO]:
    """Check every page and cut the file into its chained streams.

    Returns:
        One complete Ogg file for every link; a single one when nothing is chained.

    Raises:
        AudioDecodeError: The last page is cut off, or a page's checksum does not match.
    """
    starts, offset, was_begin = [0], 0, True
    while offset < source.size_bytes:
        header = source.read_at(offset, 27)
        if header[:4] != b"OggS":
            offset = _next_page(source, offset)
            continue
        if len(header) < 27:
            raise _truncated(source)
        lacing = source.read_at(offset + 27, header[26])
        num_bytes = 27 + len(lacing) + sum(lacing)
        page = source.read_at(offset, num_bytes)
        if len(lacing) < header[26] or len(page) < num_bytes:
            raise _truncated(source)
        if page_checksum(page) != struct.unpack("<I", page[22:26])[0]:
            raise source.error(
                f"the Ogg page at byte {offset} is damaged (its checksum does not match)",
                fix="Copy or download the file again",
            )
        is_begin = bool(header[5] & _BEGIN)
        if is_begin and not was_begin:
            starts.append(offset)
        was_begin = is_begin
        offset += num_bytes
    ends = [*starts[1:], source.size_bytes]
    return [source.excerpt(a, b) for a, b in zip(starts, ends, strict=True)]


def page_checksum(page: bytes) -> int:
    """CRC-32 of a page with its own checksum field zeroed (RFC 3533: polynomial 0x04c11db7, not reflected).

    zlib computes the reflected form at C speed: reversing the bits of every byte, and of the result, turns one into the other.
    """
    blank = page[:22] + b"\0\0\0\0" + page[26:]
    reflected = zlib.crc32(blank.translate(_BIT_REVERSED), 0xFFFFFFFF) ^ 0xFFFFFFFF
    return int.from_bytes(reflected.to_bytes(4, "little").translate(_BIT_REVERSED), "big")


def codec_of(head: bytes) -> str:
    """Codec of the first stream: ``vorbis``, ``opus``, ``flac``, ``speex``, ``video`` (Theora), or ``unknown``."""
    packet = head[28:40]
    for magic, codec in (
        (b"OpusHead", "opus"),
        (b"\x01vorbis", "vorbis"),
        (b"\x7fFLAC", "flac"),
        (b"Speex", "speex"),
    ):
        if packet.startswith(magic):
            return codec
    return "video" if packet.startswith((b"\x80theora", b"fishead")) else "unknown"


def _next_page(source: Source, offset: int) -> int:
    """Where the next page starts: junk between pages is damage, junk behind the last one (a tag) is not."""
    rest = source.read_at(offset, source.size_bytes - offset)
    if b"OggS" in rest:
        raise source.error(f"the Ogg file is damaged at byte {offset}", fix="Copy or download the file again")
    return source.size_bytes


def _truncated(source: Source) -> Exception:
    return source.error(
        "the Ogg file is truncated within its last page", fix="Copy or download the file again"
    )
