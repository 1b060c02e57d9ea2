"""A generator at a precision, with a reference's codes in its prompt: its logits along given frames, and what it writes.

Along given frames a difference stays one of a step; left to themselves two generators part for good at the first near tie,
so both are looked at. Everything is greedy: the likeliest code always.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import torch

from refprep.engine.config import RANDOM_LABEL, ModelKind
from refprep.engine.config import read_config as read_qwen3
from refprep.engine.engine import Engine
from refprep.engine.json_config import read_json
from refprep.engine.model import DTYPES, TalkerCheckpoint, load_checkpoint
from refprep.engine.prompt import build_prompt
from refprep.engine.speaker import load_speaker_encoder
from refprep.engine.teacher import force_codes
from refprep.moss.config import is_moss
from refprep.moss.config import read_config as read_moss
from refprep.moss.delay import DelayModel
from refprep.moss.engine import MossEngine
from refprep.moss.load import MossCheckpoint, load_generator
from refprep.moss.prompt import build_prompt as build_moss_prompt
from refprep.moss.request import MOSS_GREEDY, MossRequest
from refprep.moss.teacher import force_delay, force_local
from refprep.precision import exact_fp32
from refprep.types import GREEDY, CloneMode, CodeMatrix, Samples, SpeechRequest, VoicePrompt
from refprep.units import CODE_RATE_HZ

GENERATORS = tuple(DTYPES)
FORCED_FRAMES = 50
"""Of the reference, along which logits are compared."""

_WHERE = "generator audit"


@dataclass(frozen=True, slots=True)
class LogitShift:
    """How far the logits of one run are from those of the exact one, along the same frames.

    Attributes:
        rel_diff: Norm of the difference over the norm of the exact ones.
        same_choice: Share of positions whose likeliest entry is the same.
    """

    rel_diff: float
    same_choice: float


@dataclass(frozen=True, slots=True, eq=False)
class Saying:
    """What is spoken, by whom.

    Attributes:
        text: To say.
        reference_text: Words of the reference.
        samples: (T,) float32 of the reference at 24 kHz; speaker embeddings come from them, in float32.
        frames: To write at most.
    """

    text: str
    reference_text: str
    samples: Samples
    frames: int


class AuditGenerator(Protocol):
    """A loaded generator."""

    def logits(self, reference: CodeMatrix, forced: CodeMatrix) -> list[torch.Tensor]:
        """(positions, entries) float32 each, along ``forced`` with ``reference`` in the prompt."""
        ...

    def write(self, reference: CodeMatrix) -> CodeMatrix:
        """(frames, codebooks) that it writes with ``reference`` in the prompt."""
        ...


def no_generator(folder: Path) -> str:
    """Why no generator of a folder is audited, in words; empty where one is."""
    values = read_json(folder / "config.json")
    if is_moss(values) and "encoder_kwargs" not in values:
        rate_hz = read_moss(folder).sample_rate_hz
        return (
            ""
            if rate_hz == CODE_RATE_HZ
            else f"it takes codes of a codec at {rate_hz} Hz, and this is another"
        )
    if "encoder_kwargs" in values or "talker_config" not in values:
        return "the folder holds a codec alone"
    kind = read_qwen3(folder).kind
    return "" if kind is ModelKind.BASE else f"a {kind.value} checkpoint takes no recorded voice"


def is_random(folder: Path) -> bool:
    """Whether `refprep models random` wrote it: it speaks noise."""
    return (folder / RANDOM_LABEL).is_file()


def open_generator(folder: Path, precision: str, saying: Saying, *, device: str) -> AuditGenerator:
    """Load a generator at a precision.

    Raises:
        WeightsMissing: A file is not there.
        BackendError: The files do not fit each other, or hold another model.
        DeviceError: The device is out of memory.
    """
    place, dtype = torch.device(device), DTYPES[precision]
    if is_moss(read_json(folder / "config.json")):
        return _Moss(load_generator(folder, device=place, dtype=dtype), saying)
    return _Qwen3(load_checkpoint(folder, device=place, dtype=dtype), saying)


def logit_shift(exact: Sequence[torch.Tensor], other: Sequence[torch.Tensor]) -> LogitShift:
    """Compare logits of the same positions; entries that are never chosen (minus infinity) are left out."""
    apart = whole = 0.0
    same = positions = 0
    for one, two in zip(exact, other, strict=True):
        chosen = one.isfinite() & two.isfinite()
        apart += float((one - two)[chosen].double().square().sum())
        whole += float(one[chosen].double().square().sum())
        same += int((one.argmax(-1) == two.argmax(-1)).sum())
        positions += one.shape[0]
    return LogitShift(float(np.sqrt(apart / whole)) if whole else 0.0, same / positions if positions else 1.0)


class _Qwen3:
    def __init__(self, checkpoint: TalkerCheckpoint, saying: Saying) -> None:
        self._checkpoint, self._saying = checkpoint, saying
        values = read_json(checkpoint.folder / "config.json").get("speaker_encoder_config") or {}
        encoder = load_speaker_encoder(checkpoint.folder, values, checkpoint.talker.device)
        self._speaker = encoder.embed(torch.from_numpy(saying.samples.copy())).numpy()

    def _request(self, reference: CodeMatrix) -> SpeechRequest:
        voice = VoicePrompt(
            CloneMode.ICL, self._speaker, text=self._saying.reference_text, codes=reference.astype(np.int32)
        )
        return SpeechRequest(self._saying.text, voice=voice, sampling=GREEDY, max_frames=self._saying.frames)

    def logits(self, reference: CodeMatrix, forced: CodeMatrix) -> list[torch.Tensor]:
        found = self._checkpoint
        with exact_fp32(found.talker.device.type, where=_WHERE):
            prompt = build_prompt(self._request(reference), found.config, found.talker, found.tokenizer)
            codes = torch.from_numpy(forced.astype(np.int64)).to(found.talker.device)
            out = force_codes(found.talker, prompt, codes)
        return [out.talker.float().cpu(), out.predictor.float().flatten(0, 1).cpu()]

    def write(self, reference: CodeMatrix) -> CodeMatrix:
        return Engine(self._checkpoint).generate([self._request(reference)])[0].codes


class _Moss:
    def __init__(self, checkpoint: MossCheckpoint, saying: Saying) -> None:
        self._checkpoint, self._saying = checkpoint, saying

    def logits(self, reference: CodeMatrix, forced: CodeMatrix) -> list[torch.Tensor]:
        found, books = self._checkpoint, self._checkpoint.config.n_vq
        clone = build_moss_prompt(self._request(reference), found.config, found.tokenizer)
        # Rows of given frames, as a continuation lays them out; Delay opens the audio itself first.
        going_on = MossRequest(
            self._saying.text, prefix=forced[:, :books], prefix_text=self._saying.reference_text
        )
        other = build_moss_prompt(going_on, found.config, found.tokenizer)
        opening = 1 if isinstance(found.model, DelayModel) else 0
        rows = np.concatenate((clone.rows, other.rows[len(other) - len(forced) - opening :]))
        with exact_fp32(found.model.device.type, where=_WHERE):
            if isinstance(found.model, DelayModel):
                delay = force_delay(found.model, rows, len(forced))
                parts = [delay.text_logits, delay.audio_logits.flatten(0, 1)]
            else:
                local = force_local(found.model, rows, len(forced))
                parts = [local.binary_logits, local.audio_logits.flatten(0, 1)]
        return [part.float().cpu() for part in parts]

    def write(self, reference: CodeMatrix) -> CodeMatrix:
        return MossEngine(self._checkpoint).generate([self._request(reference)])[0].codes

    def _request(self, reference: CodeMatrix) -> MossRequest:
        return MossRequest(
            self._saying.text,
            reference=reference[:, : self._checkpoint.config.n_vq],
            sampling=MOSS_GREEDY,
            max_frames=self._saying.frames,
        )
