"""`refprep bench`: refprep itself, measured on labelled sets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from refprep.cli.console import out, steps, table
from refprep.cli.options import (
    AsrOption,
    DeviceOption,
    EncoderOption,
    Format,
    FormatOption,
    QuietOption,
    settings,
)

app = typer.Typer(help="Measure refprep on labelled sets.", no_args_is_help=True)


@app.command("lint")
def lint(
    cases: Annotated[
        Path, typer.Option("--cases", metavar="CASES.csv", help="Labelled texts (see manifests/README.md).")
    ],
    asr: AsrOption = None,
    device: DeviceOption = None,
    format: FormatOption = Format.TEXT,  # noqa: A002  # the option's name
    quiet: QuietOption = False,
) -> None:
    """Recall, false alarms and undecided cases of text against audio."""
    from refprep.api import open_listener
    from refprep.bench.lint import read_cases, run_cases, summarise

    labelled = read_cases(cases)
    listener = open_listener(settings(asr=asr, device=device).models)
    listener.require()
    with steps("cases", len(labelled), quiet=quiet) as advance:
        outcomes, wall_s, audio_s = run_cases(labelled, listener, on_case=advance)
    result = summarise(outcomes, wall_s=wall_s, audio_s=audio_s, models=listener.models)
    if format is not Format.TEXT:
        _print_json(result, format)
        return
    out(
        f"{result['cases']} cases, {result['models']['transcriber']}, real-time factor {result['realtime_factor']}"
    )
    for name in ("recall_missing", "recall_edge_word", "recall_extra", "recall_other_clip"):
        row = result["counts"][name]
        out(f"{name:20} {_percent(result[name])}  ({row['found']} of {row['of']})")
    for name in ("false_alarms", "false_warnings", "undecided_of_passes"):
        out(f"{name:20} {result[name]} of {result['passes']}")
    out(f"{'undecided':20} {result['undecided']} of {result['cases']}")
    out(f"{'suggested_text_wer':20} {_percent(result['suggested_text_wer'])}")
    said = ["pass", "warn", "fail", "undecided"]
    table(
        "",
        ["kind (expected)", *said],
        [[k, *(str(v.get(s, 0)) for s in said)] for k, v in result["confusion"].items()],
    )
    for row in result["wrong"]:
        out(
            f"{row['case_id']}: {row['kind']}, expected {row['expect']}, said {row['said']} {row['reason']}".rstrip()
        )


@app.command("identity")
def identity(
    pairs: Annotated[
        Path, typer.Option("--pairs", metavar="PAIRS.csv", help="Labelled pairs (see manifests/README.md).")
    ],
    encoder: EncoderOption = None,
    device: DeviceOption = None,
    format: FormatOption = Format.TEXT,  # noqa: A002  # the option's name
    quiet: QuietOption = False,
) -> None:
    """Equal error rate and thresholds of a speaker encoder."""
    from refprep.bench.identity import read_pairs, score_pairs, summarise
    from refprep.models.load import load_encoder, load_vad
    from refprep.models.store import ModelStore

    labelled = read_pairs(pairs)
    config = settings(encoder=encoder, device=device)
    model = load_encoder(config.models, ModelStore.default())
    vad = load_vad()
    clips = len({p for pair in labelled for p in (pair.path_a, pair.path_b)})
    with steps("clips", clips, quiet=quiet) as advance:
        scored, failed = score_pairs(labelled, model, vad, on_clip=advance)
    result = summarise(
        scored, failed, encoder=model, models={"speaker_encoder": model.name, "voice_activity": vad.name}
    )
    if format is not Format.TEXT:
        _print_json(result, format)
        return
    out(f"{result['pairs']} pairs, {result['encoder']}, threshold {result['default_threshold']}")
    columns = [
        "same",
        "different",
        "eer",
        "eer_threshold",
        "threshold_at_1_percent_false_accepts",
        "misses_there",
        "false_accepts_at_default",
        "misses_at_default",
    ]
    table(
        "",
        ["pairs of", *columns],
        [[name, *(str(row.get(c, "")) for c in columns)] for name, row in result["groups"].items()],
    )
    table(
        "",
        ["kind", "pairs", "min", "median", "max"],
        [[k, *(str(v[c]) for c in ("pairs", "min", "median", "max"))] for k, v in result["kinds"].items()],
    )
    for line in result["failed"]:
        out(f"not embedded: {line}")


def _print_json(result: dict[str, Any], format: Format) -> None:  # noqa: A002
    out(json.dumps(result, ensure_ascii=False, indent=2 if format is Format.JSON else None))


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"
