"""`refprep transcribe`: what a file says, as text, JSON or subtitles."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from refprep.cli.console import out
from refprep.cli.options import AsrOption, DeviceOption, LanguageOption, settings


class TranscriptFormat(enum.StrEnum):
    """How a transcript is printed."""

    TXT = "txt"
    JSON = "json"
    SRT = "srt"


def transcribe(
    paths: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Audio or video files.")],
    language: LanguageOption = "",
    format: Annotated[  # noqa: A002  # the option's name
        TranscriptFormat, typer.Option("--format", help="txt, json or srt.")
    ] = TranscriptFormat.TXT,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder to write NAME.txt, .json or .srt into.")
    ] = None,
    asr: AsrOption = None,
    device: DeviceOption = None,
) -> None:
    """Write down what is said, with times and probabilities."""
    from refprep.api import open_listener
    from refprep.atomic import write_text
    from refprep.pipeline.decode import decode_file
    from refprep.text.transcript_formats import to_json, to_srt, to_txt

    writers = {TranscriptFormat.TXT: to_txt, TranscriptFormat.JSON: to_json, TranscriptFormat.SRT: to_srt}
    clips = [decode_file(path) for path in paths] if len(paths) == 1 else None
    listener = open_listener(settings(asr=asr, device=device).models)
    for index, path in enumerate(paths):
        clip = clips[index] if clips else decode_file(path)
        rendered = writers[format](listener.transcribe(clip, language=language), clip.source.path)
        if output is None:
            out(rendered)
        else:
            write_text(output / f"{path.stem}.{format.value}", rendered + "\n")
