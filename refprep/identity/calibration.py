"""What was measured about one encoder's scores, in one safetensors file that `refprep calibrate` writes.

probe   (D,) float32    what the encoder makes of the test signal: another vector, another encoder or preparation
cohort  (N, D) float32  other people, for AS-norm; absent where scores are plain cosines
metadata "refprep"      the rest, as JSON
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from refprep.atomic import write_bytes
from refprep.errors import ManifestError, UsageError
from refprep.identity.cohort import Cohort
from refprep.types import Vector, freeze

SCHEMA_VERSION = 1
_MIN_PROBE_COSINE = 0.9995
"""Other builds of torch and other CPUs move the vector by less than 1e-6; a band edge of 10 Hz by more than 1e-3."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """What was measured about one encoder's scores.

    Attributes:
        model: Name of the encoder.
        probe: (D,) float32, unit norm: the encoder's vector for ``refprep.identity.probe.probe_clip``.
        cohort: For AS-norm; None for plain cosines.
        threshold: Lowest score of a pair of one voice.
        window_threshold: Lowest score of a window to its voice's mean direction; None where it was not measured.
        thresholds: Share of false accepts -> threshold.
        cosine_floor: Plain cosine that a pair has to reach as well, whatever the cohort says; None for plain cosines.
        lengths: (seconds of speech of the shorter side, what its scores are moved by), rising; empty for no influence.
        figures: Equal error rate, numbers of pairs, and what else was measured; for people.
        source: What it was measured on.
    """

    model: str
    probe: Vector
    cohort: Cohort | None
    threshold: float
    window_threshold: float | None
    thresholds: Mapping[float, float] = field(default_factory=dict)
    cosine_floor: float | None = None
    lengths: tuple[tuple[float, float], ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""

    def length_offset(self, speech_s: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """What a score is too high by, for seconds of speech of the shorter side; linear in their logarithm."""
        if not self.lengths:
            return np.zeros_like(speech_s)
        known_s, offsets = zip(*self.lengths, strict=True)
        log_s = np.log(np.maximum(speech_s, 1e-3))
        return np.asarray(np.interp(log_s, np.log(np.asarray(known_s)), np.asarray(offsets)))

    def fits(self, model: str, probe: Vector) -> bool:
        """It was made with this encoder, prepared in this way."""
        return (
            self.model == model
            and self.probe.shape == probe.shape
            and float(self.probe.astype(np.float64) @ probe) >= _MIN_PROBE_COSINE
        )

    def require(self, model: str, probe: Vector, *, where: str) -> None:
        """Refuse scores of another encoder.

        Raises:
            UsageError: It was made with another one, or with other preparation.
        """
        if self.model != model:
            raise UsageError(
                f"it calibrates {self.model}, not {model}; thresholds of one encoder mean nothing for another",
                where=where,
                fix=f"Choose --encoder {self.model}, or calibrate {model}.",
            )
        if not self.fits(model, probe):
            raise UsageError(
                f"{model} gives another vector for the test signal than when this was measured: other weights or "
                "another preparation of the audio",
                where=where,
                fix="Calibrate again with `refprep calibrate`.",
            )


def save_calibration(calibration: Calibration, path: Path) -> None:
    """Write a calibration, atomically.

    Raises:
        MachineError: The disk refused.
    """
    tensors = {"probe": np.asarray(calibration.probe, dtype=np.float32)}
    cohort = calibration.cohort
    if cohort is not None:
        tensors["cohort"] = np.asarray(cohort.vectors, dtype=np.float32)
    document = {
        "schema_version": SCHEMA_VERSION,
        "encoder": calibration.model,
        "threshold": calibration.threshold,
        "window_threshold": calibration.window_threshold,
        "thresholds": [[share, value] for share, value in calibration.thresholds.items()],
        "cosine_floor": calibration.cosine_floor,
        "lengths": [list(point) for point in calibration.lengths],
        "figures": dict(calibration.figures),
        "source": calibration.source,
        "members": list(cohort.names) if cohort is not None else [],
    }
    write_bytes(path, save(tensors, {"refprep": json.dumps(document, ensure_ascii=True, sort_keys=True)}))


def load_calibration(path: Path) -> Calibration:
    """Read a calibration.

    Raises:
        ManifestError: The file is none, or of another version.
    """
    try:
        with safe_open(path, framework="numpy") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # no mapping
            document = json.loads((file.metadata() or {}).get("refprep", "null"))
    except FileNotFoundError as error:
        raise ManifestError("there is no such file", where=str(path), fix="Check the path.") from error
    except (OSError, SafetensorError, ValueError, RecursionError) as error:
        raise ManifestError(
            f"it is no calibration: {error}",
            where=str(path),
            fix="Name a file that `refprep calibrate` wrote.",
        ) from error
    if not isinstance(document, dict) or document.get("schema_version") != SCHEMA_VERSION:
        raise ManifestError(
            "it is no calibration that this refprep reads",
            where=str(path),
            fix="Name a file that this version's `refprep calibrate` wrote.",
        )
    try:
        return _from(document, tensors)
    except (KeyError, TypeError, ValueError) as error:
        raise ManifestError(
            f"an entry is missing or of the wrong kind ({error})", where=str(path), fix="Calibrate again."
        ) from error


def _from(document: Mapping[str, Any], tensors: Mapping[str, npt.NDArray[np.float32]]) -> Calibration:
    model = str(document["encoder"])
    cohort = None
    if "cohort" in tensors:
        cohort = Cohort(model, tuple(map(str, document["members"])), freeze(tensors["cohort"]))
    limit, floor = document["window_threshold"], document["cosine_floor"]
    return Calibration(
        model=model,
        probe=freeze(tensors["probe"]),
        cohort=cohort,
        threshold=float(document["threshold"]),
        window_threshold=None if limit is None else float(limit),
        thresholds={float(share): float(value) for share, value in document["thresholds"]},
        cosine_floor=None if floor is None else float(floor),
        lengths=tuple((float(s), float(offset)) for s, offset in document["lengths"]),
        figures=dict(document["figures"]),
        source=str(document["source"]),
    )
