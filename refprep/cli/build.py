"""`refprep build`: a verified voice from clips."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    numbers,
    override,
    settings,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from refprep.pipeline.build import BuiltVoice
    from refprep.pipeline.candidate import Candidate


class Backend(enum.StrEnum):
    """The keys of ``refprep.types.BACKEND_MODES``: importing that would load numpy for every `--help`."""

    QWEN3_TTS = "qwen3-tts"
    MOSS_TTS = "moss-tts"


def build(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="VOICE", help="Folder of the voice, or of the voices.")
    ],
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="CLIP...", help="Audio files, folders or manifests.")
    ] = None,
    manifest: Annotated[
        list[Path] | None,
        typer.Option("--manifest", metavar="M", help="Manifest of a corpus: one voice for every speaker."),
    ] = None,
    group_by: Annotated[
        str,
        typer.Option("--group-by", metavar="COLUMN", help="With --manifest: what tells speakers apart."),
    ] = "speaker",
    discover: Annotated[
        bool, typer.Option("--discover", help="Find the speakers among unlabelled clips; one voice for each.")
    ] = False,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=1, help="With several voices: so many at a time.")
    ] = 1,
    engine: Annotated[str, typer.Option("--engine", help="With several voices: local or ray.")] = "local",
    resume: Annotated[
        bool, typer.Option("--resume", help="With several voices: go on where an earlier run stopped.")
    ] = False,
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
    nested: Annotated[
        str | None,
        typer.Option("--nested", metavar="12,30", help="References of which each is a prefix of the next."),
    ] = None,
    gap: Annotated[
        str | None, typer.Option("--gap", help="Between clips: zeros-120ms or room-tone-120ms.")
    ] = None,
    tail: Annotated[str | None, typer.Option("--tail", help="After the last clip: zeros-160ms.")] = None,
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="Lowest score of a chosen pair.")
    ] = None,
    calibration: CalibrationOption = None,
    consent: Annotated[
        str,
        typer.Option(
            "--consent", help="How it is known that the speaker agrees; for clips whose row does not say."
        ),
    ] = "",
    require_consent: Annotated[
        bool, typer.Option("--require-consent", help="Refuse clips for which nobody wrote down the consent.")
    ] = False,
    backend: Annotated[
        Backend | None,
        typer.Option(
            "--backend",
            help="The voice is for it: moss-tts clones without the words, so a text that does not cover its clip "
            "is told and refuses nothing. Any when left out.",
        ),
    ] = None,
    resample: Annotated[
        bool, typer.Option("--resample", help="Convert clips of another rate or format; written down.")
    ] = False,
    asr: AsrOption = None,
    encoder: EncoderOption = None,
    device: DeviceOption = None,
    cache: Annotated[
        bool, typer.Option("--cache/--no-cache", help="Remember what was heard in a clip, by its content.")
    ] = True,
    format: FormatOption = Format.TEXT,  # noqa: A002  # the option's name
    quiet: QuietOption = False,
) -> None:
    """Build a verified voice: prove text and speaker, choose complete clips, join them bit for bit.

    With --manifest, or --discover, one voice for every speaker: `ledger.jsonl` and `summary.csv` in the folder say what was
    built, refused and why.

    Exit 1 when no admissible reference exists; why is said for every clip.
    """
    import json

    from refprep import api_build
    from refprep.errors import UsageError
    from refprep.pipeline.candidate import NoVoiceError

    config = settings(asr=asr, encoder=encoder, device=device)
    wanted = override(
        config.build,
        min_s=min_s,
        max_s=max_s,
        target_s=target_s,
        gap=gap,
        tail=tail,
        threshold=threshold,
        nested=numbers(nested, option="--nested"),
        calibration=",".join(str(Path(c).absolute()) for c in calibration) if calibration else None,
        require_consent=require_consent or None,
        backend=None if backend is None else backend.value,
        cache=None if cache else False,
    )
    if target_s is None:
        wanted = override(wanted, target_s=min(max(wanted.target_s, wanted.min_s), wanted.max_s))
    config = override(config, build=wanted)
    if bool(paths) == bool(manifest):
        raise UsageError(
            "no clips" if not paths else "clips and a manifest of a corpus",
            where="build",
            fix="Name clips for one voice, or --manifest for one voice a speaker.",
        )
    if manifest or discover:
        if speaker or anchor:
            raise UsageError(
                "--speaker and --anchor are about one voice",
                where="--manifest" if manifest else "--discover",
                fix="Leave them out; the manifest names the speakers.",
            )
        from refprep.cli.build_corpus import run_corpus

        run_corpus(
            manifest or paths or [],
            output,
            group_by=None if discover else group_by,
            options=api_build.CorpusOptions(
                language=language,
                consent=consent,
                controls=tuple(control or ()),
                config=config,
                resample=resample,
                jobs=jobs,
                engine=engine,
                resume=resume,
            ),
            format=format,
            quiet=quiet,
        )
        return
    if resume or jobs > 1 or engine != "local":
        raise UsageError(
            "--jobs, --resume and --engine are about many voices",
            where="build",
            fix="Add --manifest or --discover, or leave them out.",
        )
    try:
        with status(quiet=quiet) as on_step:
            voice = api_build.build(
                paths or [],
                output,
                language=language,
                speaker=speaker,
                consent=consent,
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
