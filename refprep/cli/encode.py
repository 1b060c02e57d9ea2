"""`refprep encode`: codes of voices, and their speaker embeddings, made once and kept in their folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refprep.cli.console import out, status
from refprep.cli.lint_output import printable
from refprep.cli.options import (
    CodecOption,
    DeviceOption,
    Format,
    FormatOption,
    LoudnessOption,
    QuietOption,
    settings,
)

if TYPE_CHECKING:
    from refprep.api_encode import EncodedVoice

SCHEMA_VERSION = 1


def encode(
    voices: Annotated[
        list[Path], typer.Argument(metavar="VOICE...", help="Folders that `refprep build` wrote.")
    ],
    model: Annotated[
        str,
        typer.Option(
            "--model",
            metavar="MODEL",
            help="Qwen3-TTS Base or MOSS-TTS checkpoint: an id of `refprep models ls`, or a folder.",
        ),
    ],
    codec: CodecOption = None,
    loudness: LoudnessOption = None,
    device: DeviceOption = None,
    format: FormatOption = Format.TEXT,  # noqa: A002  # the option's name
    quiet: QuietOption = False,
) -> None:
    """Encode voices for a checkpoint, in float32: codes and speaker embedding go into VOICE/codes and the cache.

    Codes of Qwen3-TTS and MOSS-TTS lie side by side, each under the key of its codec; MOSS-TTS takes no embedding. Exit 1 when a rule finds an error in the codes (RP5xx); those are not kept.
    """
    from refprep.api_encode import encode_voices

    device = settings(device=device).models.device
    done: list[EncodedVoice] = []
    with status(quiet=quiet) as on_step:
        for voice in encode_voices(
            voices,
            model,
            device=device,
            codec=codec,
            loudness=None if loudness is None else loudness.value,
            on_step=on_step,
        ):
            done.append(voice)
            if format is Format.TEXT:
                _print_text(voice, quiet=quiet)
            elif format is Format.JSONL:
                out(json.dumps({"schema_version": SCHEMA_VERSION, **_row(voice)}, ensure_ascii=False))
    if format is Format.JSON:
        document = {"schema_version": SCHEMA_VERSION, "model": model, "voices": [_row(v) for v in done]}
        out(json.dumps(document, ensure_ascii=False, indent=2))
    if not all(v.passed for v in done):
        raise typer.Exit(1)


def _print_text(voice: EncodedVoice, *, quiet: bool) -> None:
    from refprep.linter.render import sentence

    for found in voice.findings:
        place = f":{found.span.start_s:.2f}s" if found.span else ""
        line = f"{found.path}{place}: {found.code} {found.severity.value}: {found.message}"
        out(printable(f"{line}\n  help: {sentence(found.remedy)} `refprep explain {found.code}`"))
    if quiet and voice.passed:
        return
    where = {"voice": "they were there", "cache": "from the cache", "encoded": "encoded"}[voice.origin.value]
    kept = f"codes/{voice.path.name}" if voice.path else "nothing was kept"
    shape = f"{voice.entry.num_frames} frames of {voice.entry.codes.shape[1]} codes"
    if voice.entry.embedding_size is not None:
        shape += f", embedding of {voice.entry.embedding_size}"
    out(printable(f"{voice.folder}: {shape}, {where} in {voice.wall_s:.2f} s: {kept}"))


def _row(voice: EncodedVoice) -> dict[str, Any]:
    from dataclasses import asdict

    from refprep.linter.render import finding_json

    entry = voice.entry
    return {
        "voice": str(voice.folder),
        "passed": voice.passed,
        "origin": voice.origin.value,
        "path": str(voice.path) if voice.path else None,
        "digest": entry.key.digest,
        "frames": entry.num_frames,
        "codebooks": int(entry.codes.shape[1]),
        "embedding": entry.embedding_size,
        "num_samples": entry.num_samples,
        "wall_s": round(voice.wall_s, 4),
        "created_by": entry.created_by,
        "key": asdict(entry.key),
        "findings": [finding_json(f) for f in voice.findings],
    }
