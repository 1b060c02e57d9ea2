"""`refprep compare`: does one reference speak better than another, shown over pairs?"""

from __future__ import annotations

import enum
import json
from pathlib import Path
from typing import Annotated

import typer

from refprep.cli.console import out, status
from refprep.cli.lint_output import printable
from refprep.cli.options import (
    AsrOption,
    CodecOption,
    DeviceOption,
    EncoderOption,
    Format,
    FormatOption,
    QuietOption,
    numbers,
    settings,
)


class Mode(enum.StrEnum):
    """``refprep.types.CloneMode`` once more: importing that would load numpy for every `--help`."""

    ICL = "icl"
    X_VECTOR = "x-vector"
    CLONE = "clone"
    CONTINUATION = "continuation"
    BOTH = "both"


def compare(
    voices: Annotated[
        list[Path], typer.Argument(metavar="VOICE_A [VOICE_B]", help="Folders that `refprep build` wrote.")
    ],
    model: Annotated[
        str, typer.Option("--model", metavar="M", help="Checkpoint folder, or an id of `refprep models ls`.")
    ],
    text: Annotated[list[str] | None, typer.Option("--text", help="What to say; may be repeated.")] = None,
    text_file: Annotated[
        Path | None, typer.Option("--text-file", metavar="FILE", help="More texts, one a line, in UTF-8.")
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", help="Each text is spoken so many times.")] = 5,
    nested: Annotated[
        str | None,
        typer.Option(
            "--nested",
            metavar="3,6,12,30",
            help="With one voice: its beginnings of whole clips nearest to these lengths, against each other.",
        ),
    ] = None,
    mode: Annotated[
        Mode | None,
        typer.Option(
            "--mode",
            help="icl or x-vector (Qwen3-TTS); clone, continuation or both (MOSS-TTS); the model's default when left out.",
        ),
    ] = None,
    codec: CodecOption = None,
    language: Annotated[
        str, typer.Option("--language", help="Of the texts; the voice's when left out.")
    ] = "",
    instruct: Annotated[
        str | None, typer.Option("--instruct", help="How to speak, where the model takes it.")
    ] = None,
    control: Annotated[
        list[Path] | None, typer.Option("--control", help="Clips of people it must not be.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Speak although a reference's text does not cover its audio.")
    ] = False,
    dtype: Annotated[str | None, typer.Option("--dtype", help="float32 or bfloat16.")] = None,
    asr: AsrOption = None,
    encoder: EncoderOption = None,
    device: DeviceOption = None,
    format: FormatOption = Format.TEXT,  # noqa: A002  # the option's name
    quiet: QuietOption = False,
) -> None:
    """Speak the same texts with the same seeds from two references, and say what of the difference can be shown.

    Differences are of pairs, with intervals of 95 %: one that includes 0 shows none. Similarity does not measure accent.
    """
    from refprep.api_compare import compare_voices
    from refprep.compare.report import comparison_lines
    from refprep.types import CloneMode

    with status(quiet=quiet) as on_step:
        document = compare_voices(
            voices, model, _texts(text or [], text_file), seeds=seeds, nested_s=numbers(nested, option="--nested") or (),
            mode=None if mode is None else CloneMode(mode.value), codec=codec, language=language, instruct=instruct, dtype=dtype, force=force,
            controls=control or (), config=settings(asr=asr, encoder=encoder, device=device), on_step=on_step,
        )  # fmt: skip
    if format is Format.TEXT:
        for line in comparison_lines(document):
            out(printable(line))
    else:
        out(json.dumps(document, ensure_ascii=False, indent=2 if format is Format.JSON else None))


def _texts(given: list[str], path: Path | None) -> list[str]:
    from refprep.manifest.sidecar import read_text_file

    more = read_text_file(path).splitlines() if path is not None else []
    return [*given, *(line.strip() for line in more if line.strip())]
