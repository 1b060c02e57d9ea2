"""Scores of pairs: cosines, AS-norm, the length of the speech; and whose calibration it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fakes import FakeEncoder
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.errors import ManifestError, UsageError
from refprep.identity.calibration import Calibration, load_calibration, save_calibration
from refprep.identity.cohort import Cohort
from refprep.identity.verifier import Verifier
from refprep.types import Span, Voiceprint

RNG = np.random.default_rng(7)


def units(count: int, dim: int = 6, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((count, dim)) + 1.0
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


COHORT = Cohort("fake", tuple(f"p{k}" for k in range(30)), units(30))
CALIBRATION = Calibration(
    model="fake",
    probe=units(1, seed=5)[0],
    cohort=COHORT,
    threshold=2.5,
    window_threshold=0.9,
    thresholds={0.01: 2.0, 0.001: 2.5},
    lengths=((1.0, 0.8), (4.0, 0.0)),
    figures={"eer": 0.05, "same": 10},
    source="pieces",
)


def prints_of(rows: np.ndarray, speech_s: float = 5.0, model: str = "fake") -> list[Voiceprint]:
    return [
        Voiceprint(f"c{k}", model, row, row[None], (Span(0.0, 1.0),), speech_s) for k, row in enumerate(rows)
    ]


def verifier(calibration: Calibration | None = CALIBRATION, own: float | None = None) -> Verifier:
    return Verifier(FakeEncoder(name="fake"), calibration, own)


def test_without_a_calibration_scores_are_cosines_and_the_encoder_has_the_threshold():
    plain = verifier(None)
    rows = units(3, seed=1)
    assert plain.scale == "cosine"
    assert plain.matrix(prints_of(rows)) == pytest.approx(rows.astype(float) @ rows.T, abs=1e-6)
    assert (plain.threshold, plain.window_threshold, plain.min_margin) == (0.7, 0.5, 0.05)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(1, 200))
def test_as_norm_is_the_mean_of_both_sides(seed):
    rows = units(2, seed=seed)
    (mean_a, mean_b), (std_a, std_b) = COHORT.statistics(rows.astype(np.float64))
    cosine = float(rows[0].astype(float) @ rows[1])
    expected = ((cosine - mean_a) / std_a + (cosine - mean_b) / std_b) / 2
    found = verifier().matrix(prints_of(rows))
    assert found[0, 1] == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert np.array_equal(found, found.T)


@pytest.mark.parametrize(
    ("speech_s", "offset"), [(0.5, 0.8), (1.0, 0.8), (2.0, 0.4), (4.0, 0.0), (60.0, 0.0)]
)
def test_less_speech_needs_more(speech_s, offset):
    rows = units(2, seed=3)
    long, short = verifier().matrix(prints_of(rows)), verifier().matrix(prints_of(rows, speech_s))
    assert long[0, 1] - short[0, 1] == pytest.approx(offset, abs=1e-6)


def test_the_callers_threshold_wins():
    assert verifier(own=1.5).threshold == 1.5
    assert verifier().threshold == 2.5


def test_an_encoder_that_nobody_measured_needs_a_threshold():
    encoder = FakeEncoder(name="fake", default_threshold=None)
    with pytest.raises(UsageError, match="nobody measured a threshold for fake"):
        _ = Verifier(encoder).threshold
    assert Verifier(encoder, None, 0.6).threshold == 0.6


def test_voiceprints_of_another_encoder_are_refused():
    with pytest.raises(UsageError, match="fake and ge2e cannot be compared"):
        verifier().matrix(prints_of(units(2), model="ge2e"))


def test_a_calibration_survives_its_file(tmp_path):
    path = tmp_path / "fake.safetensors"
    save_calibration(CALIBRATION, path)
    found = load_calibration(path)
    assert np.array_equal(found.probe, CALIBRATION.probe)
    assert found.cohort is not None
    assert np.array_equal(found.cohort.vectors, COHORT.vectors)
    assert found.cohort.names == COHORT.names
    plain = {"probe": None, "cohort": None}
    assert replace(found, **plain).__repr__() == replace(CALIBRATION, **plain).__repr__()
    before = path.read_bytes()
    save_calibration(found, path)
    assert path.read_bytes() == before


def test_a_calibration_without_a_cohort(tmp_path):
    save_calibration(replace(CALIBRATION, cohort=None, window_threshold=None), tmp_path / "a")
    found = load_calibration(tmp_path / "a")
    assert (found.cohort, found.window_threshold) == (None, None)
    assert verifier(found).scale == "cosine"


@pytest.mark.parametrize("content", [b"", b"{}", b"\x10\0\0\0\0\0\0\0not json at all.", b"x" * 100])
def test_what_is_no_calibration_is_refused(tmp_path, content):
    path = tmp_path / "bad"
    path.write_bytes(content)
    with pytest.raises(ManifestError, match="no calibration"):
        load_calibration(path)


def test_other_safetensors_are_no_calibration(tmp_path):
    from safetensors.numpy import save_file

    save_file({"probe": units(1)[0]}, tmp_path / "weights")
    with pytest.raises(ManifestError, match="no calibration that this refprep reads"):
        load_calibration(tmp_path / "weights")
    with pytest.raises(ManifestError, match="no such file"):
        load_calibration(tmp_path / "nothing")


def test_a_calibration_is_for_one_encoder_prepared_in_one_way():
    CALIBRATION.require("fake", CALIBRATION.probe, where="a")
    with pytest.raises(UsageError, match="it calibrates fake, not wavlm"):
        CALIBRATION.require("wavlm", CALIBRATION.probe, where="a")
    with pytest.raises(UsageError, match="another vector for the test signal"):
        CALIBRATION.require("fake", units(1, seed=9)[0], where="a")
