"""`refprep build`: a verified voice from clips."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from refprep.cli.console import err, out, status
from refprep.cli.options import (
    AsrOption,
    DeviceOption,
    EncoderOption,
    Format,
    FormatOption,
    LanguageOption,
    QuietOption,
    override,
    settings,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from refprep.pipeline.build import BuiltVoice
    from refprep.pipeline.candidate import Candidate


def build(
    paths: Annotated[
        list[Path], typer.Argument(metavar="CLIP...", help="Audio files, folders or manifests.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="VOICE", help="Folder of the voice.")],
    language: LanguageOption = "",
    speaker: Annotated[str, typer.Option("--speaker", help="corpus/country/gender/speaker.")] = "",
    control: Annotated[
        list[Path] | None, typer.Option("--control", help="Clips of people it must not be.")
    ] = None,
    anchor: Annotated[
        Path | None, typer.Option("--anchor", help="A clip that is known to be the voice.")
    ] = None,
    min_s: Annotated[
        float | None, typer.Option("--min", help="Least length of the reference, seconds.")
    ] = None,
    max_s: Annotated[float | None, typer.Option("--max", help="Greatest length, seconds.")] = None,
    target_s: Annotated[float | None, typer.Option("--target", help="Wished length, seconds.")] = None,
    gap: Annotated[str | None, typer.Option("--gap", help="Between clips: zeros-120ms.")] = None,
    tail: Annotated[str | None, typer.Option("--tail", help="After the last clip: zeros-160ms.")] = None,
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="Lowest cosine of a chosen pair.")
    ] = None,
    resample: Annotated[
        bool, typer.Option("--resample", help="Convert clips of another rate or format; written down.")
    ] = False,
    asr: AsrOption = None,
    encoder: EncoderOption = None,
    device: DeviceOption = None,
    format: FormatOption = Format.TEXT,  # noqa: A002  # the option's name
    quiet: QuietOption = False,
) -> None:
    """Build a verified voice: prove text and speaker, choose complete clips, join them bit for bit.

    Exit 1 when no admissible reference exists; why is said for every clip.
    """
    import json

    from refprep import api
    from refprep.pipeline.build import NoVoiceError

    config = settings(asr=asr, encoder=encoder, device=device)
    wanted = override(
        config.build,
        min_s=min_s,
        max_s=max_s,
        target_s=target_s,
        gap=gap,
        tail=tail,
        threshold=threshold,
    )
    if target_s is None:
        wanted = override(wanted, target_s=min(max(wanted.target_s, wanted.min_s), wanted.max_s))
    config = override(config, build=wanted)
    try:
        with status(quiet=quiet) as on_step:
            voice = api.build(
                paths,
                output,
                language=language,
                speaker=speaker,
                controls=control or (),
                anchor=anchor,
                config=config,
                resample=resample,
                on_step=on_step,
            )
    except NoVoiceError as error:
        if format is Format.TEXT:
            _print_refused(error.candidates)
        else:
            out(
                json.dumps(
                    {
                        "schema_version": 1,
                        "voice": None,
                        "error": error.what,
                        "refused": _refused(error.candidates),
                    },
                    ensure_ascii=False,
                )
            )
        raise
    if format is Format.TEXT:
        _print_voice(voice, quiet=quiet)
    else:
        document = json.loads((output / "voice.json").read_text(encoding="utf-8"))
        out(
            json.dumps(
                {"schema_version": 1, "voice": str(output), "document": document},
                ensure_ascii=False,
                indent=2 if format is Format.JSON else None,
            )
        )


def _print_voice(voice: BuiltVoice, *, quiet: bool) -> None:
    _print_refused(voice.candidates)
    reference = voice.reference
    out(
        f"{voice.folder}: {reference.duration_s:.2f} s from {len(reference.clips)} of {len(voice.candidates)} clips"
    )
    if quiet:
        return
    for clip in reference.clips:
        start_s = clip.start_sample / reference.sample_rate_hz
        out(f"  {start_s:6.2f} s  {clip.path}  {clip.text}")
    out(f"  {voice.selection.proof}")
    err(f"report: {voice.folder / 'report.html'}")


def _print_refused(candidates: Sequence[Candidate]) -> None:
    for candidate in candidates:
        refusal = candidate.refusal
        if refusal is not None:
            also = "".join(f"\n  and {f.code} {f.message}" for f in candidate.refusals[1:])
            out(f"refused {candidate.path}: {refusal.code} {refusal.message}{also}\n  help: {refusal.remedy}")


def _refused(candidates: Sequence[Candidate]) -> list[dict[str, str]]:
    return [
        {"path": c.path, "code": c.refusal.code, "reason": c.refusal.message, "remedy": c.refusal.remedy}
        for c in candidates
        if c.refusal is not None
    ]
