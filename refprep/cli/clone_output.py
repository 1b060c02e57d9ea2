"""What `refprep clone` does once its model and voice are open: speak, write, say what came of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from refprep.cli.console import err, out, status
from refprep.cli.options import Format

if TYPE_CHECKING:
    from collections.abc import Callable

    from refprep.api_clone import Cloner
    from refprep.cloning.clone import Progress
    from refprep.cloning.jobs import BatchLine
    from refprep.cloning.record import CloneOptions, Streamed

_GROUP = 32
"""Jobs that are spoken side by side before their files are written: memory does not grow with the batch."""


def speak_all(
    cloner: Cloner,
    lines: list[BatchLine],
    folder: Path,
    options: CloneOptions,
    format: Format,  # noqa: A002
    *,
    quiet: bool,
) -> bool:
    """Speak every line into its file below a folder; whether all passed."""
    from refprep.cloning.deliver import deliver

    cloner.check([line.job for line in lines], options)
    documents, passed = [], True
    for start in range(0, len(lines), _GROUP):
        group = lines[start : start + _GROUP]
        with status(quiet=quiet) as show:
            spoken = cloner.speak([line.job for line in group], options, on_progress=_shown(show))
        for line, one in zip(group, spoken, strict=True):
            path, document = deliver(one, folder / line.out, options=options, facts=cloner.facts)
            passed = passed and one.passed
            if format is Format.TEXT:
                _print(one, path)
            elif format is Format.JSONL:
                out(json.dumps({**document, "audio": str(path)}, ensure_ascii=False))
            else:
                documents.append({**document, "audio": str(path)})
    if format is Format.JSON:
        out(json.dumps({"schema_version": 1, "outputs": documents}, ensure_ascii=False, indent=2))
    return passed


def _shown(show: Callable[[str], None]) -> Callable[[Progress], None]:
    def tell(progress: Progress) -> None:
        again = f", attempt {progress.round}" if progress.round > 1 else ""
        show(
            f"{progress.frames} of about {progress.expected_frames} frames, {progress.audio_s:.1f} s, "
            f"RTF {progress.rtf:.2f}{again}"
        )

    return tell


def stream_out(cloner: Cloner, line: BatchLine, options: CloneOptions, format: Format) -> bool:  # noqa: A002
    """Speak one line while it is heard: into a growing file, or to stdout; whether it passed."""
    from refprep.atomic import write_text
    from refprep.cloning.audio import growing_wav, pcm16
    from refprep.cloning.document import spoken_document
    from refprep.cloning.record import Streamed

    spoken: Streamed | None = None
    if str(line.out) == "-":
        for item in cloner.stream(line.job, options):
            if isinstance(item, Streamed):
                spoken = item
            else:
                sys.stdout.buffer.write(pcm16(item))
                sys.stdout.buffer.flush()
    else:
        with growing_wav(line.out, cloner.synthesizer.sample_rate_hz) as wav:
            for item in cloner.stream(line.job, options):
                if isinstance(item, Streamed):
                    spoken = item
                else:
                    wav.write(item)
    assert spoken is not None  # noqa: S101  # a stream ends with its record
    if str(line.out) == "-":
        err(_sentence(spoken, "stdout"))
        return spoken.passed
    import hashlib

    with line.out.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    document = spoken_document(
        spoken, options=options, facts=cloner.facts, audio=line.out.name, audio_sha256=digest
    )
    write_text(line.out.with_suffix(".json"), json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    if format is Format.TEXT:
        _print(spoken, line.out)
    else:
        out(json.dumps({**document, "audio": str(line.out)}, ensure_ascii=False))
    return spoken.passed


def _print(spoken: Streamed, path: Path) -> None:
    out(_sentence(spoken, str(path)))
    for piece in spoken.pieces:
        best = piece.best
        if not best.passed:
            reason = best.signs.why or best.stop.value
            if best.score is not None:
                reason = ", ".join(best.score.faults) or reason
            count = len(piece.attempts)
            out(f"  {piece.text[:60]!r}: {count} attempt{'s' * (count > 1)}, none passed: {reason}")


def _sentence(spoken: Streamed, where: str) -> str:
    attempts = sum(len(p.attempts) for p in spoken.pieces)
    rtf = spoken.wall_s / spoken.duration_s if spoken.duration_s else float("inf")
    verdict = (
        ""
        if spoken.passed
        else f"RP601 error: {spoken.stop.value}; "
        if spoken.stop.value != "eos"
        else "did not pass; "
    )
    return (
        f"{where}: {verdict}{spoken.duration_s:.2f} s of speech, {len(spoken.pieces)} "
        f"piece{'s' * (len(spoken.pieces) != 1)}, {attempts} attempt{'s' * (attempts != 1)}, RTF {rtf:.2f}"
    )
