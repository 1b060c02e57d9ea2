"""`refprep bench parity`: our engine against another one, live."""

from __future__ import annotations

import enum
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from refprep.cli.console import out, status, table
from refprep.cli.options import Format, FormatOption, QuietOption


class Peer(enum.StrEnum):
    """Engines that ours can be held against."""

    QWEN_TTS = "qwen-tts"


class Dtype(enum.StrEnum):
    """Of the talker."""

    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"


CheckpointOption = Annotated[
    Path,
    typer.Option("--checkpoint", metavar="DIR", help="A Qwen3-TTS checkpoint, codec and tokenizer included."),
]
ThreadsOption = Annotated[int, typer.Option("--threads", min=1, help="Of both engines.")]
TimeoutOption = Annotated[
    float, typer.Option("--timeout", min=1, metavar="S", help="Longest that one process of the peer may run.")
]


def parity(
    against: Annotated[Peer, typer.Option("--against", help="The other engine.")],
    checkpoint: CheckpointOption,
    peer_python: Annotated[
        str,
        typer.Option(
            "--peer-python", metavar="PYTHON", help="Interpreter of the other engine's environment."
        ),
    ],
    dtype: Annotated[
        list[Dtype] | None,
        typer.Option("--dtype", help="Of the talker; may be repeated. Both when left out."),
    ] = None,
    frames: Annotated[int, typer.Option("--frames", min=1, max=150, help="To generate in every mode.")] = 24,
    reference: Annotated[
        float,
        typer.Option("--reference", metavar="S", min=1, max=12, help="Length of the made-up reference."),
    ] = 3.0,
    threads: ThreadsOption = 1,
    timeout: TimeoutOption = 3600,
    format: FormatOption = Format.TEXT,  # noqa: A002  # the option's name
    quiet: QuietOption = False,
) -> None:
    """Compare our engine with the official package in every mode of a checkpoint, on the CPU. Exit 1 where they differ."""
    from refprep.bench.parity_run import run_parity
    from refprep.bench.peers.process import find_python

    python = find_python(peer_python)
    with status(quiet=quiet) as tell:
        result = run_parity(
            checkpoint,
            peer=against.value,
            python=python,
            dtypes=[d.value for d in dtype or list(Dtype)],
            frames=frames,
            reference_s=reference,
            threads=threads,
            timeout_s=timeout,
            tell=tell,
        )
    if format is Format.TEXT:
        _print(result)
    else:
        out(json.dumps(result, ensure_ascii=False, indent=2 if format is Format.JSON else None))
    if not result["ok"]:
        raise typer.Exit(1)


def _print(result: dict[str, Any]) -> None:
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    out(f"{result['checkpoint']}: {result['kind']} {result['size']}, weights: {result['weights']}")
    out(f"against {result['against']} ({versions})")
    columns = ["mode", "dtype", "frames"]
    columns += [
        f"{part} {name}" for part in ("talker", "predictor") for name in ("argmax", "confident", "rel diff")
    ]
    columns += ["greedy frames", "codec max diff", "x-vector cosine", "ref codes", "token ids"]
    table("", columns, [_cells(row) for row in result["modes"]])
    if any(row["tokenizer_swapped"] for row in result["modes"]):
        out(
            "token ids: the peer's wrapper swaps the splitting pattern when it loads a folder (fix_mistral_regex); without "
            "that its ids are ours, which it was fed."
        )
    for fault in result["failures"]:
        out(
            f"FAILED {fault['mode']} {fault['dtype']}: {fault['criterion']} {fault['found']} ({fault['limit']})"
        )
    out("parity: yes" if result["ok"] else "parity: no")


def _cells(row: dict[str, Any]) -> list[str]:
    cells = [row["mode"], row["dtype"], str(row["frames"])]
    for part in ("talker", "predictor"):
        confident, of = row[f"{part}_confident"], row[f"{part}_confident_of"]
        cells += [
            _share(row[f"{part}_argmax"]),
            f"{_share(confident)} of {of}" if of else "- (none)",
            f"{row[f'{part}_rel_diff']:.1e}",
        ]
    ids = "equal" if row["token_ids_equal"] else "swapped" if row["tokenizer_swapped"] else "different"
    cosine, codes, wave = (row[n] for n in ("xvector_cosine", "ref_code_agreement", "codec_max_abs_diff"))
    return [
        *cells,
        "equal" if row["greedy_frames_equal"] else _parted(row["parted_at"]),
        "-" if wave is None else f"{wave:.1e}",
        "-" if cosine is None else f"{cosine:.7f}",
        "-" if codes is None else _share(codes),
        ids,
    ]


def _parted(at: tuple[int, int, int] | None) -> str:
    return "different" if at is None else f"part at frame {at[1]}, codebook {at[2]}"


def _share(value: float) -> str:
    """A percentage that says 100 only where it is all."""
    return "100 %" if value == 1 else f"{min(100 * value, 99.99):.2f} %"
