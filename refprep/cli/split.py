"""`refprep split`: a long recording into complete utterances."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from refprep.cli.console import err, out, status
from refprep.cli.options import (
    AsrOption,
    DeviceOption,
    Format,
    FormatOption,
    LanguageOption,
    QuietOption,
    settings,
)


def split(
    recording: Annotated[Path, typer.Argument(metavar="LONG", help="The recording.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the utterances.")],
    language: LanguageOption = "",
    min_s: Annotated[float, typer.Option("--min", help="Shortest utterance, seconds.")] = 1.5,
    max_s: Annotated[float, typer.Option("--max", help="Longest utterance, seconds (30 at most).")] = 15.0,
    speaker: Annotated[
        str, typer.Option("--speaker", help="corpus/country/gender/speaker, for the manifest.")
    ] = "",
    asr: AsrOption = None,
    device: DeviceOption = None,
    format: FormatOption = Format.TEXT,  # noqa: A002  # the option's name
    quiet: QuietOption = False,
) -> None:
    """Cut a recording into complete utterances at pauses, each with its text beside it, and a manifest of them all.

    Exit 1 when nothing usable is in it.
    """
    import json

    from refprep.api import open_listener
    from refprep.errors import UsageError
    from refprep.pipeline.decode import decode_file
    from refprep.pipeline.split import SplitLimits, split_recording
    from refprep.utterances import write_utterances

    if not 0.5 <= min_s < max_s <= 30.0:
        raise UsageError(
            f"{min_s:g} to {max_s:g} s", where="--min/--max", fix="Write 0.5 <= --min < --max <= 30."
        )
    clip = decode_file(recording)
    listener = open_listener(settings(asr=asr, device=device).models)
    listener.require()
    with status(quiet=quiet) as on_step:
        found = split_recording(
            clip, listener, language=language, limits=SplitLimits(min_s=min_s, max_s=max_s), on_step=on_step
        )
    if not found:
        err(f"{recording}: no utterance of {min_s:g}-{max_s:g} s whose text covers it")
        raise typer.Exit(1)
    rows = write_utterances(output, found, source=recording, speaker=speaker)
    if format is Format.JSON:
        out(json.dumps({"schema_version": 1, "utterances": rows}, ensure_ascii=False, indent=2))
    elif format is Format.JSONL:
        for row in rows:
            out(json.dumps({"schema_version": 1, **row}, ensure_ascii=False))
    else:
        for row in rows:
            out(f"{output / str(row['audio'])}  {row['duration_s']:.2f} s  {row['text']}")
        kept_s = sum(u.span.duration_s for u in found)
        if not quiet:
            err(f"{len(rows)} utterances, {kept_s:.1f} of {clip.duration_s:.1f} s")
