"""Levels whose truth is a standard's, not ours.

ITU-R BS.1770-4 annex 1: a 997 Hz sine at 0 dBFS peak in one channel reads -3.01 LUFS. EBU Tech 3341 table 1: a 1 kHz
sine at -23.0 dBFS per channel in stereo reads -23.0 LUFS, +-0.1 LU; one channel of it therefore -26.0. Its relative-gate
sequence (case 3) reads -23.0 in stereo.
"""

from __future__ import annotations

import numpy as np
import pytest

from refprep.dsp.loudness import integrated_lufs
from refprep.dsp.true_peak import true_peak_dbtp

RATE_HZ = 48_000
STEREO_LU = 10 * np.log10(2)  # one channel against two equal ones


def sine(
    duration_s: float,
    peak_dbfs: float,
    frequency_hz: float = 997.0,
    phase: float = 0.0,
    rate_hz: int = RATE_HZ,
):
    time_s = np.arange(round(rate_hz * duration_s)) / rate_hz
    return (10 ** (peak_dbfs / 20) * np.sin(2 * np.pi * frequency_hz * time_s + phase)).astype(np.float32)


@pytest.mark.parametrize(
    ("peak_dbfs", "lufs"), [(0.0, -3.01), (-20.0, -23.01), (-23.0, -26.01), (-33.0, -36.01)]
)
def test_itu_sine(peak_dbfs, lufs):
    assert integrated_lufs(sine(20, peak_dbfs), RATE_HZ) == pytest.approx(lufs, abs=0.1)


@pytest.mark.parametrize(("peak_dbfs", "lufs"), [(-23.0, -23.0), (-33.0, -33.0)])
def test_ebu_tech_3341_cases_1_and_2(peak_dbfs, lufs):
    assert integrated_lufs(sine(20, peak_dbfs, 1000.0), RATE_HZ) + STEREO_LU == pytest.approx(lufs, abs=0.1)


def test_ebu_tech_3341_case_3_relative_gate():
    parts = (sine(10, -36, 1000.0), sine(60, -23, 1000.0), sine(10, -36, 1000.0))
    assert integrated_lufs(np.concatenate(parts), RATE_HZ) + STEREO_LU == pytest.approx(-23.0, abs=0.1)


def test_ebu_tech_3341_case_4_absolute_gate():
    levels = ((10, -72), (10, -36), (60, -23), (10, -36), (10, -72))
    parts = [sine(duration_s, level, 1000.0) for duration_s, level in levels]
    assert integrated_lufs(np.concatenate(parts), RATE_HZ) + STEREO_LU == pytest.approx(-23.0, abs=0.1)


@pytest.mark.parametrize(
    ("rate_hz", "within_lu"),
    # At 8 kHz the shelf of the K weighting lies so near half the rate that its bilinear transform is 0.18 LU low.
    [(8000, 0.2), (16_000, 0.1), (22_050, 0.1), (24_000, 0.1), (44_100, 0.1)],
)
def test_the_rates_of_speech_read_the_same(rate_hz, within_lu):
    assert integrated_lufs(sine(5, -23.0, rate_hz=rate_hz), rate_hz) == pytest.approx(-26.01, abs=within_lu)


@pytest.mark.parametrize(
    ("divisor", "phase_degrees"),
    [(4, 0), (4, 45), (6, 60), (8, 67.5)],
)
def test_ebu_tech_3341_true_peaks(divisor, phase_degrees):
    """Cases 15 to 18: sines of -6.0 dBTP at parts of the rate; allowed are +0.2 and -0.4 dB."""
    samples = sine(1.0, -6.0, RATE_HZ / divisor, np.deg2rad(phase_degrees))
    fade = np.minimum(1.0, np.arange(samples.size) / 2400).astype(np.float32)
    peak = true_peak_dbtp(samples * fade * fade[::-1], RATE_HZ)
    assert -6.4 <= peak <= -5.8
