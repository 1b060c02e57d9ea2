"""The chunks of a WAV file, and whether its data chunk is all there.

libsndfile quietly reads what is left of a cut file; the text of a clip does not shrink with it, so we look first.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import BinaryIO

from refprep.pipeline.decoding.source import Source

_KNOWN_CHUNKS = frozenset(
    {b"LIST", b"id3 ", b"ID3 ", b"fact", b"bext", b"cue ", b"smpl", b"iXML", b"axml", b"PEAK", b"JUNK"}
)


@dataclass(frozen=True, slots=True)
class WavLayout:
    """Where the audio of a WAV file is.

    Attributes:
        data_offset: First byte of the data chunk's content.
        declared_bytes: Its size by the header; None when the writer left the size open (streaming).
        present_bytes: What the file has of it.
        bytes_per_s: By the ``fmt`` chunk.
        fmt: Content of the ``fmt`` chunk.
        is_little_endian: RIFF, not RIFX.
        has_unpadded_chunk: An odd chunk lacks its padding byte, which decoders stumble over.
    """

    data_offset: int
    declared_bytes: int | None
    present_bytes: int
    bytes_per_s: int
    fmt: bytes
    is_little_endian: bool
    has_unpadded_chunk: bool

    @property
    def missing_bytes(self) -> int:
        """Bytes that the header promises and the file lacks."""
        return 0 if self.declared_bytes is None else max(0, self.declared_bytes - self.present_bytes)


def read_layout(source: Source) -> WavLayout:
    """Walk the chunks up to the data.

    Raises:
        AudioDecodeError: No ``fmt`` or no ``data`` chunk.
    """
    magic = source.read_at(0, 4)
    order = ">" if magic == b"RIFX" else "<"
    offset, fmt, is_unpadded, long_bytes = 12, b"", False, None
    while len(header := source.read_at(offset, 8)) == 8:
        name, size = header[:4], int(struct.unpack(f"{order}I", header[4:])[0])
        body = offset + 8
        if name == b"ds64":  # EBU Tech 3306: RIFF size, data size, 64 bits each
            long_bytes = int(struct.unpack("<Q", source.read_at(body + 8, 8))[0])
        elif name == b"fmt ":
            fmt = source.read_at(body, min(size, 1 << 16))
        elif name == b"data":
            if len(fmt) < 16:
                raise source.error(
                    "a WAV file without a fmt chunk before its data", fix="Export it again as WAV or FLAC"
                )
            declared = (
                long_bytes
                if long_bytes is not None and size == 0xFFFFFFFF
                else _open_size(source, body, size)
            )
            return WavLayout(
                data_offset=body,
                declared_bytes=declared,
                present_bytes=max(
                    0, min(source.size_bytes - body, declared if declared is not None else source.size_bytes)
                ),
                bytes_per_s=int(struct.unpack(f"{order}I", fmt[8:12])[0]),
                fmt=fmt,
                is_little_endian=order == "<",
                has_unpadded_chunk=is_unpadded,
            )
        offset = body + size
        if size % 2:
            # Chunks are padded to even length, but some writers forget.
            is_padded = not _looks_like_chunk(source.read_at(offset, 4)) or _looks_like_chunk(
                source.read_at(offset + 1, 4)
            )
            offset += is_padded
            is_unpadded = is_unpadded or not is_padded
    raise source.error(
        "a WAV file without a data chunk: its header is there, its audio is not",
        fix="Copy or export the file again",
    )


def refuse_truncated(source: Source, layout: WavLayout) -> None:
    """Raise when the header promises more audio than there is."""
    if not layout.missing_bytes:
        return
    declared, present = f"{layout.declared_bytes or 0:,} bytes", f"{layout.present_bytes:,}"
    if layout.bytes_per_s:
        declared = f"{(layout.declared_bytes or 0) / layout.bytes_per_s:.3f} s"
        present = f"{layout.present_bytes / layout.bytes_per_s:.3f} s"
    raise source.error(
        f"the file is truncated: its header declares {declared}, {present} are present",
        fix="Copy or download it again; if nothing is missing to the ear, export it again to repair the header",
    )


def plain_wav(source: Source, layout: WavLayout) -> BinaryIO:
    """The same audio behind a minimal header: for files whose chunks decoders cannot walk."""
    order = "<" if layout.is_little_endian else ">"
    fmt = layout.fmt + b"\0" * (len(layout.fmt) % 2)
    sizes = struct.pack(f"{order}I", 4 + 8 + len(fmt) + 8 + layout.present_bytes)
    magic = b"RIFF" if layout.is_little_endian else b"RIFX"
    head = b"".join(
        (
            magic + sizes + b"WAVE",
            b"fmt " + struct.pack(f"{order}I", len(layout.fmt)) + fmt,
            b"data" + struct.pack(f"{order}I", layout.present_bytes),
        )
    )
    return source.excerpt(layout.data_offset, layout.data_offset + layout.present_bytes, head=head)


def _open_size(source: Source, body: int, size: int) -> int | None:
    """The data size, or None where it is a writer's stand-in for "not known yet"."""
    if size == 0:  # libsndfile and many recorders; but an empty data chunk may be followed by another chunk
        return 0 if source.read_at(body, 4) in _KNOWN_CHUNKS else None
    # ffmpeg writes 0xFFFFFFFF to a pipe, sox 0x7FFFF000 and about; only believable where the file is really that long.
    is_marker = size >= 0xFFFF_F000 or 0x7FFF_E000 <= size <= 0x7FFF_FFFF
    return None if is_marker and source.size_bytes - body < size else size


def _looks_like_chunk(name: bytes) -> bool:
    return len(name) == 4 and all(0x20 <= byte < 0x7F for byte in name) and name[:1].isalpha()
