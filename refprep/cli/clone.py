"""`refprep clone`: speak with a voice."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from refprep.cli.clone_options import clone_options, job_lines
from refprep.cli.clone_output import speak_all, stream_out
from refprep.cli.console import err, status
from refprep.cli.options import (
    CodecOption,
    DeviceOption,
    Format,
    FormatOption,
    LoudnessOption,
    QuietOption,
    settings,
)


class Mode(enum.StrEnum):
    """``refprep.types.CloneMode`` once more: importing that would load numpy for every `--help`."""

    ICL = "icl"
    X_VECTOR = "x-vector"
    CLONE = "clone"
    CONTINUATION = "continuation"
    BOTH = "both"


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
        Mode | None,
        typer.Option(
            "--mode",
            help="How the voice is given. Qwen3-TTS: icl, in context (when left out), or x-vector, by its embedding alone. "
            "MOSS-TTS: clone, without the reference's words (when left out), continuation, going on from it, or both.",
        ),
    ] = None,
    language: Annotated[
        str,
        typer.Option(
            "--language",
            help="Of the text (en, German, ...); the voice's when left out, auto for none. A language is no accent, and "
            "speaker similarity measures neither.",
        ),
    ] = "",
    speaker: Annotated[str | None, typer.Option("--speaker", help="Built-in speaker (CustomVoice).")] = None,
    instruct: Annotated[
        str | None,
        typer.Option(
            "--instruct",
            help="How to speak (CustomVoice 1.7B, MOSS-TTS: an accent, say; nothing here measures whether it came); who speaks "
            "(VoiceDesign).",
        ),
    ] = None,
    tokens: Annotated[
        int | None,
        typer.Option(
            "--tokens", min=1, help="Wanted length in frames of 80 ms, a hint to MOSS-TTS; too few cut words."
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same codes.")] = 0,
    greedy: Annotated[bool, typer.Option("--greedy", help="Take the likeliest code always.")] = False,
    temperature: Annotated[
        float | None,
        typer.Option(help="Of codebook 0 (MOSS-TTS: of all codes); the checkpoint's when left out."),
    ] = None,
    top_k: Annotated[int | None, typer.Option(help="Likewise.")] = None,
    top_p: Annotated[float | None, typer.Option(help="Likewise.")] = None,
    repetition_penalty: Annotated[float | None, typer.Option(help="Likewise.")] = None,
    subtalker_temperature: Annotated[
        float | None, typer.Option(help="Of codebooks 1 to 15 (Qwen3-TTS), likewise.")
    ] = None,
    subtalker_top_k: Annotated[int | None, typer.Option(help="Likewise.")] = None,
    subtalker_top_p: Annotated[float | None, typer.Option(help="Likewise.")] = None,
    text_temperature: Annotated[
        float | None, typer.Option(help="Of the text channel, which says when to end (MOSS-TTS), likewise.")
    ] = None,
    text_top_k: Annotated[int | None, typer.Option(help="Likewise.")] = None,
    text_top_p: Annotated[float | None, typer.Option(help="Likewise.")] = None,
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
            help="Qwen3-TTS: layers of talker and code predictor in int8 (CPU, float32): more than twice as fast, not equal "
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
    codec: CodecOption = None,
    loudness: LoudnessOption = None,
    decoder_precision: Annotated[
        str | None,
        typer.Option(
            "--decoder-precision",
            help="Of MOSS-TTS's codec decoder: float32 when left out, bfloat16, float16, int8 (needs torchao), plain-int8. What "
            "encodes a reference is float32 always.",
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
    from refprep.cloning.record import CloneJob
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
            mode=None if mode is None else CloneMode(mode.value),
            device=config.models.device,
            dtype=dtype,
            force=force,
            verify=verify,
            codec=codec,
            loudness=None if loudness is None else loudness.value,
            decoder_precision=decoder_precision,
            # The pieces of one text always come together: sharing their products, they still are the same every time.
            fast_batch=fast_batch or batch is None,
            quantize=None if quantize is None else quantize.value,
            step_mode=None if step_mode is None else step_mode.value,
            config=config,
            on_step=on_step,
        )
    if cloner.facts["weights"] == "random":
        err("refprep: note: the model's weights are random numbers: what it speaks is noise")
    if verify and instruct:
        err("refprep: note: the scores say whose voice it is and what it says; no score measures an accent")
    options = clone_options(
        cloner,
        {
            "temperature": temperature,
            "top_k": top_k,
            "top_p": top_p,
            "repetition_penalty": repetition_penalty,
            "subtalker_temperature": subtalker_temperature,
            "subtalker_top_k": subtalker_top_k,
            "subtalker_top_p": subtalker_top_p,
            "text_temperature": text_temperature,
            "text_top_k": text_top_k,
            "text_top_p": text_top_p,
        },
        greedy=greedy,
        attempts=attempts,
        best_of=best_of,
        margin=margin,
        whole_text=whole_text,
    )
    spoken_in = language_code(language) or cloner.language
    job = CloneJob("", spoken_in, seed, speaker, instruct, tokens)
    lines = job_lines(job, text=text, text_file=text_file, batch=batch, output=output)
    if stream:
        passed = stream_out(cloner, lines[0], options, format)
    else:
        folder = output if batch else Path()
        passed = speak_all(cloner, lines, folder, options, format, quiet=quiet)
    if not passed:
        raise typer.Exit(1)
