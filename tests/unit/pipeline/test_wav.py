"""What is written is what is read, bit for bit, in each stored format."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from refprep.pipeline.decode import decode_file, pcm_sha256
from refprep.pipeline.wav import write_wav
from refprep.types import SampleFormat

RATES = st.sampled_from([8000, 16_000, 22_050, 24_000, 44_100, 48_000])
PCM_16 = hnp.arrays(np.int16, st.integers(1, 300)).map(lambda a: (a / 2**15).astype(np.float32))
PCM_24 = hnp.arrays(np.int32, st.integers(1, 300), elements=st.integers(-(2**23), 2**23 - 1)).map(
    lambda a: (a / 2**23).astype(np.float32)
)
FLOAT = hnp.arrays(np.float32, st.integers(1, 300), elements=st.floats(-(2.0**40), 2.0**40, width=32))


def round_trip(samples, rate_hz, sample_format):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.wav"
        write_wav(path, samples, rate_hz, sample_format)
        assert soundfile.info(path).subtype == sample_format.value
        clip = decode_file(path)
    assert clip.sample_rate_hz == rate_hz
    assert clip.id == pcm_sha256(samples, rate_hz)
    return clip.samples


@settings(deadline=None, max_examples=60)
@given(PCM_16, RATES)
def test_pcm_16(samples, rate_hz):
    assert round_trip(samples, rate_hz, SampleFormat.PCM_16).tobytes() == samples.tobytes()


@settings(deadline=None, max_examples=60)
@given(PCM_24, RATES)
def test_pcm_24(samples, rate_hz):
    assert round_trip(samples, rate_hz, SampleFormat.PCM_24).tobytes() == samples.tobytes()


@settings(deadline=None, max_examples=60)
@given(FLOAT, RATES)
def test_float(samples, rate_hz):
    assert round_trip(samples, rate_hz, SampleFormat.FLOAT).tobytes() == samples.tobytes()


@pytest.mark.parametrize("sample_format", list(SampleFormat))
def test_the_ends_of_the_range(sample_format):
    top = {"PCM_16": 1 - 2.0**-15, "PCM_24": 1 - 2.0**-23, "FLOAT": 1.5}[sample_format.value]
    samples = np.array([-1.0, top, 0.0, -(2.0**-15), 2.0**-15], dtype=np.float32)
    assert np.array_equal(round_trip(samples, 16_000, sample_format), samples)
