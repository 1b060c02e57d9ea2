"""What is asked of a MOSS-TTS generator and what it gives: text and integer codes alone, never a path.

mode          reference  prefix  Delay  Local v1.5
PLAIN         no         no      yes    yes
CLONE         yes        no      yes    yes
CONTINUATION  no         yes     yes    yes
BOTH          yes        yes     yes    refused: its prompt has no place for the reference

Codes are numpy arrays of integers, made by the codec's encoder in float32 beforehand.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refprep.errors import TextInputError, UsageError
from refprep.moss.config import GeneratorConfig, MossKind
from refprep.types import GeneratedCodes
from refprep.types import MossSampling as MossSampling


class MossMode(enum.StrEnum):
    """How a recorded voice stands in the prompt."""

    PLAIN = "plain"
    CLONE = "clone"  # codes of a reference in the user's turn; its words are not used
    CONTINUATION = "continuation"  # codes before the answer, their words before the text
    BOTH = "both"


def recommended_sampling(kind: MossKind) -> MossSampling:
    """By the publisher."""
    return MossSampling() if kind is MossKind.DELAY else MossSampling(text_temperature=1.0)


MOSS_GREEDY = MossSampling(text_temperature=0.0, audio_temperature=0.0)
"""The likeliest id everywhere. These models copy the reference then: for comparisons."""


@dataclass(frozen=True, slots=True, eq=False)
class MossRequest:
    """One text to speak.

    Attributes:
        text: What to say.
        reference: (frames, n_vq) integers, a voice to speak with.
        prefix: (frames, n_vq) integers, speech to go on from.
        prefix_text: The words of ``prefix``; they are put before the text.
        language: English name, such as ``Spanish``; a language, not an accent.
        instruction: How to say it.
        tokens: Wanted length in frames, a hint; one that is too small cuts words.
        quality: Free text, as are the next two.
        sound_event: See ``quality``.
        ambient_sound: See ``quality``.
        sampling: None takes the publisher's.
        seed: 0 to 2^64 - 1; the same request with the same seed gives the same codes.
        max_frames: The budget of new frames; a request that uses it up did not finish.
        max_rows: Steps at most; None allows what ``max_frames`` needs and ``TEXT_ROWS`` beside it.
    """

    text: str
    reference: npt.NDArray[np.integer] | None = None
    prefix: npt.NDArray[np.integer] | None = None
    prefix_text: str | None = None
    language: str | None = None
    instruction: str | None = None
    tokens: int | None = None
    quality: str | None = None
    sound_event: str | None = None
    ambient_sound: str | None = None
    sampling: MossSampling | None = None
    seed: int = 0
    max_frames: int = 750
    max_rows: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.seed < 2**64:
            raise ValueError("seed must be 0 to 2^64 - 1")
        if self.max_frames < 1 or (self.max_rows is not None and self.max_rows < 1):
            raise ValueError("max_frames and max_rows must be 1 or more")
        if self.tokens is not None and self.tokens < 1:
            raise ValueError("tokens must be 1 or more")

    @property
    def mode(self) -> MossMode:
        """By what is given."""
        if self.prefix is None:
            return MossMode.PLAIN if self.reference is None else MossMode.CLONE
        return MossMode.CONTINUATION if self.reference is None else MossMode.BOTH

    @property
    def spoken_text(self) -> str:
        """The words of the prefix, if any, and the text."""
        return self.text if self.prefix is None else f"{self.prefix_text} {self.text}"


@dataclass(frozen=True, slots=True, eq=False)
class MossCodes(GeneratedCodes):
    """What a generator wrote for one request; ``codes`` are the new frames alone.

    ``eos_ranks`` holds the odds against an end when each frame was begun, rounded down: 0 where the end was likelier.

    Attributes:
        context: (prefix frames, n_vq) int32 that stand before the new ones, for the decoder's state. Delay writes the last
            n_vq - 1 of them anew, codebook k the last k, so they are not those of the request.
        segment_frames: Lengths of the stretches of audio that ``codes`` are joined of; more than one is unusual.
        cut_frames: New frames that were begun and not completed when the request ended; they are not in ``codes``.
    """

    context: npt.NDArray[np.int32]
    segment_frames: tuple[int, ...]
    cut_frames: int


def check_request(request: MossRequest, config: GeneratorConfig) -> None:
    """Refuse what the checkpoint cannot do.

    Raises:
        UsageError: Codes that do not fit, or a mode or field that the model would drop without a word.
        TextInputError: Nothing to say.
    """
    if not request.text.strip():
        raise TextInputError("it is empty", where="the text to speak", fix="Give at least one word.")
    if request.prefix is not None and not (request.prefix_text or "").strip():
        raise _misfit("a prefix is given without its words", "Give prefix_text: what is said in it.")
    if request.prefix is None and request.prefix_text is not None:
        raise _misfit(
            "prefix_text is given without a prefix",
            "Give the codes of the speech to go on from; a clone needs no words of its reference.",
        )
    if config.kind is MossKind.LOCAL and request.mode is MossMode.BOTH:
        raise _misfit(
            "MOSS-TTS-Local v1.5 drops the reference of a continuation",
            "Give the reference (clone) or the prefix (continuation), not both.",
        )
    for name in ("reference", "prefix"):
        codes = getattr(request, name)
        if codes is not None:
            check_codes(codes, config, what=f"the {name}")
    sampling = request.sampling
    if sampling is not None and config.kind is MossKind.LOCAL:
        is_greedy = (sampling.text_temperature == 0, sampling.audio_temperature == 0)
        if is_greedy[0] != is_greedy[1]:
            raise _misfit(
                "MOSS-TTS-Local draws both stop and codes, or neither",
                "Set both temperatures to 0, or none of them.",
            )


def check_codes(codes: object, config: GeneratorConfig, *, what: str) -> None:
    """Refuse what are not codes of this generator's codec.

    Raises:
        UsageError: Says what was given, and what is taken.
    """
    fix = f"Give integer codes of shape (frames, {config.n_vq}), made by the codec's encoder in float32."
    if not isinstance(codes, np.ndarray):
        raise _misfit(f"{what} is a {type(codes).__name__}: a prompt takes codes, it reads no audio", fix)
    if not np.issubdtype(codes.dtype, np.integer):
        raise _misfit(f"{what} holds {codes.dtype}, codes are integers", fix)
    if codes.ndim != 2 or codes.shape[1] != config.n_vq or not codes.shape[0]:
        raise _misfit(f"{what} has shape {codes.shape}, this model takes (frames, {config.n_vq})", fix)
    low, high = int(codes.min()), int(codes.max())
    if low < 0 or high >= config.codebook_size:
        raise _misfit(
            f"{what} holds codes from {low} to {high}, a codebook has {config.codebook_size}",
            "They come from another codec, or hold pads. " + fix,
        )


def _misfit(what: str, fix: str) -> UsageError:
    return UsageError(what, where="the request", fix=fix)
