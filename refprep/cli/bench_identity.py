"""`refprep bench identity`: speaker encoders on labelled pairs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refprep.cli.console import out, steps, table
from refprep.cli.options import (
    CalibrationOption,
    DeviceOption,
    EncoderOption,
    Format,
    FormatOption,
    QuietOption,
    settings,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from refprep.bench.identity import IdentityPair
    from refprep.identity.verifier import Verifier
    from refprep.protocols import VoiceActivity

_COLUMNS = (
    "same",
    "different",
    "eer",
    "eer_low",
    "eer_high",
    "min_same",
    "max_different",
    "misses",
    "false_accepts",
)


def identity(
    pairs: Annotated[
        Path, typer.Option("--pairs", metavar="PAIRS.csv", help="Labelled pairs (see manifests/README.md).")
    ],
    encoder: EncoderOption = None,
    calibration: CalibrationOption = None,
    device: DeviceOption = None,
    format: FormatOption = Format.TEXT,  # noqa: A002  # the option's name
    quiet: QuietOption = False,
) -> None:
    """Equal error rates of speaker encoders, by length and kind of pair, with and without AS-norm."""
    from refprep.bench.identity import read_pairs
    from refprep.models.load import load_vad
    from refprep.models.store import ModelStore
    from refprep.models.verifiers import load_verifiers

    labelled = read_pairs(pairs)
    config = settings(encoder=encoder, device=device)
    verifiers = load_verifiers(config.models, ModelStore.default(), calibrations=calibration or ())
    vad = load_vad()
    encoders = {v.model: _measure(labelled, v, vad, quiet=quiet) for v in verifiers}
    first = next(iter(encoders.values()))
    result = {
        "schema_version": 2,
        "pairs": len(labelled),
        "voice_activity": vad.name,
        **{key: first[key] for key in ("eer_all", "eer_3s", "eer_3s_clean")},
        "encoders": encoders,
    }
    if format is not Format.TEXT:
        out(json.dumps(result, ensure_ascii=False, indent=2 if format is Format.JSON else None))
        return
    for name, found in encoders.items():
        _print(name, found)


def _measure(
    labelled: Sequence[IdentityPair], verifier: Verifier, vad: VoiceActivity, *, quiet: bool
) -> dict[str, Any]:
    """Figures on the encoder's best scale, and under ``scales`` on each."""
    from refprep.bench.identity import embed_clips, score_pairs, summarise
    from refprep.identity.verifier import Verifier

    clips = len({p for pair in labelled for p in (pair.path_a, pair.path_b)})
    with steps(f"clips, {verifier.model}", clips, quiet=quiet) as advance:
        prints, failed = embed_clips(labelled, verifier.encoder, vad, on_clip=advance)
    scales = {}
    for judge in (verifier, Verifier(verifier.encoder)):
        if judge.scale not in scales:
            calibrated = judge.calibration.threshold if judge.calibration else None
            limit = calibrated if calibrated is not None else verifier.encoder.default_threshold
            scales[judge.scale] = summarise(score_pairs(labelled, prints, judge), threshold=limit)
    best = scales[verifier.scale]
    return {
        "scale": verifier.scale,
        **{key: best[key] for key in ("eer_all", "eer_3s", "eer_3s_clean")},
        "calibrated_on": verifier.calibration.source if verifier.calibration else "",
        "failed": failed,
        "scales": scales,
    }


def _print(name: str, found: dict[str, Any]) -> None:
    for scale, figures in found["scales"].items():
        out(f"{name}, {scale}, threshold {figures['threshold']}")
        rows = [*figures["groups"].items(), *figures["lengths"].items()]
        table(
            "",
            ["pairs of", *_COLUMNS],
            [[group, *(_cell(c, row.get(c)) for c in _COLUMNS)] for group, row in rows],
        )
        table(
            "",
            ["kind", "pairs", "min", "median", "max", "eer"],
            [
                [kind, *(_cell(c, row[c]) for c in ("pairs", "min", "median", "max", "eer"))]
                for kind, row in figures["kinds"].items()
            ],
        )
    for line in found["failed"]:
        out(f"not embedded: {line}")


def _cell(column: str, value: float | None) -> str:
    if value is None:
        return "-"
    is_share = column in ("eer", "eer_low", "eer_high", "misses", "false_accepts")
    return f"{value:.1%}" if is_share else f"{value:g}"
