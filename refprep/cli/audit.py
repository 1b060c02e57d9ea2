"""`refprep audit`: what precision choices do to a reference, on this checkpoint and this voice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from refprep.cli.console import err, out, status, table
from refprep.cli.lint_output import printable
from refprep.cli.options import CodecOption, DeviceOption, Format, FormatOption, QuietOption, settings


def audit(
    voice: Annotated[Path, typer.Argument(metavar="VOICE", help="Folder that `refprep build` wrote.")],
    model: Annotated[
        str,
        typer.Option(
            "--model", metavar="M", help="Checkpoint or codec: a folder, or an id of `refprep models ls`."
        ),
    ],
    codec: CodecOption = None,
    generator: Annotated[
        str,
        typer.Option(
            "--generator",
            help="Precisions of the generator, float32 and bfloat16; none looks at the codec alone.",
        ),
    ] = "float32,bfloat16",
    encoder: Annotated[
        str,
        typer.Option(
            "--encoder", help="Of the codec's encoder: float32, bfloat16, float16, int8, int8-dynamic, tf32."
        ),
    ] = "float32,bfloat16,float16,int8,tf32",
    decoder: Annotated[
        str, typer.Option("--decoder", help="Of the codec's decoder: float32, bfloat16, int8.")
    ] = "float32,bfloat16,int8",
    seconds: Annotated[
        float | None, typer.Option("--seconds", help="Of the reference; all of it when left out.")
    ] = None,
    text: Annotated[
        str, typer.Option("--text", help="That generators say; the reference's own when left out.")
    ] = "",
    frames: Annotated[int, typer.Option("--frames", help="That they write at most, 12.5 a second.")] = 50,
    control: Annotated[
        list[Path] | None, typer.Option("--control", help="Clips of people it must not be.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE.html", help="Write a page with the curves, too.")
    ] = None,
    device: DeviceOption = None,
    format: FormatOption = Format.TEXT,  # noqa: A002  # the option's name
    quiet: QuietOption = False,
) -> None:
    """Hold generator, reference encoder and codec decoder at every precision against float32; nothing is kept.

    Agreement that falls with the codebooks is rounding; a curve that is low from the start is a broken encoder. Similarity
    says how alike two voices sound to a speaker encoder: it does not measure accent. Exit 1 when float32 itself is
    inconsistent, or when `refprep encode` refuses the weights as they are stored (RP501).
    """
    from refprep.api_audit import audit_voice
    from refprep.atomic import write_bytes
    from refprep.audit.report import audit_lines, cell_table, encoder_table
    from refprep.report.audit.html import render_audit

    with status(quiet=quiet) as on_step:
        document = audit_voice(
            voice, model, codec=codec, generators=() if generator == "none" else _list(generator), encoders=_list(encoder), decoders=_list(decoder),
            seconds=seconds, text=text, frames=frames, controls=control or (), config=settings(device=device),
            on_step=on_step,
        )  # fmt: skip
    if report is not None:
        write_bytes(report, render_audit(document).encode("utf-8"))
    if format is Format.TEXT:
        for line in audit_lines(document):
            out(printable(line))
        for title, (header, rows) in (
            ("encoders", encoder_table(document)),
            ("matrix", cell_table(document)),
        ):
            if rows:
                table(title, header, rows)
        if report is not None and not quiet:
            err(f"refprep: wrote {report}")
    else:
        out(json.dumps(document, ensure_ascii=False, indent=2 if format is Format.JSON else None))
    if not document["passed"]:
        raise typer.Exit(1)


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
