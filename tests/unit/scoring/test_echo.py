"""The sound of the reference at the beginning of an output."""

from __future__ import annotations

import numpy as np
import pytest

from refprep.scoring.echo import cepstra, find_echo

RATE_HZ = 16_000


def babble(seconds: float, seed: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """Noise through a filter that changes every 80 ms: no two stretches alike."""
    rng = np.random.default_rng(seed)
    pieces = []
    for _ in range(round(seconds / 0.08)):
        centre, width = rng.uniform(300, 5000), rng.uniform(150, 900)
        spectrum = np.fft.rfft(rng.standard_normal(round(0.08 * RATE_HZ)))
        freqs = np.fft.rfftfreq(round(0.08 * RATE_HZ), 1 / RATE_HZ)
        pieces.append(np.fft.irfft(spectrum * np.exp(-(((freqs - centre) / width) ** 2))))
    sound = np.concatenate(pieces)
    return (0.1 * sound / np.abs(sound).max()).astype(np.float32)


REFERENCE = babble(6.0, 1)


@pytest.mark.parametrize("seconds", [0.24, 0.48, 1.2])
@pytest.mark.parametrize("gain", [1.0, 0.3])
def test_a_copy_of_the_end_is_found_to_the_frame(seconds, gain):
    leak = REFERENCE[-round(seconds * RATE_HZ) :] * np.float32(gain)
    output = np.concatenate([leak, babble(3.0, 2)])
    echo = find_echo(cepstra(output, RATE_HZ), cepstra(REFERENCE, RATE_HZ))
    assert echo is not None
    assert echo.distance < 0.5
    assert echo.span.end_s == pytest.approx(seconds, abs=0.05)
    assert echo.source.end_s == pytest.approx(6.0, abs=0.05)


def test_both_reversed_find_the_tail():
    output = np.concatenate([babble(3.0, 2), REFERENCE[: round(0.6 * RATE_HZ)]])
    echo = find_echo(cepstra(output, RATE_HZ).reversed(), cepstra(REFERENCE, RATE_HZ).reversed())
    assert echo is not None
    assert echo.span.end_s == pytest.approx(0.6, abs=0.06)


def test_other_sounds_are_no_copy():
    echo = find_echo(cepstra(babble(3.0, 2), RATE_HZ), cepstra(REFERENCE, RATE_HZ))
    assert echo is None or echo.distance > 0.5


@pytest.mark.parametrize("samples", [np.zeros(0, np.float32), np.zeros(100, np.float32)])
def test_too_little_sound_echoes_nothing(samples):
    assert find_echo(cepstra(samples, RATE_HZ), cepstra(REFERENCE, RATE_HZ)) is None


def test_silence_is_no_echo_of_silence():
    silence = cepstra(np.zeros(RATE_HZ, np.float32), RATE_HZ)
    assert find_echo(silence, silence) is None
