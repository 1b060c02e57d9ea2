"""Jobs -> audio: pieces, attempts, the best of them, joined."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from refprep.cloning.join import join_pieces
from refprep.cloning.pieces import split_pieces
from refprep.cloning.record import Attempt, CloneJob, CloneOptions, Spoken, SpokenPiece, Streamed
from refprep.errors import TextInputError, UsageError
from refprep.guard.budget import FrameBudget, frame_budget
from refprep.guard.runaway import RunawayGuard
from refprep.protocols import Synthesizer
from refprep.scoring.best import best_of
from refprep.scoring.output import ScoredOutput
from refprep.text.language import english_name
from refprep.types import Samples, SpeechRequest, StopReason, StreamEnd, SynthesisResult, VoicePrompt
from refprep.units import FRAME_RATE_HZ

Score = Callable[[SynthesisResult, CloneJob], ScoredOutput]
"""Verifies the audio of one piece; its text is the result's."""

_STOP_ORDER = tuple(StopReason)
_SEED_STEP = 0x9E3779B97F4A7C15
"""An odd number: pieces and attempts of one job get seeds of their own, and so do those of the next seed."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a round of attempts is.

    Attributes:
        frames: Written in this round, all pieces together.
        expected_frames: By the pace; an estimate.
        round: 1 for first attempts.
        wall_s: Since the start of the round.
    """

    frames: int
    expected_frames: int
    round: int
    wall_s: float

    @property
    def audio_s(self) -> float:
        """Written in this round."""
        return self.frames / FRAME_RATE_HZ

    @property
    def rtf(self) -> float:
        """Wall time over audio time."""
        return self.wall_s / self.audio_s if self.frames else float("inf")


@dataclass(slots=True, eq=False)
class _Piece:
    job: CloneJob
    text: str
    budget: FrameBudget
    number: int
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def is_done(self) -> bool:
        return any(a.passed for a in self.attempts)

    def chosen(self) -> int:
        """Of verified attempts the best one by the stated order; otherwise the one that ended best."""
        scores = [a.score for a in self.attempts]
        ended = [n for n, a in enumerate(self.attempts) if a.stop is StopReason.EOS]
        scored = [(n, s) for n in ended if (s := scores[n]) is not None]
        if scored:
            return scored[best_of([s for _, s in scored])][0]
        order = sorted(range(len(self.attempts)), key=lambda n: (_STOP_ORDER.index(self.attempts[n].stop), n))
        return order[0]


