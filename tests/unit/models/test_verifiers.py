"""Encoders with their calibrations: shipped ones, own ones, ones of somebody else; and the self-test."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fakes import unit

from refprep.config import ModelConfig
from refprep.errors import IntegrityError, UsageError
from refprep.identity.calibration import Calibration, load_calibration, save_calibration
from refprep.models import verifiers as module
from refprep.models.store import ModelStore
from refprep.models.verifiers import SHIPPED, load_verifiers
from refprep.types import Span, Voiceprint


class Encoder:
    """One direction for everything."""

    def __init__(self, name: str, vector) -> None:
        self.name, self.dim = name, len(vector)
        self.default_threshold, self.window_threshold = 0.6, 0.4
        self._vector = unit(vector)

    def embed(self, clip, speech):
        return Voiceprint(clip.id, self.name, self._vector, self._vector[None], (Span(0.0, 1.0),), 3.0)


ENCODERS = {"one": Encoder("one", [1.0, 0.0]), "two": Encoder("two", [0.0, 1.0])}


@pytest.fixture(autouse=True)
def _no_weights(monkeypatch):
    monkeypatch.setattr(module, "open_encoder", lambda name, store, device: ENCODERS[name])


def load(tmp_path: Path, encoder: str, **options):
    return load_verifiers(ModelConfig(encoder=encoder, device="cpu"), ModelStore(tmp_path), **options)


def calibration(tmp_path: Path, model: str, vector) -> Path:
    path = tmp_path / f"{model}.safetensors"
    save_calibration(Calibration(model, unit(vector), None, 0.77, 0.5, source="mine"), path)
    return path


def test_an_encoder_without_a_calibration_has_its_own_threshold(tmp_path):
    (verifier,) = load(tmp_path, "one")
    assert (verifier.model, verifier.scale, verifier.threshold) == ("one", "cosine", 0.6)


def test_each_encoder_takes_its_own_calibration(tmp_path):
    paths = [calibration(tmp_path, "two", [0.0, 1.0]), calibration(tmp_path, "one", [1.0, 0.0])]
    one, two = load(tmp_path, "one, two", calibrations=paths, threshold=0.9)
    assert (one.threshold, two.threshold) == (0.9, 0.77)  # the caller's is for the deciding one
    assert one.calibration is not None
    assert one.calibration.source == "mine"


def test_a_calibration_of_another_encoder_or_preparation(tmp_path):
    with pytest.raises(UsageError, match="it calibrates two, which is not in use"):
        load(tmp_path, "one", calibrations=[calibration(tmp_path, "two", [0.0, 1.0])])
    with pytest.raises(UsageError, match="another vector for the test signal"):
        load(tmp_path, "one", calibrations=[calibration(tmp_path, "one", [1.0, 0.1])])


def test_a_shipped_calibration_is_a_self_test(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SHIPPED", tmp_path)
    calibration(tmp_path, "one", [1.0, 0.0])
    (verifier,) = load(tmp_path, "one")
    assert verifier.threshold == 0.77
    calibration(tmp_path, "one", [1.0, 0.1])
    with pytest.raises(IntegrityError, match="fails its self-test"):
        load(tmp_path, "one")


def test_what_is_shipped_for_ge2e():
    found = load_calibration(SHIPPED / "ge2e.safetensors")
    assert found.cohort is not None
    assert len(found.cohort.names) == 67
    assert found.cohort.vectors.shape == (67, 256)
    assert np.allclose(np.linalg.norm(found.cohort.vectors, axis=1), 1.0, atol=1e-5)
    assert found.threshold == found.thresholds[0.001]
    assert sorted(found.thresholds.values(), reverse=True) == [
        found.thresholds[share] for share in sorted(found.thresholds)
    ]
    assert replace(found, probe=unit([1.0])).fits("ge2e", found.probe) is False
