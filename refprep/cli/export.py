"""`refprep export`: a voice in the files or request bodies that an engine takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from refprep.cli.console import err, out, table
from refprep.cli.options import Format, FormatOption, QuietOption

if TYPE_CHECKING:
    from refprep.export import Export


def export(
    voice: Annotated[
        Path | None, typer.Argument(metavar="VOICE", help="Folder that `refprep build` wrote.")
    ] = None,
    to: Annotated[str, typer.Option("--to", metavar="ENGINE", help="One of those that --list names.")] = "",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="DIR", help="Folder for the files.")
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="Print what each engine takes.")] = False,
    format: FormatOption = Format.TEXT,  # noqa: A002  # the option's name
    quiet: QuietOption = False,
) -> None:
    """Write a voice as an engine takes it: whole clips, the same samples, the text that fits them.

    The voice is verified first. Exit 1 when it is not what was built, or when the engine takes no set of its clips.
    """
    from refprep.errors import UsageError
    from refprep.export import export_voice

    if show_list:
        _print_list(format)
        return
    if voice is None or not to or output is None:
        missing = [n for n, v in (("VOICE", voice), ("--to ENGINE", to), ("--output DIR", output)) if not v]
        raise UsageError(
            f"{', '.join(missing)} missing",
            where="export",
            fix="Write refprep export VOICE --to ENGINE -o DIR; --list names the engines.",
        )
    done = export_voice(voice, to, output)
    for note in done.notes:
        if not quiet:
            err(f"{voice}: note: {note}")
    for warning in done.warnings:
        err(f"{output}: warning: {warning}")
    if format is Format.TEXT:
        _print_text(done)
    else:
        row = {"output": str(output), **done.document}
        out(json.dumps(row, ensure_ascii=False, indent=2 if format is Format.JSON else None))


def _print_text(done: Export) -> None:
    document = done.document
    taken, left = len(document["clips"]), len(document["left_out"])
    out(f"{done.folder}: {document['engine']}, {taken} of {taken + left} clips, every sample as it was")
    for row in document["files"]:
        out(f"  {row['file']}")
    out(f"  use: {document['use']}")


def _print_list(format: Format) -> None:  # noqa: A002  # the option's name
    from refprep.export.registry import EXPORTERS, exporter_row

    rows = [exporter_row(e) for e in EXPORTERS.values()]
    if format is Format.TEXT:
        table("", list(rows[0]), [list(row.values()) for row in rows])
    elif format is Format.JSON:
        out(json.dumps({"schema_version": 1, "engines": rows}, ensure_ascii=False, indent=2))
    else:
        for row in rows:
            out(json.dumps({"schema_version": 1, **row}, ensure_ascii=False))