def clone(
    jobs: Sequence[CloneJob],
    synthesizer: Synthesizer,
    *,
    voice: VoicePrompt | None = None,
    pace_per_s: float | None = None,
    options: CloneOptions | None = None,
    score: Score | None = None,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> list[Spoken]:
    """Speak texts.

    Every piece gets ``best_of`` attempts, and more with new seeds, up to ``attempts``, until one ends by itself and
    passes its verification. All of them are kept.

    Args:
        jobs: All are checked before the first one is spoken; their pieces are spoken side by side.
        synthesizer: That speaks.
        voice: A recorded voice, where the synthesizer takes one.
        pace_per_s: Of the reference (``guard.budget.reference_pace``).
        options: Sampling, attempts, margins.
        score: Verifies each attempt that ended by itself; None leaves that out.
        on_progress: Told after every frame.

    Returns:
        One for each job, in order; ask ``passed``.

    Raises:
        TextInputError: A job without words.
        UsageError: A job that the synthesizer cannot do.
        DeviceError: The device ran out of memory.
    """
    options = options or CloneOptions()
    started_s = time.perf_counter()
    pieces = _plans(jobs, synthesizer, voice, pace_per_s, options)
    everything = [piece for of_job in pieces for piece in of_job]
    rounds = max(options.attempts, options.best_of)
    for number in range(1, rounds + 1):
        due = [p for p in everything if number <= options.best_of or not p.is_done]
        if not due:
            break
        _attempt(due, synthesizer, voice, options, score, number, on_progress)
    wall_s = time.perf_counter() - started_s
    return [
        _spoken(job, of_job, synthesizer.sample_rate_hz, options, wall_s)
        for job, of_job in zip(jobs, pieces, strict=True)
    ]


def check_jobs(
    jobs: Sequence[CloneJob],
    synthesizer: Synthesizer,
    *,
    voice: VoicePrompt | None = None,
    pace_per_s: float | None = None,
    options: CloneOptions | None = None,
) -> None:
    """Refuse what ``clone`` would refuse, without speaking: for callers that speak many jobs in groups.

    Raises:
        TextInputError: A job without words.
        UsageError: A job that the synthesizer cannot do.
    """
    _plans(jobs, synthesizer, voice, pace_per_s, options or CloneOptions())


def stream_clone(
    job: CloneJob,
    synthesizer: Synthesizer,
    *,
    voice: VoicePrompt | None = None,
    pace_per_s: float | None = None,
    options: CloneOptions | None = None,
) -> Iterator[Samples | Streamed]:
    """Speak one text, giving samples away as they are decoded, then the record.

    What was given away is not kept, and cannot be taken back: there is one attempt for each piece, nothing is verified, and a piece that
    does not end by itself ends the stream.

    Raises:
        As ``clone``.
    """
    options = replace(options or CloneOptions(), attempts=1, best_of=1)
    started_s = time.perf_counter()
    (pieces,) = _plans([job], synthesizer, voice, pace_per_s, options)
    rate, first_s, num_samples = synthesizer.sample_rate_hz, None, 0
    for number, piece in enumerate(pieces):
        guard = RunawayGuard(piece.budget, sample_rate_hz=rate)
        for item in synthesizer.stream(_request(piece, voice, options), guard):
            if isinstance(item, StreamEnd):
                piece.attempts.append(Attempt(item, piece.budget, guard.signs))
                continue
            if first_s is None:
                first_s = time.perf_counter() - started_s
            num_samples += len(item)
            yield item
        if not piece.is_done:
            break
        if number + 1 < len(pieces):
            pause = np.zeros(round(options.pause_s * rate), np.float32)
            num_samples += len(pause)
            yield pause
    done = [p for p in pieces if p.attempts]
    yield Streamed(
        job,
        tuple(SpokenPiece(p.text, tuple(p.attempts), 0) for p in done),
        num_samples,
        rate,
        time.perf_counter() - started_s,
        first_s,
    )


def _plans(
    jobs: Sequence[CloneJob],
    synthesizer: Synthesizer,
    voice: VoicePrompt | None,
    pace_per_s: float | None,
    options: CloneOptions,
) -> list[list[_Piece]]:
    """Pieces of every job, all of them checked."""
    pieces = [_plan(job, pace_per_s, options) for job in jobs]
    for of_job in pieces:
        for piece in of_job:
            synthesizer.check(_request(piece, voice, options))
    return pieces


def _plan(job: CloneJob, pace_per_s: float | None, options: CloneOptions) -> list[_Piece]:
    texts = split_pieces(job.text, job.language, pace_per_s=pace_per_s, piece_s=options.piece_s)
    if not any(any(c.isalnum() for c in text) for text in texts):
        raise TextInputError(
            "it holds no words", where=job.name or "the text to speak", fix="Give at least one word."
        )
    if job.tokens is not None and len(texts) > 1:
        raise UsageError(
            f"a wanted length for a text that is spoken in {len(texts)} pieces",
            where=job.name or "--tokens",
            fix="Leave it out, or give it for a text of one piece.",
        )
    return [
        _Piece(
            job, text, frame_budget(text, job.language, pace_per_s=pace_per_s, margin=options.margin), number
        )
        for number, text in enumerate(texts)
    ]


def _request(piece: _Piece, voice: VoicePrompt | None, options: CloneOptions) -> SpeechRequest:
    job = piece.job
    return SpeechRequest(
        text=piece.text,
        voice=voice,
        speaker=job.speaker,
        instruct=job.instruct,
        language=english_name(job.language) if job.language else None,
        whole_text=options.whole_text,
        sampling=options.sampling,
        seed=seed_of(job.seed, piece=piece.number, attempt=len(piece.attempts)),
        max_frames=piece.budget.max_frames,
        tokens=job.tokens,
    )


def seed_of(seed: int, *, piece: int, attempt: int) -> int:
    """Seed of an attempt at a piece; the first attempt at the first piece has the job's own."""
    return (seed + (piece * 1024 + attempt) * _SEED_STEP) % 2**64


def _attempt(
    due: Sequence[_Piece],
    synthesizer: Synthesizer,
    voice: VoicePrompt | None,
    options: CloneOptions,
    score: Score | None,
    number: int,
    on_progress: Callable[[Progress], None],
) -> None:
    """One more attempt at each piece."""
    guards = [RunawayGuard(p.budget, sample_rate_hz=synthesizer.sample_rate_hz) for p in due]
    expected = sum(round(p.budget.expected_s * FRAME_RATE_HZ) for p in due)
    started_s = time.perf_counter()

    def tell() -> None:
        frames = sum(g.signs.frames for g in guards)
        on_progress(Progress(frames, expected, number, time.perf_counter() - started_s))

    requests = [_request(p, voice, options) for p in due]
    results = synthesizer.speak(requests, guards, tell)
    for piece, guard, result in zip(due, guards, results, strict=True):
        is_whole = result.generated.stop is StopReason.EOS
        verdict = score(result, piece.job) if score is not None and is_whole and len(result.samples) else None
        piece.attempts.append(Attempt(result, piece.budget, guard.signs, verdict))


def _spoken(
    job: CloneJob, pieces: Sequence[_Piece], rate_hz: int, options: CloneOptions, wall_s: float
) -> Spoken:
    done = tuple(SpokenPiece(p.text, tuple(p.attempts), p.chosen()) for p in pieces)
    results = [p.best.result for p in done]
    samples = join_pieces(
        [r.samples for r in results if isinstance(r, SynthesisResult)], rate_hz, pause_s=options.pause_s
    )
    first_s = done[0].attempts[0].result.first_audio_s
    return Spoken(job, done, len(samples), rate_hz, wall_s, first_s, samples)
