"""`refprep build --manifest` and `--discover`: one voice for every speaker."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from refprep.cli.console import err, out, status, table
from refprep.cli.options import Format

if TYPE_CHECKING:
    from refprep.api_build import CorpusOptions
    from refprep.corpus.run import CorpusRun
    from refprep.corpus.task import SpeakerResult

_SHOWN = 40
_COLUMNS = ("speaker", "status", "clips", "seconds", "lowest pair", "refused", "why")


def run_corpus(
    paths: Sequence[Path],
    output: Path,
    *,
    group_by: str | None,
    options: CorpusOptions,
    format: Format,  # noqa: A002  # the option's name
    quiet: bool,
) -> None:
    """Build the voices, print the summary; exit 1 when not one was built.

    Args:
        paths: Manifests, or clips to discover speakers in.
        output: Folder of the voices.
        group_by: Column that tells speakers apart; None discovers them.
        options: How.
        format: Of the report.
        quiet: Print results only.
    """
    from refprep import api_build

    with status(quiet=quiet) as tell:

        def on_result(result: SpeakerResult, is_resumed: bool) -> None:
            tell(f"{result.speaker}: {result.status}")
            if format is Format.JSONL:
                out(_line(result, is_resumed=is_resumed))

        if group_by is None:
            run = api_build.build_discovered(
                paths, output, options=options, on_step=tell, on_result=on_result
            )
        else:
            run = api_build.build_corpus(
                paths, output, group_by=group_by, options=options, on_result=on_result
            )
    _report(run, output, format, quiet=quiet)
    if not any(r.status == "built" for r in run.results):
        raise typer.Exit(1)


def _report(run: CorpusRun, output: Path, format: Format, *, quiet: bool) -> None:  # noqa: A002
    from refprep.corpus.ledger import count_statuses

    counts = count_statuses(run.results)
    if format is Format.JSON:
        document = {
            "schema_version": 1,
            "folder": str(output),
            "counts": counts,
            "resumed": run.resumed,
            "speakers": [dataclasses.asdict(r) for r in run.results],
        }
        out(json.dumps(document, ensure_ascii=False, indent=2))
    elif format is Format.TEXT:
        if not quiet:
            table("", list(_COLUMNS), [_row(r) for r in run.results[:_SHOWN]])
            if len(run.results) > _SHOWN:
                out(f"... and {len(run.results) - _SHOWN} more in {output / 'summary.csv'}")
        said = ", ".join(f"{number} {name}" for name, number in counts.items())
        out(f"{output}: {said} of {len(run.results)} speakers")
    if run.resumed and not quiet:
        err(f"{run.resumed} were finished by an earlier run")


def _line(result: SpeakerResult, *, is_resumed: bool) -> str:
    row = {"schema_version": 1, **dataclasses.asdict(result), "is_resumed": is_resumed}
    return json.dumps(row, ensure_ascii=False)


def _row(result: SpeakerResult) -> list[str]:
    return [
        result.speaker,
        result.status if result.is_verified or result.status != "built" else "built, not verified",
        f"{result.chosen} of {result.given}",
        f"{result.duration_s:.2f}" if result.duration_s else "",
        "" if result.min_pairwise_score is None else f"{result.min_pairwise_score:.2f}",
        " ".join(f"{code} x{count}" for code, count in result.refused.items()),
        result.reason,
    ]
