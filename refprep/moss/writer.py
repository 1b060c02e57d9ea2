"""What the two kinds of generators share: slots, reading prompts, one row at a time.

rows    (slots, 1 + n_vq) int64: the last row of every slot
hidden  (slots, hidden): the state that the next row is chosen from

A row is chosen in one step and read by the backbone at the start of the next, if its request goes on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import torch

from refprep.moss.backbone import SlotCache, advance, read
from refprep.moss.delay import DelayModel
from refprep.moss.local import LocalModel
from refprep.moss.prompt import MossPrompt
from refprep.moss.request import MossRequest
from refprep.moss.running import Running
from refprep.moss.sampling import Chain
from refprep.types import StopReason

Rows = npt.NDArray[np.int32]
"""(rows, 2 + n_vq) int32: text id, codes, odds against an end."""

LARGEST_ODDS = 1 << 24

_BLOCK = 256
"""Room in slots grows by this many positions, so that it grows seldom."""


class Writer(ABC):
    """Chooses rows for requests in slots.

    Attributes:
        slots: Requests that run side by side.
    """

    def __init__(self, model: DelayModel | LocalModel, *, slots: int) -> None:
        self.slots, self._base = slots, model
        shape, device = model.config.backbone, model.device
        self._cache = SlotCache(shape, slots=slots, dtype=model.dtype, device=device)
        self._device = device
        self._hidden = torch.zeros(slots, shape.hidden_size, dtype=model.dtype, device=device)
        self._rows = torch.zeros(slots, 1 + model.config.n_vq, dtype=torch.int64, device=device)
        self._chains: dict[tuple[tuple[float, int, float, float], ...], Chain] = {}

    @abstractmethod
    def rows_needed(self, request: MossRequest) -> int:
        """Steps that a request may take."""

    @abstractmethod
    def begin(self, running: Running) -> None:
        """Set up a request's own record; its prompt was read."""

    @abstractmethod
    def choose(self, rows: slice, here: Mapping[int, Running]) -> Rows:
        """Choose the next row of the requests at some places of ``rows``, and keep it for ``read_rows``."""

    @abstractmethod
    def take(self, running: Running, row: npt.NDArray[np.int32]) -> StopReason | None:
        """Take in a row of ``choose``; a reason ends the request."""

    @abstractmethod
    def close(self, running: Running) -> None:
        """A request ended: note what was cut."""

    def reserve(self, positions: int) -> None:
        """Make room in every slot."""
        if positions > self._cache.capacity:
            self._cache.reserve(-(-positions // _BLOCK) * _BLOCK)

    def read_prompt(self, slot: int, prompt: MossPrompt) -> None:
        """Read a prompt into a slot."""
        rows = torch.from_numpy(prompt.rows.astype(np.int64)).to(self._device)
        states = read(self._base.backbone, self._base.embed(rows), self._cache, slot)
        self._hidden[slot] = states[-1]

    def read_rows(self, rows: slice, here: Mapping[int, Running]) -> None:
        """Read the last rows of those requests that wrote one since."""
        pending = [place for place, running in here.items() if running.is_pending]
        if not pending:
            return
        count = rows.stop - rows.start
        positions = torch.zeros(count, dtype=torch.int64)
        keeps = torch.ones(count, 1, dtype=torch.bool)
        for place, running in here.items():
            # A request that was just admitted is read over later: its slot is free at this position.
            positions[place] = len(running.prompt) + max(running.steps - 1, 0)
            keeps[place] = not running.is_pending
            running.is_pending = False
        limit = int(positions.max()) + 1
        states = advance(
            self._base.backbone,
            self._base.embed(self._rows[rows]),
            self._cache,
            rows,
            positions.to(self._device),
            limit,
        )
        own = self._hidden[rows]
        own.copy_(torch.where(keeps.to(self._device), own, states))

    def _chain(self, settings: tuple[tuple[float, int, float, float], ...], ids: int) -> Chain:
        key = (*settings, (float(ids), 0, 0.0, 0.0))
        if key not in self._chains:
            if len(self._chains) > 64:
                self._chains.clear()
            self._chains[key] = Chain.of(settings, ids=ids, device=self._device)
        return self._chains[key]


def odds_against(go_on: torch.Tensor, end: torch.Tensor) -> torch.Tensor:
    """(rows,) int64: how much likelier going on is than an end, rounded down; 0 where the end is likelier."""
    return (go_on - end).exp().clamp(max=LARGEST_ODDS).long()
