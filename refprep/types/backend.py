"""What a synthesis backend can do, said before anything is loaded."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from refprep.types.synthesis import CloneMode


class TextNeed(enum.StrEnum):
    """What a mode does with the words of the reference."""

    REQUIRED = "required"
    UNUSED = "unused"


class CoverageRule(enum.StrEnum):
    """What it means for a mode when the reference's text does not cover its audio."""

    GATE = "gate"  # the talker would run away: refused
    INFORMATION = "information"  # the words are not used


@dataclass(frozen=True, slots=True)
class ModeProfile:
    """One way to give a recorded voice."""

    text: TextNeed
    coverage: CoverageRule


_IN_CONTEXT = ModeProfile(TextNeed.REQUIRED, CoverageRule.GATE)
_BY_SOUND = ModeProfile(TextNeed.UNUSED, CoverageRule.INFORMATION)

QWEN3_TTS, MOSS_TTS = "qwen3-tts", "moss-tts"

BACKEND_MODES: Mapping[str, Mapping[CloneMode, ModeProfile]] = MappingProxyType(
    {
        QWEN3_TTS: MappingProxyType({CloneMode.ICL: _IN_CONTEXT, CloneMode.X_VECTOR: _BY_SOUND}),
        MOSS_TTS: MappingProxyType(
            {
                CloneMode.CLONE: _BY_SOUND,
                CloneMode.CONTINUATION: _IN_CONTEXT,
                CloneMode.BOTH: _IN_CONTEXT,
            }
        ),
    }
)
"""Modes of every backend, its default first; a checkpoint may have fewer. Lint's engine profiles are read from here, too."""


def gates_text(backend: str) -> bool:
    """Whether a reference whose text does not cover its audio harms a backend, as it is used by default.

    Args:
        backend: Of ``BACKEND_MODES``; empty for any: then it might.
    """
    return not backend or next(iter(BACKEND_MODES[backend].values())).coverage is CoverageRule.GATE


@dataclass(frozen=True, slots=True)
class BackendProfile:
    """A checkpoint's abilities.

    Attributes:
        name: Of the backend.
        modes: Ways to give a recorded voice, the default first; empty where it takes none.
        needs_voice: Whether it speaks with a recorded voice only.
        languages: English names in lower case that it may be asked for; None where the checkpoint names none, and any goes.
        takes_instruction: Whether it follows one.
        streams: Whether audio comes while it speaks.
        sample_rate_hz: Of its audio.
        channels: Of its audio.
        codec: Kind of codec, as keys of codes name it.
        num_codebooks: Codes in a frame.
        codebook_size: Codes run from 0 to one below.
        frame_rate_hz: Of the codes.
    """

    name: str
    modes: tuple[CloneMode, ...]
    needs_voice: bool
    languages: tuple[str, ...] | None
    takes_instruction: bool
    streams: bool
    sample_rate_hz: int
    channels: int
    codec: str
    num_codebooks: int
    codebook_size: int
    frame_rate_hz: float

    @property
    def default_mode(self) -> CloneMode | None:
        """That is taken where nobody names one; None where no voice is taken."""
        return self.modes[0] if self.modes else None

    def needs_text(self, mode: CloneMode) -> TextNeed:
        """Whether a mode needs the words of the reference."""
        return BACKEND_MODES[self.name][mode].text

    def coverage(self, mode: CloneMode) -> CoverageRule:
        """Whether a reference whose text does not cover its audio is refused in a mode."""
        return BACKEND_MODES[self.name][mode].coverage


@dataclass(frozen=True, slots=True)
class SynthesisSettings:
    """How a checkpoint is run; a backend refuses what it cannot do.

    Attributes:
        device: ``cpu`` or ``cuda``.
        dtype: Of the talker: ``float32`` or ``bfloat16``.
        rows_together: Whether texts that are spoken side by side share their matrix products on a CPU.
        quantize: ``int8`` for the talker's layers (Qwen3-TTS on a CPU); None leaves them as they are.
        step_mode: How frames are run (Qwen3-TTS); None takes what suits the device.
        decoder_precision: Of the codec's decoder (MOSS-TTS): ``float32``, ``int8``, ...; None takes float32.
    """

    device: str
    dtype: str
    rows_together: bool = False
    quantize: str | None = None
    step_mode: str | None = None
    decoder_precision: str | None = None
