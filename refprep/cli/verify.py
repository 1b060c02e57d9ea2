"""`refprep verify`: is this voice what was built?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from refprep.cli.console import out
from refprep.cli.options import Format, FormatOption


def verify(
    voices: Annotated[
        list[Path], typer.Argument(metavar="VOICE...", help="Folders that `refprep build` wrote.")
    ],
    format: FormatOption = Format.TEXT,  # noqa: A002  # the option's name
) -> None:
    """Check hashes, the bit-identity of every joined clip, and codes against their key. Exit 1 when anything differs."""
    from refprep.voice import verify_voice

    results = [(folder, verify_voice(folder)) for folder in voices]
    rows = [
        {
            "schema_version": 1,
            "voice": str(folder),
            "ok": not result.problems,
            "clips": result.num_clips,
            "codes": result.num_codes,
            "problems": [{"about": about, "what": what} for about, what in result.problems],
            "notes": list(result.notes),
        }
        for folder, result in results
    ]
    if format is Format.JSON:
        out(json.dumps({"schema_version": 1, "voices": rows}, ensure_ascii=False, indent=2))
    elif format is Format.JSONL:
        for row in rows:
            out(json.dumps(row, ensure_ascii=False))
    else:
        for folder, result in results:
            for about, what in result.problems:
                out(f"{folder}: {about}: {what}")
            for note in result.notes:
                out(f"{folder}: note: {note}")
            if not result.problems:
                codes = f"; codes whole: {result.num_codes}" if result.num_codes else ""
                out(f"{folder}: {result.num_clips} clips, every sample as it was{codes}")
    if any(result.problems for _, result in results):
        raise typer.Exit(1)
