"""`refprep bench synth`: what a frame costs, when audio comes, how much of it at once."""

from __future__ import annotations

import enum
import json
from pathlib import Path
from typing import Annotated

import typer

from refprep.cli.bench_parity import CheckpointOption, Dtype, ThreadsOption, TimeoutOption
from refprep.cli.console import out, status
from refprep.cli.options import DeviceOption, Format, FormatOption, QuietOption, numbers
from refprep.errors import UsageError


class SynthPeer(enum.StrEnum):
    """Engines that ours can be timed against."""

    QWEN_TTS = "qwen-tts"
    FASTER_QWEN3_TTS = "faster-qwen3-tts"


def synth(
    checkpoint: CheckpointOption,
    against: Annotated[
        SynthPeer | None, typer.Option("--against", help="Another engine, timed in between.")
    ] = None,
    peer_python: Annotated[
        str | None,
        typer.Option(
            "--peer-python", metavar="PYTHON", help="Interpreter of the other engine's environment."
        ),
    ] = None,
    parts: Annotated[
        str, typer.Option("--parts", help="frame: cost of a frame; load: requests; clone: cold and cached.")
    ] = "frame,load,clone",
    steps: Annotated[
        str | None, typer.Option("--steps", help="Rows of ours: eager,compiled,graph. Left out: what fits.")
    ] = None,
    int8: Annotated[bool, typer.Option("--int8", help="A row with int8 products, too.")] = False,
    device: DeviceOption = None,
    dtype: Annotated[Dtype, typer.Option("--dtype", help="Of the talker.")] = Dtype.FLOAT32,
    frames: Annotated[
        int | None,
        typer.Option(
            "--frames", min=2, max=750, help="Of a run (40) and of a request of random weights (86)."
        ),
    ] = None,
    runs: Annotated[int, typer.Option("--runs", min=1, help="Of each engine, in the order A B B A.")] = 2,
    threads: ThreadsOption = 1,
    concurrency: Annotated[
        str | None, typer.Option("--concurrency", metavar="N,N", help="Closed loops; 1,8, on a GPU 1,8,32.")
    ] = None,
    rps: Annotated[
        str | None, typer.Option("--rps", metavar="X,X", help="Open loops: requests a second, Poisson.")
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Runs of each open loop.")] = 3,
    requests: Annotated[
        int | None, typer.Option("--requests", min=1, help="Of each loop; all sentences, 16 on a CPU.")
    ] = None,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Of the sentences.")] = 1,
    sentences: Annotated[
        Path | None, typer.Option("--sentences", metavar="FILE", help="One a line; else our own.")
    ] = None,
    max_waiting: Annotated[
        int | None, typer.Option("--max-waiting", min=0, help="Length of our queue; more are refused.")
    ] = None,
    leave: Annotated[
        float, typer.Option("--leave", min=0, max=1, help="Share of clients that go after their first chunk.")
    ] = 0.0,
    wer: Annotated[
        str | None, typer.Option("--wer", metavar="MODEL", help="Transcribe the outputs afterwards.")
    ] = None,
    similarity: Annotated[
        str | None,
        typer.Option(
            "--similarity", metavar="MODEL", help="Compare voices with the single stream afterwards."
        ),
    ] = None,
    samples: Annotated[
        Path | None, typer.Option("--samples", metavar="FILE", help="Every request, as JSON lines.")
    ] = None,
    published: Annotated[bool, typer.Option("--published", help="Print others' figures beside.")] = False,
    timeout: TimeoutOption = 3600,
    format: FormatOption = Format.TEXT,  # noqa: A002  # the option's name
    quiet: QuietOption = False,
) -> None:
    """Speed: time of a frame, first audio, throughput, clones cold and cached; alone or against another engine."""
    from refprep.bench.peers.process import find_python
    from refprep.bench.synth import run_synth
    from refprep.bench.synth_plan import PARTS, STEPS, SynthPlan, read_sentences
    from refprep.cli.bench_synth_output import print_result, take_rows
    from refprep.models.load import resolve_device

    if (against is None) != (peer_python is None):
        raise UsageError(
            "one is given without the other",
            where="--against, --peer-python",
            fix="Name the other engine and the interpreter of its environment, or neither.",
        )
    chosen = resolve_device(device or "auto")
    loops = numbers(concurrency, option="--concurrency") or ((1, 8) if chosen == "cpu" else (1, 8, 32))
    if any(c < 1 or c != int(c) for c in loops):
        raise UsageError("clients are counted", where="--concurrency", fix="Write 1,8, say.")
    rates = numbers(rps, option="--rps") or ()
    if any(not 0 < rate < 1e6 for rate in rates):
        raise UsageError("a rate is above 0", where="--rps", fix="Write 1,4, say.")
    plan = SynthPlan(
        checkpoint=checkpoint,
        sentences=read_sentences(sentences),
        parts=_names(parts, PARTS, "--parts"),
        steps=None if steps is None else _names(steps, STEPS, "--steps"),
        int8=int8,
        device=chosen,
        dtype=dtype.value,
        frames=frames,
        threads=threads,
        runs=runs,
        peer=None if against is None else against.value,
        python=None if peer_python is None else find_python(peer_python),
        timeout_s=timeout,
        concurrency=tuple(int(c) for c in loops),
        rps=rates,
        seeds=seeds,
        requests=requests,
        repeats=repeats,
        max_waiting=max_waiting,
        leave_ratio=leave,
        keeps_audio=wer is not None or similarity is not None,
    )
    with status(quiet=quiet) as tell:
        result = run_synth(plan, asr=wer, encoder=similarity, tell=tell)
    take_rows(result, samples)
    if format is Format.TEXT:
        print_result(result, published=published)
    else:
        out(json.dumps(result, ensure_ascii=False, indent=2 if format is Format.JSON else None))


def _names(text: str, known: tuple[str, ...], option: str) -> tuple[str, ...]:
    """Names with commas between them, in their own order."""
    given = {part.strip() for part in text.split(",") if part.strip()}
    if not given or given - set(known):
        raise UsageError(f"{text!r} names something else", where=option, fix=f"Choose of {','.join(known)}.")
    return tuple(name for name in known if name in given)
