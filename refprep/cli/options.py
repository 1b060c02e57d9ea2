"""Options that several commands share, declared once."""

from __future__ import annotations

import dataclasses
import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from refprep.config import Config


class Format(enum.StrEnum):
    """How a report is printed."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"


FormatOption = Annotated[Format, typer.Option("--format", help="How the report is printed.")]
LanguageOption = Annotated[
    str,
    typer.Option("--language", help="Language of the speech (en, de, es-AR, ...); detected when left out."),
]
AsrOption = Annotated[
    str | None,
    typer.Option("--asr", metavar="MODEL", help="Recogniser: an id of `refprep models ls` or a folder."),
]
EncoderOption = Annotated[
    str | None,
    typer.Option("--encoder", metavar="MODEL", help="Speaker encoder: an id of `refprep models ls`."),
]
DeviceOption = Annotated[str | None, typer.Option("--device", help="auto, cpu or cuda.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print results only.")]


def settings(*, asr: str | None = None, encoder: str | None = None, device: str | None = None) -> Config:
    """Settings of the nearest refprep.toml or pyproject.toml; what the command line names wins."""
    from refprep.config import load_config

    config = load_config(Path.cwd())
    given = {k: v for k, v in {"asr": asr, "encoder": encoder, "device": device}.items() if v is not None}
    return dataclasses.replace(config, models=dataclasses.replace(config.models, **given))
