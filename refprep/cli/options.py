"""Options that several commands share, declared once."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from refprep.config import Config


class Format(enum.StrEnum):
    """How a report is printed."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"


class LoudnessChoice(enum.StrEnum):
    """``refprep.backends.moss_tts.LOUDNESS`` once more: importing that would load torch for every `--help`."""

    AS_IS = "as-is"
    PUBLISHED = "published"


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
    typer.Option(
        "--encoder",
        metavar="MODEL",
        help="Speaker encoder: an id of `refprep models ls` or a folder; of several with commas the first decides, and "
        "the others have to agree.",
    ),
]
CalibrationOption = Annotated[
    list[Path] | None,
    typer.Option("--calibration", metavar="FILE", help="What `refprep calibrate` measured of an encoder."),
]
DeviceOption = Annotated[str | None, typer.Option("--device", help="auto, cpu or cuda.")]
CodecOption = Annotated[
    str | None,
    typer.Option(
        "--codec",
        metavar="DIR",
        help="Codec of a MOSS-TTS model: a folder or an id; audio_tokenizer/ in the model, or the pulled one, when left out.",
    ),
]
LoudnessOption = Annotated[
    LoudnessChoice | None,
    typer.Option(
        "--loudness",
        help="Level of a reference for MOSS-TTS: as-is (when left out: what was proven is what is encoded), or the published "
        "gain toward -20 dBFS, 3 dB at most. Part of the key of the codes.",
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print results only.")]


def settings(*, asr: str | None = None, encoder: str | None = None, device: str | None = None) -> Config:
    """Settings of the nearest refprep.toml or pyproject.toml; what the command line names wins."""
    import dataclasses

    from refprep.config import load_config

    config = load_config(Path.cwd())
    return dataclasses.replace(
        config, models=override(config.models, asr=asr, encoder=encoder, device=device)
    )


_T = TypeVar("_T", bound="DataclassInstance")


def override(stage: _T, **given: object) -> _T:
    """A stage's settings with the values that were given; None keeps what is there."""
    import dataclasses

    return dataclasses.replace(stage, **{k: v for k, v in given.items() if v is not None})


def numbers(text: str | None, *, option: str) -> tuple[float, ...] | None:
    """Numbers with commas between them; None where the option was not given.

    Raises:
        UsageError: One of them is no number.
    """
    from refprep.errors import UsageError

    if text is None:
        return None
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise UsageError(f"{text!r} are no numbers", where=option, fix="Write 12,30, say.") from error
