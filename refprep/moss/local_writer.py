"""Rows of the Local generator: go on or stop, then a whole frame."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import torch

from refprep.moss.local import LocalModel
from refprep.moss.request import MossRequest
from refprep.moss.running import Running
from refprep.moss.sampling import Chain, choose, penalize, tempered
from refprep.moss.writer import Rows, Writer, odds_against
from refprep.types import StopReason

_IDLE = (0.0, 0, 1.0, 1.0)


class LocalWriter(Writer):
    """See ``Writer``."""

    def __init__(self, model: LocalModel, *, slots: int) -> None:
        super().__init__(model, slots=slots)
        self._model, self._config = model, model.config
        shape = (slots, model.config.n_vq, model.config.codebook_size)
        self._seen = torch.zeros(shape, dtype=torch.bool, device=self._device)

    def rows_needed(self, request: MossRequest) -> int:
        """See ``Writer``; one more choice tells a stop from the budget."""
        return min(request.max_rows or request.max_frames + 1, request.max_frames + 1)

    def begin(self, running: Running) -> None:
        """See ``Writer``."""
        frames = running.prompt.prefix_frames
        running.context = list(running.prompt.rows[-frames:, 1:]) if frames else []
        self._seen[running.slot] = False

    def choose(self, rows: slice, here: Mapping[int, Running]) -> Rows:
        """See ``Writer``; the text id is the slot, or audio_end where it stops."""
        config, count = self._config, rows.stop - rows.start
        uniforms = np.zeros((count, 1 + config.n_vq), np.float32)
        settings = [(_IDLE, _IDLE)] * count
        for place, running in here.items():
            counters = np.full(1 + config.n_vq, running.steps, np.int64)
            uniforms[place] = running.uniforms.at(counters, np.roll(np.arange(1 + config.n_vq), 1))
            s = running.sampling
            settings[place] = (
                (s.text_temperature, s.text_top_k, s.text_top_p, 1.0),
                (s.audio_temperature, s.audio_top_k, s.audio_top_p, s.audio_repetition_penalty),
            )
        random = torch.from_numpy(uniforms).to(self._device)
        chains = (
            self._chain(tuple(s[0] for s in settings), 2),
            self._chain(tuple(s[1] for s in settings), config.codebook_size),
        )
        return self._frames(rows, random, *chains)

    def take(self, running: Running, row: npt.NDArray[np.int32]) -> StopReason | None:
        """See ``Writer``."""
        running.steps += 1
        running.is_pending = True
        if row[0] == self._config.ids.audio_end_token_id:
            return StopReason.EOS
        if len(running.frames) == running.request.max_frames:
            return StopReason.MAX_FRAMES
        running.odds.append(int(row[-1]))
        reason = running.add(row[1:-1].copy())
        if reason is None and running.steps >= running.max_rows:
            reason = StopReason.MAX_FRAMES
        return reason

    def close(self, running: Running) -> None:
        """See ``Writer``."""
        running.segments = (len(running.frames),) if running.frames else ()

    def _frames(self, rows: slice, random: torch.Tensor, binary: Chain, audio: Chain) -> Rows:
        model, books, ids = self._model, self._config.n_vq, self._config.ids
        vector = self._hidden[rows]
        room = model.local_transformer.room(len(vector), books, vector)
        codes: list[torch.Tensor] = []
        ends = odds = torch.empty(0)
        for book in range(books):
            state = model.local_transformer(vector[:, None], book, room)[:, 0]
            if book == 0:
                logits = model.binary_logits(state)
                odds = odds_against(logits[:, 0], logits[:, 1])
                ends = choose(tempered(logits, binary), binary, random[:, 0], keeps_ties=True) == 1
            scores = model.audio_logits(state, book)
            if audio.penalizes:
                scores = penalize(scores, self._seen[rows, book], audio.penalty[:, 0])
            code = choose(tempered(scores, audio), audio, random[:, 1 + book], keeps_ties=True)
            codes.append(code)
            vector = model.code_table(book)[code]
        frame = torch.stack(codes, dim=1)
        if audio.penalizes:
            self._seen[rows] |= torch.zeros_like(self._seen[rows]).scatter_(2, frame[..., None], True)
        text = torch.where(ends, ids.audio_end_token_id, ids.audio_assistant_slot_token_id)
        chosen = torch.cat((text[:, None], frame), dim=1)
        self._rows[rows] = chosen
        return torch.cat((chosen, odds[:, None]), dim=1).int().cpu().numpy()
