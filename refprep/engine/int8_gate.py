"""Whether int8 layers say what the float32 ones say: both read the frames that float32 wrote, and logits are compared.

    name       meaning
    rel_diff   ||int8 - float32|| / ||float32|| over all logits
    confident  share of equal best ids, where float32's two best logits are more than 1 apart
    argmax     the same, everywhere

Along given frames a difference stays one of a step; left to themselves two models part for good at the first near tie.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch

from refprep.engine.config import CheckpointConfig, ModelKind
from refprep.engine.engine import Engine
from refprep.engine.model import TalkerCheckpoint
from refprep.engine.prompt import TalkerPrompt, build_prompt
from refprep.engine.teacher import ForcedLogits, force_codes
from refprep.errors import BackendError
from refprep.types import CloneMode, SpeechRequest, VoicePrompt

CONFIDENT_MARGIN = 1.0
"""Of the two best logits; below it a draw is open anyway."""

MAX_REL_DIFF = 0.1
"""Random weights of published shapes moved by 0.046 (talker) and 0.061 (code predictor) with oneDNN, by 0.056 and 0.071 with
FBGEMM, and kept every clear choice; seven bits of activations moved the predictor by 0.101. Tiny ones move by 0.03 at most.
"""

FRAMES = 12
"""180 choices of the code predictor, and 13 of the talker."""

_TEXT = "Don't panic: the new café in Kraków sold 1,249 cups, 太贵了！"
_INSTRUCT = "Speak slowly, in a low voice."


@dataclass(frozen=True, slots=True)
class LogitShift:
    """How far one kind of logits moved; see the table above.

    Attributes:
        confident_of: Positions that ``confident`` is a share of; it is 1 where there are none.
    """

    rel_diff: float
    argmax: float
    confident: float
    confident_of: int


@dataclass(frozen=True, slots=True)
class GateReport:
    """Of a checkpoint.

    Attributes:
        frames: Compared.
        talker: Logits of codebook 0.
        predictor: Logits of codebooks 1 to 15.
    """

    frames: int
    talker: LogitShift
    predictor: LogitShift

    def faults(self) -> list[str]:
        """Every limit that is not kept."""
        found: list[str] = []
        for name, shift in (("talker", self.talker), ("code predictor", self.predictor)):
            # written as "not (kept)", so that a NaN keeps nothing
            if not shift.rel_diff <= MAX_REL_DIFF:
                found.append(
                    f"logits of the {name} moved by {shift.rel_diff:.1%}, the limit is {MAX_REL_DIFF:.0%}"
                )
            if not shift.confident >= 1.0:
                lost = round((1 - shift.confident) * shift.confident_of)
                found.append(f"{lost} of {shift.confident_of} clear choices of the {name} are others")
        return found


@dataclass(frozen=True, slots=True, eq=False)
class GateTruth:
    """What the float32 layers said.

    Attributes:
        prompt: That was read.
        codes: (frames, 16) int64, written by them.
        logits: Along ``codes``.
    """

    prompt: TalkerPrompt
    codes: torch.Tensor
    logits: ForcedLogits


def gate_request(config: CheckpointConfig) -> SpeechRequest:
    """A request that any checkpoint of a kind can carry out, always the same."""
    request = SpeechRequest(_TEXT, max_frames=FRAMES, seed=0)
    if config.kind is ModelKind.BASE:
        width = config.talker_config.hidden_size
        vector = np.random.Generator(np.random.PCG64(8)).standard_normal(width).astype(np.float32)
        return replace(request, voice=VoicePrompt(CloneMode.X_VECTOR, vector))
    if config.kind is ModelKind.CUSTOM_VOICE:
        return replace(request, speaker=config.speakers[0])
    return replace(request, instruct=_INSTRUCT)


def float32_truth(checkpoint: TalkerCheckpoint, request: SpeechRequest | None = None) -> GateTruth:
    """Let the float32 layers write a few frames, and keep what they say along them.

    Args:
        checkpoint: Not yet quantized.
        request: To read; None: ``gate_request``.
    """
    request = gate_request(checkpoint.config) if request is None else request
    (generated,) = Engine(checkpoint, max_batch=1, never_ends=True).generate([request])
    with torch.inference_mode():
        prompt = build_prompt(request, checkpoint.config, checkpoint.talker, checkpoint.tokenizer)
        codes = torch.from_numpy(generated.codes.astype(np.int64))
        return GateTruth(prompt, codes, force_codes(checkpoint.talker, prompt, codes))


def gate_report(checkpoint: TalkerCheckpoint, truth: GateTruth) -> GateReport:
    """Compare what the layers say now with what they said."""
    found = force_codes(checkpoint.talker, truth.prompt, truth.codes)
    return GateReport(
        len(truth.codes),
        logit_shift(found.talker, truth.logits.talker),
        logit_shift(found.predictor, truth.logits.predictor),
    )


def check_gate(report: GateReport, *, where: str) -> None:
    """Refuse int8 layers that say something else.

    Raises:
        BackendError: A limit is not kept; all are named.
    """
    faults = report.faults()
    if faults:
        raise BackendError(
            f"int8 changes what this checkpoint says: {'; '.join(faults)}",
            where=where,
            fix="Leave --quantize out: float32 is exact.",
        )


def logit_shift(found: torch.Tensor, truth: torch.Tensor) -> LogitShift:
    """Compare (..., vocab) logits."""
    assert found.shape == truth.shape
    best = truth.topk(2, dim=-1).values
    is_same = found.argmax(dim=-1) == truth.argmax(dim=-1)
    is_clear = best[..., 0] - best[..., 1] > CONFIDENT_MARGIN
    clear = int(is_clear.sum())
    return LogitShift(
        rel_diff=float((found - truth).norm() / truth.norm()),
        argmax=float(is_same.float().mean()),
        confident=float(is_same[is_clear].float().mean()) if clear else 1.0,
        confident_of=clear,
    )
