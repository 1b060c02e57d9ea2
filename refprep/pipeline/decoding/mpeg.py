"""MPEG audio streams without a container: MP3 and AAC in ADTS, and the ID3 tags before them.

A stream has no magic number, only frame headers: three in a row, each where the last one says, are taken as proof.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

# ISO/IEC 11172-3 table of bit rates (kbit/s) for MPEG-1; ISO/IEC 13818-3 for the low sampling frequencies.
_BITRATES_KBPS = {
    (1, 1): (32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448),
    (1, 2): (32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384),
    (1, 3): (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (2, 1): (32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256),
    (2, 2): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
    (2, 3): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
_RATES_HZ = (44_100, 48_000, 32_000)
_FRAMES_AS_PROOF = 3


@dataclass(frozen=True, slots=True)
class Mp3Frame:
    """One frame header."""

    num_bytes: int
    num_samples: int
    sample_rate_hz: int


def id3_size(head: bytes) -> int:
    """Bytes of an ID3v2 tag at the start, header included (id3.org, ID3v2.4 section 3.1: four 7-bit bytes)."""
    if len(head) < 10:
        return 10
    a, b, c, d = (byte & 0x7F for byte in head[6:10])
    footer = 10 if head[5] & 0x10 else 0
    return 10 + footer + ((a << 21) | (b << 14) | (c << 7) | d)


def find_stream(head: bytes) -> str | None:
    """``mp3`` or ``aac`` when a run of frames starts somewhere in the head; None otherwise."""
    start = head.find(b"\xff")
    while 0 <= start < len(head) - 7:
        if head[start + 1] & 0xE0 == 0xE0:
            if _num_mp3_frames(head, start) >= _FRAMES_AS_PROOF:
                return "mp3"
            if _num_adts_frames(head, start) >= _FRAMES_AS_PROOF:
                return "aac"
        start = head.find(b"\xff", start + 1)
    return None


def declared_mp3_s(head: bytes) -> float | None:
    """Duration that the Xing, Info or VBRI header of the first frame claims; None without such a header."""
    start = head.find(b"\xff")
    while 0 <= start < len(head) - 4:
        frame = parse_mp3_frame(head, start)
        if frame is not None and _num_mp3_frames(head, start) >= min(_FRAMES_AS_PROOF, 2):
            return _claimed_s(head[start : start + min(frame.num_bytes, 256)], frame)
        start = head.find(b"\xff", start + 1)
    return None


def parse_mp3_frame(data: bytes, start: int) -> Mp3Frame | None:
    """Read the frame header at ``start``; None where there is none."""
    if start + 4 > len(data) or data[start] != 0xFF or data[start + 1] & 0xE0 != 0xE0:
        return None
    version_bits = (data[start + 1] >> 3) & 3  # 3: MPEG-1, 2: MPEG-2, 0: MPEG-2.5
    layer_bits = (data[start + 1] >> 1) & 3
    bitrate_index = data[start + 2] >> 4
    rate_index = (data[start + 2] >> 2) & 3
    if version_bits == 1 or layer_bits == 0 or bitrate_index in (0, 15) or rate_index == 3:
        return None
    layer = 4 - layer_bits
    generation = 1 if version_bits == 3 else 2
    rate_hz = _RATES_HZ[rate_index] // {3: 1, 2: 2, 0: 4}[version_bits]
    bitrate = _BITRATES_KBPS[generation, layer][bitrate_index - 1] * 1000
    padding = (data[start + 2] >> 1) & 1
    if layer == 1:
        return Mp3Frame((12 * bitrate // rate_hz + padding) * 4, 384, rate_hz)
    num_samples = 576 if layer == 3 and generation == 2 else 1152
    return Mp3Frame(num_samples // 8 * bitrate // rate_hz + padding, num_samples, rate_hz)


def _claimed_s(first: bytes, frame: Mp3Frame) -> float | None:
    for tag in (b"Xing", b"Info"):
        at = first.find(tag, 4)
        if at >= 0 and len(first) >= at + 12 and first[at + 7] & 1:
            (num_frames,) = struct.unpack_from(">I", first, at + 8)
            return float(num_frames * frame.num_samples / frame.sample_rate_hz)
    at = first.find(b"VBRI", 4)
    if at >= 0 and len(first) >= at + 18:
        (num_frames,) = struct.unpack_from(">I", first, at + 14)
        return float(num_frames * frame.num_samples / frame.sample_rate_hz)
    return None


def _num_mp3_frames(data: bytes, start: int) -> int:
    count, rate_hz = 0, 0
    while count < _FRAMES_AS_PROOF:
        frame = parse_mp3_frame(data, start)
        if frame is None or (rate_hz and frame.sample_rate_hz != rate_hz):
            # A stream of one or two frames that ends exactly with the file is one too.
            return _FRAMES_AS_PROOF if count and start == len(data) else count
        count, rate_hz, start = count + 1, frame.sample_rate_hz, start + frame.num_bytes
    return count


def _num_adts_frames(data: bytes, start: int) -> int:
    count = 0
    while count < _FRAMES_AS_PROOF:
        # ISO/IEC 13818-7, adts_fixed_header: 12 sync bits, layer always 0; then 13 bits of frame length.
        if start + 7 > len(data) or data[start] != 0xFF or data[start + 1] & 0xF6 != 0xF0:
            return _FRAMES_AS_PROOF if count and start == len(data) else count
        num_bytes = ((data[start + 3] & 3) << 11) | (data[start + 4] << 3) | (data[start + 5] >> 5)
        if num_bytes < 7:
            return count
        count, start = count + 1, start + num_bytes
    return count
