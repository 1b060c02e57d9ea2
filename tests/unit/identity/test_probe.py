"""The test signal, and that it tells preparations apart."""

from __future__ import annotations

import numpy as np
import pytest

from refprep.identity.probe import SPEECH, probe, probe_clip
from refprep.models.ge2e import Ge2eEncoder
from refprep.models.store import ModelStore
from refprep.models.verifiers import SHIPPED, load_calibration

RMS = 0.00631468831487028


def test_the_signal_is_what_it_was():
    clip = probe_clip()
    assert (clip.sample_rate_hz, clip.num_samples, clip.samples.dtype) == (24_000, 96_000, np.float32)
    assert float(np.abs(clip.samples).max()) < 0.2
    # To a part in a million: libm's last bit may differ between machines.
    assert float(np.sqrt(np.mean(clip.samples.astype(np.float64) ** 2))) == pytest.approx(RMS, rel=1e-6)
    assert SPEECH[-1].end_s < clip.duration_s


@pytest.mark.weights
def test_ge2e_passes_and_a_slip_in_preparation_does_not(monkeypatch):
    from refprep.models import ge2e

    calibration = load_calibration(SHIPPED / "ge2e.safetensors")
    encoder = Ge2eEncoder(ModelStore.default().path("ge2e"))
    assert calibration.fits("ge2e", probe(encoder))
    for name, value in (
        ("_CUTOFF_HZ", 20.0),
        ("_SPEECH_LEVEL_DBFS", -60.0),
        ("_GAINS_DB", (12.0,)),
        ("_MARGIN_S", 0.3),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(ge2e, name, value)
            assert not calibration.fits("ge2e", probe(encoder)), name
