"""`refprep bench scores`: planted faults in outputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from refprep.cli.console import out, steps, table
from refprep.cli.options import (
    AsrOption,
    CalibrationOption,
    DeviceOption,
    EncoderOption,
    Format,
    FormatOption,
    QuietOption,
    settings,
)


def scores(
    manifest: Annotated[
        Path,
        typer.Option(
            "--manifest",
            metavar="M",
            help="Clips with texts and speaker ids corpus/country/gender/speaker, several of each speaker.",
        ),
    ],
    kind: Annotated[
        list[str] | None, typer.Option("--kind", metavar="KIND", help="Only cases of this kind; repeatable.")
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=0, help="At most so many outputs, of all voices in turn; 0 for all.")
    ] = 0,
    seed: Annotated[int, typer.Option("--seed", help="Of the draws.")] = 0,
    asr: AsrOption = None,
    encoder: EncoderOption = None,
    calibration: CalibrationOption = None,
    device: DeviceOption = None,
    format: FormatOption = Format.TEXT,  # noqa: A002  # the option's name
    quiet: QuietOption = False,
) -> None:
    """Outputs with and without planted faults: what `refprep score` finds, false alarms, errors of the cuts."""
    from refprep.api import open_listener
    from refprep.bench.score_cases import EXPECTED
    from refprep.bench.scores import read_voices, run_cases, summarise
    from refprep.errors import UsageError
    from refprep.manifest import read_utterances
    from refprep.models.store import ModelStore
    from refprep.models.verifiers import load_verifiers

    unknown = sorted(set(kind or ()) - set(EXPECTED))
    if unknown:
        raise UsageError(
            f"no such kind: {', '.join(unknown)}", where="--kind", fix=f"Choose from {', '.join(EXPECTED)}."
        )
    config = settings(asr=asr, encoder=encoder, device=device)
    store = ModelStore.default()
    verifiers = load_verifiers(config.models, store, calibrations=calibration or ())
    listener = open_listener(config.models, store=store)
    listener.require()
    voices = read_voices(read_utterances([manifest]), limit=limit)
    with steps("outputs", sum(len(v.outputs) for v in voices), quiet=quiet) as advance:
        outcomes = run_cases(
            voices,
            listener,
            verifiers,
            kinds=[k for k in EXPECTED if kind is None or k in kind],
            seed=seed,
            on_output=advance,
        )
    models = {**listener.models, "encoders": [v.model for v in verifiers]}
    result = {**summarise(outcomes), "seed": seed, "models": models}
    if format is Format.TEXT:
        _print(result)
    else:
        out(json.dumps(result, ensure_ascii=False, indent=2 if format is Format.JSON else None))


def _print(result: dict[str, Any]) -> None:
    out(
        f"{result['outputs']} outputs of {result['readers']} readers, {result['models'].get('transcriber', '-')}"
    )
    alarms = result["false_alarms"]
    faults = ", ".join(f"{n} x {name}" for name, n in alarms["by_fault"].items())
    out(f"false alarms  {alarms['clips']} of {alarms['of']}" + (f" ({faults})" if faults else ""))
    rows = {**result["kinds"], "all leaks": result["leaks"]}
    table(
        "",
        ["kind", "found", "of", "recall", "alone"],
        [
            [k, str(r["found"]), str(r["of"]), f"{r['recall']:.1%}", str(r["alone"])]
            for k, r in rows.items()
            if r["of"]
        ],
    )
    cuts = result["cut_error_ms"]
    if cuts["of"]:
        out(
            f"cuts          median {cuts['median']} ms, p95 {cuts['p95']}, max {cuts['max']}; "
            f"{cuts['within_100']} of {cuts['of']} within 100 ms"
        )
    for row in result["wrong"]:
        said = "; ".join(row["said"]) or "nothing found"
        words = f' "{row["words"]}"' if row["words"] else ""
        error = f" (cut {row['cut_error_ms']:+d} ms)" if row["cut_error_ms"] is not None else ""
        out(f"  {row['kind']} {row['clip']}{words}{error}: {said}")
