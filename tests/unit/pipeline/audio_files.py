"""Audio files of every kind, made on the spot."""

from __future__ import annotations

import io
import struct
from fractions import Fraction

import av
import numpy as np
import soundfile


def tone(rate_hz: int = 16_000, duration_s: float = 1.0, channels: int = 1, frequency_hz: float = 440.0):
    """(T,) or (T, C) float32: a sine at -6 dBFS peak, every channel at its own pitch."""
    time_s = np.arange(round(rate_hz * duration_s)) / rate_hz
    parts = [0.5 * np.sin(2 * np.pi * frequency_hz * (c + 1) * time_s) for c in range(channels)]
    return np.stack(parts, axis=1).astype(np.float32).squeeze()


def noise(rate_hz: int = 16_000, duration_s: float = 1.0, seed: int = 0, scale: float = 0.1):
    """(T,) float32 white noise on the grid of 16 bits."""
    raw = np.random.default_rng(seed).standard_normal(round(rate_hz * duration_s)) * scale
    return (np.clip(np.rint(raw * 2**15), -(2**15), 2**15 - 1) / 2**15).astype(np.float32)


def sndfile_bytes(samples, rate_hz=16_000, *, kind="WAV", subtype="PCM_16", endian="FILE") -> bytes:
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, rate_hz, format=kind, subtype=subtype, endian=endian)
    return buffer.getvalue()


def av_bytes(
    samples, rate_hz: int, *, kind: str, codec: str | None, video: bool = False, options=None
) -> bytes:
    """Mono audio, and a black video if wanted; ``codec=None`` writes the video alone."""
    buffer = io.BytesIO()
    with av.open(buffer, "w", format=kind, options=options or {}) as container:
        # All streams before the first packet: a container writes its header once.
        picture = container.add_stream("mpeg4", rate=25) if video else None
        track = container.add_stream(codec, rate=rate_hz, layout="mono") if codec is not None else None
        if picture is not None:
            picture.width, picture.height, picture.pix_fmt = 64, 64, "yuv420p"
            for index in range(5):
                image = av.VideoFrame.from_ndarray(np.zeros((64, 64, 3), np.uint8), "rgb24")
                image.pts, image.time_base = index, Fraction(1, 25)
                container.mux(picture.encode(image))
            container.mux(picture.encode(None))
        if track is not None:
            if not track.codec_context.is_open:
                track.codec_context.open()
            step = track.codec_context.frame_size or 1024
            converter = av.AudioResampler(track.codec_context.format, "mono", rate_hz)
            for start in range(0, len(samples), step):
                block = np.ascontiguousarray(samples[start : start + step])[None, :]
                frame = av.AudioFrame.from_ndarray(block, format="fltp", layout="mono")
                frame.sample_rate, frame.pts, frame.time_base = rate_hz, start, Fraction(1, rate_hz)
                for converted in converter.resample(frame):
                    container.mux(track.encode(converted))
            container.mux(track.encode(None))
    return buffer.getvalue()


def with_chunk(wav: bytes, name: bytes, content: bytes, *, is_padded: bool = True) -> bytes:
    """The WAV file with one more chunk before its ``fmt`` chunk."""
    padding = b"\0" * (len(content) % 2) if is_padded else b""
    return wav[:12] + name + struct.pack("<I", len(content)) + content + padding + wav[12:]


def with_data_size(wav: bytes, size: int) -> bytes:
    at = wav.index(b"data") + 4
    return wav[:at] + struct.pack("<I", size) + wav[at + 4 :]


def with_xing_frames(mp3: bytes, num_frames: int) -> bytes:
    at = max(mp3.find(b"Xing"), mp3.find(b"Info")) + 8
    return mp3[:at] + struct.pack(">I", num_frames) + mp3[at + 4 :]
