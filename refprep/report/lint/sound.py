"""What of a pair can be drawn and played, and how much of it all a page takes in before it says that it stops."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refprep.dsp.resample import resample
from refprep.errors import AudioDecodeError, TextInputError
from refprep.linter.run import FileReport
from refprep.pipeline.decode import decode_file
from refprep.report.waveform import outline, peak_dbfs, wav_data_uri
from refprep.types import Clip

# 200 pairs are what a person looks through; 64 MiB are some 150 clips of 10 s at 16 kHz, and open in any browser.
MOST_EMBEDDED = 200
MOST_EMBEDDED_BYTES = 64 << 20
# References are shorter than this and keep their rate; longer ones are listened to for their words, which 16 kHz hold.
LONG_S = 30.0
LONG_RATE_HZ = 16_000
# A player of five minutes is 12 MiB; words drawn closer than this are not told apart.
MOST_S = 300.0
# Columns of the outline: two for three pixels of a wide window, 13 kB; a long clip is drawn wider and scrolls.
OUTLINE_COLUMNS = 600


@dataclass(frozen=True, slots=True)
class Sound:
    """A clip, ready for the page.

    Attributes:
        duration_s: Of the clip.
        outline: SVG path, ``columns`` wide.
        columns: Its width.
        peak_dbfs: What the outline is scaled to; None for silence.
        player_uri: 16-bit WAV.
        player_rate_hz: Its rate.
        rate_hz: The file's rate.
    """

    duration_s: float
    outline: str
    columns: int
    peak_dbfs: float | None
    player_uri: str
    player_rate_hz: int
    rate_hz: int


class Room:
    """The room a page has for sound; what is taken is gone."""

    def __init__(self, most: int, most_bytes: int) -> None:
        self.most = most
        self.most_bytes = most_bytes
        self.taken = 0
        self.taken_bytes = 0
        self.refused = 0

    def take(self, report: FileReport) -> tuple[Sound | None, str]:
        """Decode a pair's file again, if there is room.

        Args:
            report: Of a pair with findings.

        Returns:
            The sound, or None and why there is none, as a sentence.
        """
        if report.source is None or report.duration_s is None:
            return None, "No sound: the file does not decode."
        if report.duration_s > MOST_S:
            return None, f"Neither drawn nor played here: longer than {MOST_S:.0f} s."
        if self.taken >= self.most:
            self.refused += 1
            return None, f"Neither drawn nor played here: this page holds the sound of {self.most} pairs."
        # Base64 writes three bytes as four.
        rate_hz = _player_rate_hz(report)
        if self.taken_bytes + report.duration_s * rate_hz * 2 * 4 / 3 > self.most_bytes:
            self.refused += 1
            return (
                None,
                f"Neither drawn nor played here: this page holds {self.most_bytes / 2**20:g} MiB of sound.",
            )
        try:
            clip = decode_file(report.utterance.audio, max_duration_s=MOST_S + 1.0)
        except (AudioDecodeError, TextInputError) as error:
            return None, f"No sound: since it was checked the file can no longer be read ({error.what})."
        if clip.source.file_sha256 != report.source.file_sha256:
            return None, "No sound: the file has changed since it was checked."
        sound = _sound(clip)
        self.taken += 1
        self.taken_bytes += len(sound.player_uri)
        return sound, ""


def _player_rate_hz(report: FileReport) -> int:
    """What the player will hold; a rate that is not known counts as a high one."""
    rate_hz = report.quality.sample_rate_hz if report.quality else 48_000
    return min(rate_hz, LONG_RATE_HZ) if (report.duration_s or 0.0) > LONG_S else rate_hz


def _sound(clip: Clip) -> Sound:
    rate_hz, samples = clip.sample_rate_hz, clip.samples
    if clip.duration_s > LONG_S and rate_hz > LONG_RATE_HZ:
        rate_hz, samples = LONG_RATE_HZ, resample(samples, rate_hz, LONG_RATE_HZ)
    peak = float(np.max(np.abs(samples), initial=0.0))
    if peak > 1.0:
        # Filters overshoot and floats exceed full scale; a player that clips sounds like a fault of the recording.
        samples = samples / np.float32(peak)
    columns = round(OUTLINE_COLUMNS * max(1.0, clip.duration_s / LONG_S))
    return Sound(
        duration_s=clip.duration_s,
        outline=outline(clip.samples, columns),
        columns=columns,
        peak_dbfs=peak_dbfs(clip.samples),
        player_uri=wav_data_uri(samples, rate_hz),
        player_rate_hz=rate_hz,
        rate_hz=clip.sample_rate_hz,
    )
