"""Teacher forcing: the logits that given rows lead to, whatever the engine itself would have chosen.

Two engines are compared on these, since greedy codes part for good at the first near tie.

    rows           (length, 1 + n_vq): a prompt and what was written after it
    hidden         (length, hidden)
    text logits    (written, vocab) float32, Delay; of each written row, from the last row of the prompt on
    audio logits   (written, n_vq, codebook + 1) float32, Delay; (written, n_vq, codebook) Local
    binary logits  (written, 2) float32, Local
    depth inputs, depth states  (written, n_vq, hidden), Local
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from refprep.moss.backbone import read_whole
from refprep.moss.delay import DelayModel
from refprep.moss.local import LocalModel


@dataclass(frozen=True, slots=True, eq=False)
class ForcedDelay:
    """What Delay says along given rows."""

    hidden: torch.Tensor
    text_logits: torch.Tensor
    audio_logits: torch.Tensor


@dataclass(frozen=True, slots=True, eq=False)
class ForcedLocal:
    """What Local says along given rows."""

    hidden: torch.Tensor
    binary_logits: torch.Tensor
    audio_logits: torch.Tensor
    depth_inputs: torch.Tensor
    depth_states: torch.Tensor


@torch.inference_mode()
def force_delay(model: DelayModel, rows: npt.NDArray[np.integer], written: int) -> ForcedDelay:
    """Run rows, the last ``written`` of which were generated, in one pass."""
    hidden = _states(model, rows)
    before = hidden[len(rows) - written - 1 : len(rows) - 1]
    return ForcedDelay(hidden, model.text_logits(before), model.audio_logits(before))


@torch.inference_mode()
def force_local(model: LocalModel, rows: npt.NDArray[np.integer], written: int) -> ForcedLocal:
    """As ``force_delay``."""
    hidden = _states(model, rows)
    before = hidden[len(rows) - written - 1 : len(rows) - 1]
    codes = torch.from_numpy(rows[len(rows) - written :, 1:].astype(np.int64)).to(model.device)
    inputs, states = model.force(before, codes)
    logits = [model.audio_logits(states[:, k], k) for k in range(model.config.n_vq)]
    return ForcedLocal(hidden, model.binary_logits(states[:, 0]), torch.stack(logits, dim=1), inputs, states)


def _states(model: DelayModel | LocalModel, rows: npt.NDArray[np.integer]) -> torch.Tensor:
    ids = torch.from_numpy(rows.astype(np.int64)).to(model.device)
    return read_whole(model.backbone, model.embed(ids))
