"""Speaker encoders with what is known about their scores: calibrations that came with refprep, or the user's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from refprep.config import ModelConfig
from refprep.errors import IntegrityError, UsageError
from refprep.identity.calibration import Calibration, load_calibration
from refprep.identity.probe import probe
from refprep.identity.verifier import Verifier
from refprep.models.encoders import open_encoder
from refprep.models.load import choose_encoders, resolve_device
from refprep.models.store import ModelStore
from refprep.types import Vector

SHIPPED = Path(__file__).with_name("calibrations")
"""One file for each encoder of the catalog that could be measured; `refprep calibrate` made them."""


def load_verifiers(
    config: ModelConfig,
    store: ModelStore,
    *,
    calibrations: Sequence[Path] = (),
    threshold: float | None = None,
) -> tuple[Verifier, ...]:
    """The speaker encoders of the settings, the deciding one first.

    Args:
        config: Which encoders, and the device.
        store: Where pulled models lie.
        calibrations: Files of `refprep calibrate`, each for one of the encoders.
        threshold: Lowest score of a pair, instead of the measured one; for the first encoder.

    Raises:
        WeightsMissing: A model was not pulled.
        UsageError: An id names no encoder, or a calibration belongs to another one.
        ManifestError: A calibration cannot be read.
        IntegrityError: An encoder does not do what it did when refprep was released.
    """
    given = {path: load_calibration(path) for path in calibrations}
    names = choose_encoders(config)
    found: list[Verifier] = []
    for name in names:
        encoder = open_encoder(name, store, device=resolve_device(config.device))
        vector = probe(encoder)
        own = [(path, c) for path, c in given.items() if c.model == encoder.name]
        for path, one in own:
            one.require(encoder.name, vector, where=str(path))
            given.pop(path)
        calibration = own[-1][1] if own else shipped_calibration(encoder.name, vector)
        found.append(Verifier(encoder, calibration, threshold if not found else None))
    for path, stray in given.items():
        raise UsageError(
            f"it calibrates {stray.model}, which is not in use ({', '.join(v.model for v in found)}); "
            "thresholds of one encoder mean nothing for another",
            where=str(path),
            fix=f"Choose --encoder {stray.model}, or leave the calibration out.",
        )
    return tuple(found)


def shipped_calibration(name: str, vector: Vector) -> Calibration | None:
    """What came with refprep for an encoder of the catalog; None where there is nothing.

    Args:
        name: Of the encoder.
        vector: Its own for the test signal.

    Raises:
        IntegrityError: The encoder gives another vector for the test signal than it did then: the weights, or what is
            done to the audio before them, are not what the thresholds were measured with.
    """
    path = SHIPPED / f"{name}.safetensors"
    # A folder of the user's own is called by its hash, so its name is no file here.
    if "/" in name or not path.is_file():
        return None
    calibration = load_calibration(path)
    if not calibration.fits(name, vector):
        raise IntegrityError(
            "the speaker encoder fails its self-test: it gives another vector for the test signal than when its "
            "thresholds were measured",
            where=name,
            fix=f"Run `refprep models verify {name}`; if the files are whole, report this with `refprep doctor`.",
        )
    return calibration
