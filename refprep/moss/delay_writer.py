"""Rows of the Delay generator: one text id and up to n_vq codes a step.

Upstream counts the repetition penalty over all requests of a batch together; here each has its own history, so that what
one gets does not depend on the others.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import torch

from refprep.moss.config import DelayIds
from refprep.moss.delay import DelayModel
from refprep.moss.delay_state import DelayState, TextMask
from refprep.moss.request import MossRequest
from refprep.moss.running import Running
from refprep.moss.sampling import choose, penalize, tempered
from refprep.moss.writer import Rows, Writer, odds_against
from refprep.types import StopReason

TEXT_ROWS = 64
"""Rows outside audio that a request may take beside its frames: a start, two ends, and what else the model says."""

_IDLE = (0.0, 0, 1.0, 1.0)


class DelayWriter(Writer):
    """See ``Writer``."""

    def __init__(self, model: DelayModel, *, slots: int) -> None:
        super().__init__(model, slots=slots)
        self._model, self._config = model, model.config
        self._masks = text_masks(model.config.ids, model.config.backbone.vocab_size).to(self._device)
        codes = model.config.codebook_size + 1
        # What each request wrote and read: codebook 0, and all others together.
        self._seen = torch.zeros(slots, 2, codes, dtype=torch.bool, device=self._device)

    def rows_needed(self, request: MossRequest) -> int:
        """See ``Writer``."""
        return request.max_rows or request.max_frames + self._config.n_vq + TEXT_ROWS

    def begin(self, running: Running) -> None:
        """See ``Writer``."""
        assert running.slot is not None
        frames, rows = running.prompt.prefix_frames, running.prompt.rows
        prefix = rows[-frames:, 1:] if frames else None
        running.state = DelayState(self._config.ids, self._config.n_vq, prefix)
        running.context = running.state.completed_prefix()
        self._seen[running.slot].zero_()
        if running.sampling.audio_repetition_penalty != 1:
            for part, codes in enumerate((rows[:, 1], rows[:, 2:].reshape(-1))):
                self._seen[running.slot, part, torch.from_numpy(np.unique(codes)).long()] = True

    def choose(self, rows: slice, here: Mapping[int, Running]) -> Rows:
        """See ``Writer``."""
        config, count = self._config, rows.stop - rows.start
        numbers = np.zeros((count, 4), np.int64)  # mask, forced text or -1, first and last codebook
        numbers[:, 1] = config.ids.pad_token_id
        uniforms = np.zeros((count, 1 + config.n_vq), np.float32)
        settings = [(_IDLE, _IDLE)] * count
        for place, running in here.items():
            assert running.state is not None
            plan = running.state.plan()
            numbers[place] = plan.mask, -1 if plan.forced is None else plan.forced, *plan.books
            frames = np.maximum(plan.first_frame - np.arange(config.n_vq), 0)
            counters = np.concatenate(([plan.step], frames)).astype(np.int64)
            uniforms[place] = running.uniforms.at(counters, np.roll(np.arange(1 + config.n_vq), 1))
            s = running.sampling
            settings[place] = (
                (s.text_temperature, s.text_top_k, s.text_top_p, 1.0),
                (s.audio_temperature, s.audio_top_k, s.audio_top_p, s.audio_repetition_penalty),
            )
        sent = torch.from_numpy(numbers).to(self._device)
        random = torch.from_numpy(uniforms).to(self._device)
        hidden = self._hidden[rows]
        text, odds = self._text(hidden, sent, random[:, 0], tuple(s[0] for s in settings))
        codes = self._codes(hidden, rows, random[:, 1:], tuple(s[1] for s in settings))
        book = torch.arange(config.n_vq, device=self._device)
        is_written = (book >= sent[:, 2:3]) & (book < sent[:, 3:4])
        chosen = torch.cat((text[:, None], codes.masked_fill(~is_written, config.pad_code)), dim=1)
        self._rows[rows] = chosen
        if any(s[1][3] != 1 for s in settings):
            self._seen[rows, 0] |= _marks(chosen[:, 1:2], config.codebook_size + 1)
            self._seen[rows, 1] |= _marks(chosen[:, 2:], config.codebook_size + 1)
        return torch.cat((chosen, odds[:, None]), dim=1).int().cpu().numpy()

    def take(self, running: Running, row: npt.NDArray[np.int32]) -> StopReason | None:
        """See ``Writer``."""
        state, request = running.state, running.request
        assert state is not None
        begun = state.frames_begun
        fresh = state.write(int(row[0]), row[1:-1])
        if state.frames_begun > begun:
            running.odds.append(int(row[-1]))
        running.steps += 1
        running.is_pending = True
        for frame in fresh:
            if len(running.frames) == request.max_frames:
                return StopReason.MAX_FRAMES  # another stretch began beyond the budget
            reason = running.add(frame)
            if reason is not None:
                return reason
        if state.has_ended:
            return StopReason.EOS
        is_full = len(running.frames) == request.max_frames
        if is_full and state.frames_begun > running.prompt.prefix_frames + request.max_frames:
            return StopReason.MAX_FRAMES
        return StopReason.MAX_FRAMES if running.steps >= running.max_rows else None

    def close(self, running: Running) -> None:
        """See ``Writer``."""
        state, prefix = running.state, running.prompt.prefix_frames
        if state is None:
            return
        given = len(running.context) + len(running.frames)
        running.cut_frames = state.frames_begun - max(given, prefix)
        segments, left = [], prefix
        room = len(running.frames)
        for frames in state.stretch_frames:
            new = min(max(frames - left, 0), room)
            left, room = max(left - frames, 0), room - new
            segments.append(new)
        running.segments = tuple(n for n in segments if n)

    def _text(
        self,
        hidden: torch.Tensor,
        sent: torch.Tensor,
        uniforms: torch.Tensor,
        settings: tuple[tuple[float, int, float, float], ...],
    ) -> tuple[torch.Tensor, torch.Tensor]:
        logits, ids = self._model.text_logits(hidden), self._config.ids
        odds = odds_against(
            logits[:, ids.audio_assistant_gen_slot_token_id],
            logits[:, ids.audio_assistant_delay_slot_token_id],
        )
        chain = self._chain(settings, logits.shape[1])
        scores = tempered(logits, chain).masked_fill(self._masks[sent[:, 0]], -torch.inf)
        drawn = choose(scores, chain, uniforms)
        return torch.where(sent[:, 1] < 0, drawn, sent[:, 1]), odds

    def _codes(
        self,
        hidden: torch.Tensor,
        rows: slice,
        uniforms: torch.Tensor,
        settings: tuple[tuple[float, int, float, float], ...],
    ) -> torch.Tensor:
        books = self._config.n_vq
        logits = self._model.audio_logits(hidden).flatten(0, 1)
        chain = self._chain(tuple(s for s in settings for _ in range(books)), logits.shape[1])
        scores = tempered(logits, chain)
        if chain.penalizes:
            seen = self._seen[rows]
            others = seen[:, 1:].expand(-1, books - 1, -1)
            seen = torch.cat((seen[:, :1], others), dim=1).flatten(0, 1)
            scores = penalize(scores, seen, chain.penalty[:, 0])
        return choose(scores, chain, uniforms.flatten()).view(-1, books)


def text_masks(ids: DelayIds, vocab: int) -> torch.Tensor:
    """(kinds of ``TextMask``, vocab) bool: text ids that may not be drawn."""
    masks = torch.zeros(len(TextMask), vocab, dtype=torch.bool)
    slots = [ids.audio_assistant_gen_slot_token_id, ids.audio_assistant_delay_slot_token_id]
    for kind in (TextMask.OUTSIDE_EARLY, TextMask.OUTSIDE):
        masks[kind, [ids.pad_token_id, ids.audio_end_token_id, *slots]] = True
    masks[TextMask.OUTSIDE_EARLY, ids.im_end_token_id] = True
    masks[TextMask.INSIDE_FIRST :] = True
    masks[TextMask.INSIDE_FIRST, slots[0]] = False
    masks[TextMask.INSIDE, slots] = False
    return masks


def _marks(codes: torch.Tensor, size: int) -> torch.Tensor:
    """(rows, size) bool: which codes a row holds."""
    marks = torch.zeros(codes.shape[0], size, dtype=torch.bool, device=codes.device)
    return marks.scatter_(1, codes, True)
