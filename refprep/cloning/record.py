"""What was asked and what came of it: every attempt is kept."""

from __future__ import annotations

from dataclasses import dataclass, field

from refprep.guard.budget import FrameBudget
from refprep.guard.runaway import RunawaySigns
from refprep.scoring.output import ScoredOutput
from refprep.types import Samples, Sampling, SamplingParams, StopReason, StreamEnd, SynthesisResult


@dataclass(frozen=True, slots=True)
class CloneJob:
    """One text to speak into one file.

    Attributes:
        text: Any length.
        language: BCP 47 or an English name; empty leaves it to the model.
        seed: Of the first attempt at the first piece.
        speaker: A built-in speaker (CustomVoice).
        instruct: How to speak (CustomVoice 1.7B, MOSS-TTS) or who speaks (VoiceDesign).
        tokens: Wanted length in frames (MOSS-TTS), of a text that is one piece.
        name: Of the job in messages; the file's, say.
    """

    text: str
    language: str = ""
    seed: int = 0
    speaker: str | None = None
    instruct: str | None = None
    tokens: int | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class CloneOptions:
    """How a job is spoken.

    Attributes:
        sampling: How codes are chosen, by the kind of backend.
        attempts: At most this many for each piece, each with another seed.
        best_of: Attempts that are always made; the best is taken.
        margin: Of the frame budget, times the expected duration.
        piece_s: Longest expected duration of a piece.
        pause_s: Least pause between two pieces.
        whole_text: Whether the text stands before the first frame; None leaves it to the model.
    """

    sampling: Sampling = field(default_factory=SamplingParams)
    attempts: int = 3
    best_of: int = 1
    margin: float = 2.0
    piece_s: float = 15.0
    pause_s: float = 0.3
    whole_text: bool | None = None

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.best_of < 1:
            raise ValueError("at least one attempt is needed")


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """One synthesis of one piece.

    Attributes:
        result: Codes, seed, stop reason, timings; the audio, too, unless it was given away as a stream.
        budget: What the piece could take.
        signs: What the guard saw.
        score: Of the output; None where it was not verified.
    """

    result: SynthesisResult | StreamEnd
    budget: FrameBudget
    signs: RunawaySigns
    score: ScoredOutput | None = None

    @property
    def stop(self) -> StopReason:
        """Why it ended."""
        return self.result.generated.stop

    @property
    def passed(self) -> bool:
        """Whether it ended by itself and, where it was verified, says what it should in the right voice."""
        return self.stop is StopReason.EOS and (self.score is None or self.score.passed)


@dataclass(frozen=True, slots=True, eq=False)
class SpokenPiece:
    """A piece of a text, with every attempt at it.

    Attributes:
        text: Of the piece.
        attempts: In the order they were made.
        chosen: Number of the attempt that was taken.
    """

    text: str
    attempts: tuple[Attempt, ...]
    chosen: int

    @property
    def best(self) -> Attempt:
        """The attempt that was taken."""
        return self.attempts[self.chosen]


@dataclass(frozen=True, slots=True, eq=False)
class Streamed:
    """A job, done; its samples were given away as they were made.

    Attributes:
        job: That was asked.
        pieces: In order.
        num_samples: Of all pieces and the pauses between them.
        sample_rate_hz: Of the audio.
        wall_s: All attempts, verification included.
        first_audio_s: From the job's start to its first samples; None where there are none.
    """

    job: CloneJob
    pieces: tuple[SpokenPiece, ...]
    num_samples: int
    sample_rate_hz: int
    wall_s: float
    first_audio_s: float | None

    @property
    def passed(self) -> bool:
        """Whether every piece has an attempt that passed."""
        return all(piece.best.passed for piece in self.pieces)

    @property
    def stop(self) -> StopReason:
        """EOS, or the reason of the first piece without."""
        return next((p.best.stop for p in self.pieces if p.best.stop is not StopReason.EOS), StopReason.EOS)

    @property
    def duration_s(self) -> float:
        """Length of the audio."""
        return self.num_samples / self.sample_rate_hz


@dataclass(frozen=True, slots=True, eq=False)
class Spoken(Streamed):
    """A job, done, with its audio.

    Attributes:
        samples: (num_samples,) float32, the pieces' best attempts joined.
    """

    samples: Samples
