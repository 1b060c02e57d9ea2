"""`refprep bench synth`: what a frame costs."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from refprep.cli.bench_parity import CheckpointOption, Dtype, Peer, ThreadsOption, TimeoutOption
from refprep.cli.console import out, status, table
from refprep.cli.options import Format, FormatOption, QuietOption
from refprep.errors import UsageError


def synth(
    checkpoint: CheckpointOption,
    against: Annotated[
        Peer | None, typer.Option("--against", help="Another engine, timed in between.")
    ] = None,
    peer_python: Annotated[
        str | None,
        typer.Option(
            "--peer-python", metavar="PYTHON", help="Interpreter of the other engine's environment."
        ),
    ] = None,
    dtype: Annotated[Dtype, typer.Option("--dtype", help="Of the talker.")] = Dtype.FLOAT32,
    frames: Annotated[int, typer.Option("--frames", min=2, max=300, help="Of every run.")] = 40,
    runs: Annotated[int, typer.Option("--runs", min=1, help="Of each engine, in the order A B B A.")] = 2,
    threads: ThreadsOption = 1,
    timeout: TimeoutOption = 3600,
    format: FormatOption = Format.TEXT,  # noqa: A002  # the option's name
    quiet: QuietOption = False,
) -> None:
    """Time of a frame and peak memory, on the CPU: our engine by itself or against the official package."""
    from refprep.bench.peers.process import find_python
    from refprep.bench.synth import run_synth

    if (against is None) != (peer_python is None):
        raise UsageError(
            "one is given without the other",
            where="--against, --peer-python",
            fix="Name the other engine and the interpreter of its environment, or neither.",
        )
    with status(quiet=quiet) as tell:
        result = run_synth(
            checkpoint,
            peer=None if against is None else against.value,
            python=None if peer_python is None else find_python(peer_python),
            dtype=dtype.value,
            frames=frames,
            threads=threads,
            runs=runs,
            timeout_s=timeout,
            tell=tell,
        )
    if format is Format.TEXT:
        _print(result)
    else:
        out(json.dumps(result, ensure_ascii=False, indent=2 if format is Format.JSON else None))


def _print(result: dict[str, Any]) -> None:
    out(
        f"{result['checkpoint']}: {result['kind']} {result['size']}, weights: {result['weights']}, {result['dtype']}, "
        f"{result['frames']} frames, {result['threads']} threads, {result['device']}"
    )
    columns = [
        "engine",
        "ms/frame",
        "runs",
        "codec ms/frame",
        "prefill ms",
        "load s",
        "peak MB",
        "of it torch",
    ]
    rows = []
    for name, found in result["engines"].items():
        spread = found["ms_per_frame_runs"]
        rows.append(
            [
                name,
                f"{found['ms_per_frame']:.1f}",
                f"{min(spread):.1f} to {max(spread):.1f}" if len(spread) > 1 else "1",
                f"{found['codec_ms_per_frame']:.1f}",
                f"{found['prefill_ms']:.1f}",
                f"{found['load_s']:.1f}",
                f"{found['peak_rss_bytes'] / 1e6:.0f}",
                f"{found['torch_rss_bytes'] / 1e6:.0f}",
            ]
        )
    table("", columns, rows)
    ratios = result["peer_over_ours"]
    if ratios:
        out(
            f"frames     {ratios['ms_per_frame']:.2f} x as fast ({ratios['ms_per_frame_with_codec']:.2f} x with codec)"
        )
        out(
            f"peak memory of the peer over ours: {ratios['peak_rss_bytes']:.2f}, without the import of torch "
            f"{ratios['peak_rss_beyond_torch_bytes']:.2f}"
        )
