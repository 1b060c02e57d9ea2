"""`refprep score`: did an output say its text, all of it and nothing else, in the voice?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refprep.cli.console import out, status
from refprep.cli.lint_output import printable
from refprep.cli.options import (
    AsrOption,
    CalibrationOption,
    DeviceOption,
    EncoderOption,
    Format,
    FormatOption,
    QuietOption,
    override,
    settings,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from refprep.scoring import ScoredOutput


def score(
    outputs: Annotated[list[Path], typer.Argument(metavar="OUT...", help="What was synthesised.")],
    voice: Annotated[
        Path, typer.Option("--voice", metavar="VOICE", help="Folder that `refprep build` wrote.")
    ],
    text: Annotated[str | None, typer.Option("--text", help="What it was to say.")] = None,
    text_file: Annotated[
        Path | None, typer.Option("--text-file", metavar="FILE", help="The same, in a UTF-8 file.")
    ] = None,
    language: Annotated[
        str, typer.Option("--language", help="Language of the text (en, de, ...); the voice's when left out.")
    ] = "",
    control: Annotated[
        list[Path] | None, typer.Option("--control", help="Clips of people it must not be.")
    ] = None,
    trim_leak: Annotated[
        Path | None,
        typer.Option(
            "--trim-leak", metavar="FILE", help="Write the output without leaked words there (WAV)."
        ),
    ] = None,
    best: Annotated[
        bool, typer.Option("--best", help="Say which of several outputs to keep, and why.")
    ] = False,
    asr: AsrOption = None,
    encoder: EncoderOption = None,
    calibration: CalibrationOption = None,
    device: DeviceOption = None,
    format: FormatOption = Format.TEXT,  # noqa: A002  # the option's name
    quiet: QuietOption = False,
) -> None:
    """Score outputs of a voice: words against the text, leaked reference words, early, middle and late voice, pace, level.

    Exit 1 when one does not pass; with --best, when the best does not.
    """
    from refprep.api_score import OutputScorer
    from refprep.errors import UsageError
    from refprep.pipeline.decode import decode_file
    from refprep.scoring import best_of, trim_leaks
    from refprep.scoring.trim import write_trimmed

    wanted = _text(text, text_file)
    if trim_leak is not None:
        if len(outputs) != 1 or wanted is None:
            raise UsageError(
                "it needs one output and its text", where="--trim-leak", fix="Name one OUT and --text."
            )
        if trim_leak.is_dir() or trim_leak.resolve() in {p.resolve() for p in outputs}:
            raise UsageError(
                "it is a folder, or the output itself", where="--trim-leak", fix="Name another file."
            )
    config = settings(asr=asr, encoder=encoder, device=device)
    chosen = ",".join(str(c.absolute()) for c in calibration) if calibration else None
    config = override(config, build=override(config.build, calibration=chosen))
    clips = [decode_file(path) for path in outputs]
    with status(quiet=quiet) as on_step:
        on_step("voice")
        scorer = OutputScorer(voice, controls=control or (), config=config)
        scored: list[ScoredOutput] = []
        for clip in clips:
            on_step(clip.source.path)
            scored.append(scorer.score_clip(clip, text=wanted, language=language))
    if trim_leak is not None:
        write_trimmed(trim_leaks(clips[0], scored[0].score), trim_leak)
    index = best_of(scored) if best else None
    _print(scored, index, str(voice), format=format, quiet=quiet)
    deciding = scored if index is None else [scored[index]]
    if not all(o.passed for o in deciding):
        raise typer.Exit(1)


def _text(text: str | None, path: Path | None) -> str | None:
    from refprep.errors import TextInputError, UsageError
    from refprep.manifest.sidecar import read_text_file

    if text is not None and path is not None:
        raise UsageError("two texts", where="--text, --text-file", fix="Give one of them.")
    found = read_text_file(path) if path is not None else text
    if found is not None and not any(ch.isalnum() for ch in found):
        raise TextInputError(
            "the text has no words",
            where=str(path) if path is not None else "--text",
            fix="Give the text that the output was to say, or leave it out.",
        )
    return found


def _print(
    scored: Sequence[ScoredOutput],
    best: int | None,
    voice: str,
    *,
    format: Format,  # noqa: A002  # the option's name
    quiet: bool,
) -> None:
    from refprep.scoring.best import reason
    from refprep.scoring.report import SCHEMA_VERSION, findings_text, output_json, output_line

    version = {"schema_version": SCHEMA_VERSION}
    if format is Format.TEXT:
        for output in scored:
            if output.findings:
                out(printable(findings_text(output)))
            if not quiet or not output.passed:
                out(printable(output_line(output)))
        if best is not None:
            why = reason(scored, best)
            out(printable(f"best: {scored[best].score.path}" + (f" ({why})" if why else "")))
        return
    rows = [output_json(o) for o in scored]
    chosen: dict[str, Any] = {}
    if best is not None:
        chosen = {"best": {"path": scored[best].score.path, "index": best, "reason": reason(scored, best)}}
    if format is Format.JSON:
        document = {**version, "voice": voice, "outputs": rows, **chosen}
        out(json.dumps(document, ensure_ascii=False, indent=2))
        return
    for number, row in enumerate(rows):
        extra = {"is_best": number == best} if best is not None else {}
        out(json.dumps({**version, **row, **extra}, ensure_ascii=False))
