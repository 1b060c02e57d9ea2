"""Synthesised samples as 16-bit audio: a file that appears whole, one that grows, a pipe."""

from __future__ import annotations

import hashlib
import io
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
import soundfile

from refprep.atomic import write_bytes
from refprep.errors import MachineError
from refprep.types import Samples

_UNKNOWN_BYTES = 0xFFFFFFFF - 36
"""Of a file that still grows: players read on until it ends."""


def pcm16(samples: Samples) -> bytes:
    """Little-endian 16-bit PCM; full scale at 1.0, rounded to the nearest step."""
    data: bytes = np.clip(np.rint(samples * 32767.0), -32768, 32767).astype("<i2").tobytes()
    return data


def write_speech(path: Path, samples: Samples, sample_rate_hz: int) -> str:
    """Write a WAV file in one instant.

    Returns:
        SHA-256 of the file.

    Raises:
        MachineError: The disk refused.
    """
    buffer = io.BytesIO()
    soundfile.write(
        buffer, np.frombuffer(pcm16(samples), "<i2"), sample_rate_hz, subtype="PCM_16", format="WAV"
    )
    data = buffer.getvalue()
    write_bytes(path, data)
    return hashlib.sha256(data).hexdigest()


class GrowingWav:
    """A WAV file that can be played while it is written; its sizes are filled in at the end."""

    def __init__(self, file: BinaryIO, sample_rate_hz: int) -> None:
        self._file, self._rate_hz, self._num_bytes = file, sample_rate_hz, 0
        file.write(_header(sample_rate_hz, _UNKNOWN_BYTES))
        file.flush()

    def write(self, samples: Samples) -> None:
        """Add samples; whoever reads the file sees them."""
        data = pcm16(samples)
        self._file.write(data)
        self._file.flush()
        self._num_bytes += len(data)

    def finish(self) -> None:
        """Fill in the sizes."""
        self._file.seek(0)
        self._file.write(_header(self._rate_hz, self._num_bytes))
        self._file.flush()


@contextmanager
def growing_wav(path: Path, sample_rate_hz: int) -> Iterator[GrowingWav]:
    """Open a growing WAV file under its final name; also one that is cut off ends with its true sizes.

    Raises:
        MachineError: The disk refused.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            wav = GrowingWav(file, sample_rate_hz)
            try:
                yield wav
            finally:
                wav.finish()
    except OSError as error:
        raise MachineError(
            f"it cannot be written: {error.strerror or error}",
            where=str(path),
            fix="Check free space and permissions.",
        ) from error


def _header(sample_rate_hz: int, num_bytes: int) -> bytes:
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, sample_rate_hz, 2 * sample_rate_hz, 2, 16)
    header = (
        struct.pack("<4sI4s", b"RIFF", num_bytes + 36, b"WAVE")
        + form
        + struct.pack("<4sI", b"data", num_bytes)
    )
    return header
