"""What a run of `bench synth` is to measure."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from refprep.errors import TextInputError

PARTS = ("frame", "load", "clone")
STEPS = ("eager", "compiled", "graph")


@dataclass(frozen=True, slots=True)
class Sentences:
    """What is spoken under load.

    Attributes:
        lines: One sentence each.
        sha256: Of the file.
    """

    lines: tuple[str, ...]
    sha256: str


@dataclass(frozen=True, slots=True)
class SynthPlan:
    """A run.

    Attributes:
        checkpoint: Folder.
        parts: Of ``PARTS``.
        steps: Of ``STEPS``: rows of ours, each measured or an error; None takes what suits device and size.
        int8: A further row, with int8 products.
        device: ``cpu`` or ``cuda``.
        dtype: Of the talker.
        frames: Of a frame run and of a request under load; None: 40 and 86.
        threads: Of both engines.
        runs: Of each engine in the frame part.
        peer: Name of the other engine; None measures ours alone.
        python: Its interpreter.
        timeout_s: For one process.
        concurrency: Of the closed loops.
        rps: Of the open loops.
        seeds: So many runs of each open loop.
        requests: Of every loop; None: all sentences, so many times over, on a CPU the first sixteen.
        repeats: Of the sentences, without ``requests``.
        sentences: To speak.
        max_waiting: Length of our queue; None: any.
        leave_ratio: Of the clients, that go after their first chunk.
        voices: Of the clone part.
        keeps_audio: Of the closed loops, to be judged afterwards.
    """

    checkpoint: Path
    sentences: Sentences
    parts: tuple[str, ...] = PARTS
    steps: tuple[str, ...] | None = None
    int8: bool = False
    device: str = "cpu"
    dtype: str = "float32"
    frames: int | None = None
    threads: int = 1
    runs: int = 2
    peer: str | None = None
    python: Path | None = None
    timeout_s: float = 3600.0
    concurrency: tuple[int, ...] = (1, 8)
    rps: tuple[float, ...] = ()
    seeds: int = 3
    requests: int | None = None
    repeats: int = 1
    max_waiting: int | None = None
    leave_ratio: float = 0.0
    voices: int = 3
    keeps_audio: bool = False


def read_sentences(path: Path | None) -> Sentences:
    """One sentence a line, empty lines left out; the package's own without a path.

    Raises:
        TextInputError: The file cannot be read, or holds nothing.
    """
    try:
        raw = (files("refprep.bench") / "synth_sentences.txt" if path is None else path).read_bytes()
        lines = tuple(line.strip() for line in raw.decode("utf-8").splitlines() if line.strip())
    except (OSError, UnicodeDecodeError) as error:
        raise TextInputError(
            f"it cannot be read: {error}", where=str(path), fix="Name a UTF-8 file with a sentence a line."
        ) from error
    if not lines:
        raise TextInputError("it holds no sentence", where=str(path), fix="Write one sentence a line.")
    return Sentences(lines, hashlib.sha256(raw).hexdigest())
