"""`refprep clone`: speak with a voice."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refprep.cli.clone_output import speak_all, stream_out
from refprep.cli.console import err, status
from refprep.cli.options import DeviceOption, Format, FormatOption, QuietOption, settings

if TYPE_CHECKING:
    from refprep.api_clone import Cloner
    from refprep.cloning.jobs import BatchLine
    from refprep.cloning.record import CloneOptions


class Mode(enum.StrEnum):
    """``refprep.types.CloneMode`` once more: importing that would load numpy for every `--help`."""

    ICL = "icl"
    X_VECTOR = "x-vector"


class StepMode(enum.StrEnum):
    """``refprep.engine.steps.StepMode``, for the same reason."""

    EAGER = "eager"
    COMPILED = "compiled"
    GRAPH = "graph"


class Quantize(enum.StrEnum):
    """What layers are held in."""

    INT8 = "int8"


def clone(
    text: Annotated[str | None, typer.Argument(metavar="[TEXT]", help="What to say.")] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="M", help="Checkpoint folder, or an id of `refprep models ls`."),
    ] = None,
    voice: Annotated[
        Path | None, typer.Option("--voice", metavar="VOICE", help="Folder that `refprep build` wrote.")
    ] = None,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="WAV file; a folder with --batch; - for PCM on stdout with --stream."
        ),
    ] = Path("out.wav"),
    text_file: Annotated[
        Path | None, typer.Option("--text-file", metavar="FILE", help="The text, in UTF-8.")
    ] = None,
    batch: Annotated[
        Path | None,
        typer.Option(
            "--batch", metavar="JOBS.jsonl", help='One {"text": ..., "out": ...} a line, spoken side by side.'
        ),
    ] = None,
    stream: Annotated[
        bool,
        typer.Option("--stream", help="Write audio as it is spoken: a growing WAV, or 16-bit PCM to -o -."),
    ] = False,
    mode: Annotated[
        Mode,
        typer.Option("--mode", help="With the reference in context, or by its speaker embedding alone."),
    ] = Mode.ICL,
    language: Annotated[
        str,
        typer.Option(
            "--language", help="Of the text (en, German, ...); the voice's when left out, auto for none."
        ),
    ] = "",
    speaker: Annotated[str | None, typer.Option("--speaker", help="Built-in speaker (CustomVoice).")] = None,
    instruct: Annotated[
        str | None,
        typer.Option("--instruct", help="How to speak (CustomVoice 1.7B); who speaks (VoiceDesign)."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same codes.")] = 0,
    greedy: Annotated[bool, typer.Option("--greedy", help="Take the likeliest code always.")] = False,
    temperature: Annotated[
        float | None, typer.Option(help="Of codebook 0; the checkpoint's when left out.")
    ] = None,
    top_k: Annotated[int | None, typer.Option(help="Likewise.")] = None,
    top_p: Annotated[float | None, typer.Option(help="Likewise.")] = None,
    repetition_penalty: Annotated[float | None, typer.Option(help="Likewise.")] = None,
    subtalker_temperature: Annotated[
        float | None, typer.Option(help="Of codebooks 1 to 15, likewise.")
    ] = None,
    subtalker_top_k: Annotated[int | None, typer.Option(help="Likewise.")] = None,
    subtalker_top_p: Annotated[float | None, typer.Option(help="Likewise.")] = None,
    whole_text: Annotated[
        bool | None,
        typer.Option(
            "--whole-text/--streamed-text", help="The text before the first frame, or a token a frame."
        ),
    ] = None,
    attempts: Annotated[int, typer.Option(min=1, help="At most so many for each piece of text.")] = 3,
    best_of: Annotated[int, typer.Option(min=1, help="Always so many; the best is kept.")] = 1,
    margin: Annotated[float, typer.Option(min=1.0, help="Of the budget, times the expected duration.")] = 2.0,
    fast_batch: Annotated[
        bool,
        typer.Option(
            "--fast-batch",
            help="Texts of a --batch share products: faster, codes may differ from those alone.",
        ),
    ] = False,
    quantize: Annotated[
        Quantize | None,
        typer.Option(
            "--quantize",
            help="Layers of talker and code predictor in int8 (CPU, float32): more than twice as fast, not equal "
            "to the bit; refused if it changes what the checkpoint says.",
        ),
    ] = None,
    step_mode: Annotated[
        StepMode | None,
        typer.Option(
            "--step-mode",
            help="How frames are run: graph on CUDA, eager on a CPU when left out; compiled takes minutes to make.",
        ),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Score what was spoken; try again where it fails.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Speak although the reference's text does not cover its audio.")
    ] = False,
    device: DeviceOption = None,
    dtype: Annotated[
        str | None, typer.Option(help="float32 or bfloat16; by the device when left out.")
    ] = None,
    format: FormatOption = Format.TEXT,  # noqa: A002  # the option's name
    quiet: QuietOption = False,
) -> None:
    """Speak with a voice. Exit 1 when an output did not end by itself, or did not pass its verification."""
    from refprep.api_clone import Cloner
    from refprep.engine.threads import settle_threads
    from refprep.errors import UsageError
    from refprep.text.language import language_code
    from refprep.types import CloneMode

    if model is None:
        raise UsageError(
            "no model",
            where="clone",
            fix="Name a checkpoint with --model; `refprep models ls` lists what is known.",
        )
    if sum(given is not None for given in (text, text_file, batch)) != 1:
        raise UsageError("not exactly one text", where="clone", fix="Give TEXT, --text-file or --batch.")
    if stream and (batch or verify or best_of > 1):
        raise UsageError(
            "a stream gives away what it has spoken",
            where="--stream",
            fix="Leave out --batch, --verify and --best-of, or leave out --stream.",
        )
    if str(output) == "-" and not stream:
        raise UsageError("audio on stdout is a stream", where="-o -", fix="Add --stream, or name a file.")
    config = settings(device=device)
    settle_threads()
    with status(quiet=quiet) as on_step:
        cloner = Cloner(
            model,
            voice=voice,
            mode=CloneMode(mode.value),
            device=config.models.device,
            dtype=dtype,
            force=force,
            verify=verify,
            # The pieces of one text always come together: sharing their products, they still are the same every time.
            fast_batch=fast_batch or batch is None,
            quantize=None if quantize is None else quantize.value,
            step_mode=None if step_mode is None else step_mode.value,
            config=config,
            on_step=on_step,
        )
    if cloner.facts["weights"] == "random":
        err("refprep: note: the model's weights are random numbers: what it speaks is noise")
    options = _options(
        cloner,
        {
            "temperature": temperature,
            "top_k": top_k,
            "top_p": top_p,
            "repetition_penalty": repetition_penalty,
            "subtalker_temperature": subtalker_temperature,
            "subtalker_top_k": subtalker_top_k,
            "subtalker_top_p": subtalker_top_p,
        }
        | ({"do_sample": False, "subtalker_do_sample": False} if greedy else {}),
        attempts=attempts,
        best_of=best_of,
        margin=margin,
        whole_text=whole_text,
    )
    spoken_in = language_code(language) or cloner.language
    lines = _lines(text, text_file, batch, output, spoken_in, seed, speaker, instruct)
    if stream:
        passed = stream_out(cloner, lines[0], options, format)
    else:
        folder = output if batch else Path()
        passed = speak_all(cloner, lines, folder, options, format, quiet=quiet)
    if not passed:
        raise typer.Exit(1)


def _options(cloner: Cloner, given: dict[str, Any], **rest: Any) -> CloneOptions:  # noqa: ANN401  # options of several types
    import dataclasses

    from refprep.cloning.record import CloneOptions
    from refprep.errors import UsageError

    try:
        sampling = dataclasses.replace(cloner.sampling, **{k: v for k, v in given.items() if v is not None})
    except ValueError as error:
        raise UsageError(str(error), where="sampling", fix="See `refprep clone --help`.") from error
    return CloneOptions(sampling=sampling, **rest)


def _lines(
    text: str | None,
    text_file: Path | None,
    batch: Path | None,
    output: Path,
    language: str,
    seed: int,
    speaker: str | None,
    instruct: str | None,
) -> list[BatchLine]:
    import dataclasses

    from refprep.cloning.jobs import BatchLine, read_jobs
    from refprep.cloning.record import CloneJob
    from refprep.errors import TextInputError

    if batch is not None:
        return [
            dataclasses.replace(
                line,
                job=dataclasses.replace(
                    line.job, speaker=line.job.speaker or speaker, instruct=line.job.instruct or instruct
                ),
            )
            for line in read_jobs(batch, language=language, seed=seed)
        ]
    if text_file is not None:
        try:
            text = text_file.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise TextInputError(
                f"it cannot be read: {error}", where=str(text_file), fix="Name a UTF-8 text file."
            ) from error
    job = CloneJob(text or "", language, seed, speaker, instruct, name=str(text_file or ""))
    return [BatchLine(job, output)]
