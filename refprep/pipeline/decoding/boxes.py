"""Whether a container of boxes is all there: MP4 and MOV, Matroska and WebM, AVI, AIFF, W64, AU.

Each says at its start how long its parts are. A part that ends behind the end of the file was cut, and the decoder
would quietly return what is left.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from refprep.pipeline.decoding.source import Source


def refuse_truncated(source: Source, container: str) -> None:
    """Raise when the container's own sizes reach behind the end of the file."""
    measure = _MEASURES.get(container)
    declared_bytes = measure(source) if measure else None
    if declared_bytes is not None and declared_bytes > source.size_bytes:
        raise source.error(
            f"the file is truncated: its header declares {declared_bytes:,} bytes, {source.size_bytes:,} are present",
            fix="Copy or download it again",
        )


def _mp4_bytes(source: Source) -> int | None:
    """End of the last top-level box (ISO/IEC 14496-12 section 4.2)."""
    offset = 0
    while len(header := source.read_at(offset, 16)) >= 8:
        size = int(struct.unpack(">I", header[:4])[0])
        if size == 1 and len(header) == 16:
            size = int(struct.unpack(">Q", header[8:])[0])
        if size == 0:  # to the end of the file
            return None
        if size < 8 or not all(0x20 <= byte < 0x7F or byte == 0xA9 for byte in header[4:8]):
            return None  # junk behind the last box
        offset += size
    return offset


def _matroska_bytes(source: Source) -> int | None:
    """End of the Segment (RFC 8794: sizes are variable-length integers; all ones means unknown, as in live streams)."""
    offset, head = 0, source.read_at(0, 4096)
    for _ in range(2):  # the EBML header, then the Segment
        id_bytes = _vint_bytes(head, offset)
        size_bytes = _vint_bytes(head, offset + id_bytes)
        raw = head[offset + id_bytes : offset + id_bytes + size_bytes]
        if not id_bytes or not size_bytes or len(raw) < size_bytes:
            return None
        value_bits = 7 * size_bytes
        size = int.from_bytes(raw, "big") & ((1 << value_bits) - 1)
        if size == (1 << value_bits) - 1:
            return None
        offset += id_bytes + size_bytes + size
    return offset


def _vint_bytes(head: bytes, offset: int) -> int:
    return 9 - head[offset].bit_length() if offset < len(head) and head[offset] else 0


def _riff_bytes(source: Source) -> int | None:
    size = int(struct.unpack("<I", source.read_at(4, 4))[0])
    return None if size == 0 or size >= 0x7FFF_E000 else 8 + size


def _aiff_bytes(source: Source) -> int | None:
    size = int(struct.unpack(">I", source.read_at(4, 4))[0])
    return None if size == 0 or size >= 0x7FFF_E000 else 8 + size


def _w64_bytes(source: Source) -> int | None:
    size = int(struct.unpack("<Q", source.read_at(16, 8))[0])
    return None if size >= 1 << 62 else size


def _au_bytes(source: Source) -> int | None:
    offset, size = struct.unpack(">II", source.read_at(4, 8))
    return None if size == 0xFFFFFFFF else int(offset + size)


_MEASURES: dict[str, Callable[[Source], int | None]] = {
    "mp4": _mp4_bytes,
    "mov": _mp4_bytes,
    "mkv": _matroska_bytes,
    "webm": _matroska_bytes,
    "avi": _riff_bytes,
    "aiff": _aiff_bytes,
    "w64": _w64_bytes,
    "au": _au_bytes,
}
