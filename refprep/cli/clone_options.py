"""What `refprep clone` makes of its options once the model is open: sampling by the kind of backend, and jobs."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refprep.errors import TextInputError, UsageError

if TYPE_CHECKING:
    from refprep.api_clone import Cloner
    from refprep.cloning.jobs import BatchLine
    from refprep.cloning.record import CloneJob, CloneOptions

_OF_CODES = ("temperature", "top_k", "top_p", "repetition_penalty")


def clone_options(cloner: Cloner, given: dict[str, Any], *, greedy: bool, **rest: Any) -> CloneOptions:  # noqa: ANN401  # options of several types
    """The checkpoint's sampling with what the command line names.

    Args:
        cloner: Open.
        given: ``temperature``, ``top_k``, ``top_p`` and ``repetition_penalty`` of codes; the same after ``subtalker_``
            (Qwen3-TTS) and, without the penalty, after ``text_`` (MOSS-TTS); None where the checkpoint decides.
        greedy: Take the likeliest always.
        rest: Further options.

    Raises:
        UsageError: A value out of range, or one that the backend does not have.
    """
    from refprep.cloning.record import CloneOptions
    from refprep.types import MossSampling

    named = {k: v for k, v in given.items() if v is not None}
    if isinstance(cloner.sampling, MossSampling):
        named = {f"audio_{k}" if k in _OF_CODES else k: v for k, v in named.items()}
        if greedy:
            named |= {"text_temperature": 0.0, "audio_temperature": 0.0}
    elif greedy:
        named |= {"do_sample": False, "subtalker_do_sample": False}
    unknown = sorted(named.keys() - {f.name for f in dataclasses.fields(cloner.sampling)})
    if unknown:
        raise UsageError(
            f"{cloner.profile.name} has no such choice",
            where=", ".join(f"--{name.replace('_', '-')}" for name in unknown),
            fix="Leave it out: subtalker options are Qwen3-TTS's, text options MOSS-TTS's.",
        )
    try:
        sampling = dataclasses.replace(cloner.sampling, **named)
    except ValueError as error:
        raise UsageError(str(error), where="sampling", fix="See `refprep clone --help`.") from error
    return CloneOptions(sampling=sampling, **rest)


def job_lines(
    job: CloneJob, *, text: str | None, text_file: Path | None, batch: Path | None, output: Path
) -> list[BatchLine]:
    """One line, or those of a batch.

    Args:
        job: With everything but the text; a batch's lines take from it what they do not say themselves.
        text: To speak, unless the next is given.
        text_file: That holds it.
        batch: JSONL of texts, instead of both.
        output: Of a single text.

    Raises:
        TextInputError: The file cannot be read.
        ManifestError: As ``refprep.cloning.jobs.read_jobs``.
    """
    from refprep.cloning.jobs import BatchLine, read_jobs

    if batch is not None:
        return [
            dataclasses.replace(
                line,
                job=dataclasses.replace(
                    line.job,
                    speaker=line.job.speaker or job.speaker,
                    instruct=line.job.instruct or job.instruct,
                    tokens=job.tokens,
                ),
            )
            for line in read_jobs(batch, language=job.language, seed=job.seed)
        ]
    if text_file is not None:
        try:
            text = text_file.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise TextInputError(
                f"it cannot be read: {error}", where=str(text_file), fix="Name a UTF-8 text file."
            ) from error
    return [BatchLine(dataclasses.replace(job, text=text or "", name=str(text_file or "")), output)]
