"""`refprep split`: a recording of minutes or hours into complete utterances."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refprep.cli.console import err, out, status
from refprep.cli.options import (
    AsrOption,
    CalibrationOption,
    DeviceOption,
    EncoderOption,
    Format,
    FormatOption,
    LanguageOption,
    QuietOption,
    settings,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from refprep.config import ModelConfig
    from refprep.identity.verifier import Verifier
    from refprep.utterances import SplitResult


def split(
    recording: Annotated[Path, typer.Argument(metavar="LONG", help="The recording; hours are fine.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the utterances.")],
    language: LanguageOption = "",
    min_s: Annotated[float, typer.Option("--min", help="Shortest utterance, seconds.")] = 1.5,
    max_s: Annotated[float, typer.Option("--max", help="Longest utterance, seconds (30 at most).")] = 15.0,
    speaker: Annotated[
        str, typer.Option("--speaker", help="corpus/country/gender/speaker, for the manifest.")
    ] = "",
    identity: Annotated[
        bool, typer.Option("--identity/--no-identity", help="Tell the voices in it apart.")
    ] = True,
    voice: Annotated[
        int | None, typer.Option("--voice", min=1, help="Keep one voice alone; 1 has most speech.")
    ] = None,
    asr: AsrOption = None,
    encoder: EncoderOption = None,
    calibration: CalibrationOption = None,
    device: DeviceOption = None,
    format: FormatOption = Format.TEXT,  # noqa: A002  # the option's name
    quiet: QuietOption = False,
) -> None:
    """Cut a recording into complete utterances at pauses, each with its text beside it, and a manifest of them all.

    The manifest says who speaks in each, by number, and where somebody else speaks, too. Exit 1 when nothing usable is in
    the recording.
    """
    from refprep.api import open_listener
    from refprep.errors import UsageError
    from refprep.pipeline.split import SplitLimits
    from refprep.utterances import split_file

    if not 0.5 <= min_s < max_s <= 30.0:
        raise UsageError(
            f"{min_s:g} to {max_s:g} s", where="--min/--max", fix="Write 0.5 <= --min < --max <= 30."
        )
    is_asked = bool(encoder or voice or calibration)
    if is_asked and not identity:
        raise UsageError(
            "voices are not told apart",
            where="--no-identity",
            fix="Leave it out, or --voice, --encoder and --calibration.",
        )
    models = settings(asr=asr, encoder=encoder, device=device).models
    verifier = _verifier_opener(models, calibration or [], is_asked=is_asked) if identity else None
    with status(quiet=quiet) as on_step:
        result = split_file(
            recording,
            output,
            open_listener=lambda: open_listener(models),
            open_verifier=verifier,
            language=language,
            limits=SplitLimits(min_s=min_s, max_s=max_s),
            speaker=speaker,
            voice=voice,
            on_step=on_step,
        )
    _print(result, output, format, quiet=quiet)
    if result.voices_error is not None:
        err("the utterances are whole, but their voices were not told apart:")
        raise result.voices_error


def _verifier_opener(
    models: ModelConfig, calibrations: list[Path], *, is_asked: bool
) -> Callable[[], Verifier] | None:
    """How to open the speaker encoder, the first of several; None where it is not here and nobody asked for it.

    Raises:
        WeightsMissing: It is not here, and somebody did.
        ManifestError: A calibration cannot be read.
    """
    from dataclasses import replace

    from refprep.identity.calibration import load_calibration
    from refprep.models.load import choose_encoder, has_encoder
    from refprep.models.store import ModelStore

    store, name = ModelStore.default(), choose_encoder(models)
    if not Path(name).expanduser().is_dir():
        if is_asked:
            store.path(name)
        elif not has_encoder(models, store):
            err(f"voices are not told apart: {name} is not here; `refprep models pull {name}`")
            return None

    for path in calibrations:
        load_calibration(path)  # fails now rather than behind hours of work

    def open_verifier() -> Verifier:
        # Here, not above: torch comes with it, and the recogniser has to be gone by then.
        from refprep.models.verifiers import load_verifiers

        return load_verifiers(replace(models, encoder=name), store, calibrations=calibrations)[0]

    return open_verifier


def _print(result: SplitResult, output: Path, format: Format, *, quiet: bool) -> None:  # noqa: A002  # the option's name
    import json

    rows = result.rows
    if format is Format.JSON:
        out(json.dumps({"schema_version": 1, "utterances": rows}, ensure_ascii=False, indent=2))
    elif format is Format.JSONL:
        for row in rows:
            out(json.dumps({"schema_version": 1, **row}, ensure_ascii=False))
    else:
        for row in rows:
            out(f"{output / str(row['audio'])}  {row['duration_s']:.2f} s{_voice_of(row)}  {row['text']}")
        if not quiet:
            voices = len({row["voice"] for row in rows if row.get("voice") is not None})
            of_voices = f", {voices} voice{'s' * (voices > 1)}" if voices else ""
            err(f"{len(rows)} utterances, {result.kept_s:.1f} of {result.duration_s:.1f} s{of_voices}")


def _voice_of(row: dict[str, Any]) -> str:
    if "voice" not in row:
        return ""
    number = "?" if row["voice"] is None else str(row["voice"])
    doubt = "" if row["voice_is_sure"] else " (unsure)"
    return f"  voice {number}{doubt}{', mixed' if row['mixed'] else ''}"
