"""`refprep bench select`: what a proven selection costs."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from refprep.cli.console import out, steps, table
from refprep.cli.options import Format, FormatOption, QuietOption
from refprep.errors import UsageError


def select(
    clips: Annotated[
        str, typer.Option("--clips", metavar="N,N", help="Numbers of candidates to choose among.")
    ] = "24,200",
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Instances of every kind.")] = 3,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the instances.")] = 0,
    format: FormatOption = Format.TEXT,  # noqa: A002  # the option's name
    quiet: QuietOption = False,
) -> None:
    """Time and proof of the selection, on made-up sets of clips of several kinds."""
    from refprep.bench.select import KINDS, TARGETS_S, measure_selection

    numbers = _numbers(clips)
    with steps("selections", len(numbers) * len(KINDS) * len(TARGETS_S) * rounds, quiet=quiet) as advance:
        result = measure_selection(numbers, rounds=rounds, seed=seed, on_round=advance)
    if format is not Format.TEXT:
        out(json.dumps(result, indent=2 if format is Format.JSON else None))
        return
    columns = ["clips", "kind", "target s", "median s", "worst s", "limit s", "proven optimal"]
    table(
        "",
        columns,
        [
            [
                str(row["clips"]),
                row["kind"],
                f"{row['target_s']:g}",
                f"{row['median_s']:.3f}",
                f"{row['worst_s']:.3f}",
                "-" if row["limit_s"] is None else f"{row['limit_s']:g}",
                "yes" if row["proven"] == rounds else f"no ({row['proven']} of {rounds})",
            ]
            for row in result["rows"]
        ],
    )


def _numbers(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and int(part) for part in parts):
        raise UsageError(f"{text!r} is no list of numbers", where="--clips", fix="Write, say, 24,200.")
    return [int(part) for part in parts]
