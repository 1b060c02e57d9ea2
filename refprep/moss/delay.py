"""The Delay generator: one row a step, text and all codebooks from the same state.

    rows          (..., 1 + n_vq) int64: text id, codes
    hidden        (..., hidden) after the backbone's final norm
    text logits   (..., vocab) float32
    audio logits  (..., n_vq, codebook + 1) float32; the pad code is -inf

A row's embedding is the sum of its text's and of all its codes', the pad code's row of each table among them.
"""

from __future__ import annotations

import torch
from torch import nn

from refprep.moss.backbone import qwen3, settle
from refprep.moss.config import DelayConfig
from refprep.moss.tables import joined


class DelayModel(nn.Module):
    """Backbone, code embeddings and heads, under their names in the checkpoint."""

    def __init__(self, config: DelayConfig) -> None:
        super().__init__()
        width, codes = config.backbone.hidden_size, config.codebook_size + 1
        self.config = config
        self.language_model = qwen3(config.backbone, config.backbone_values)
        self.emb_ext = nn.ModuleList(nn.Embedding(codes, width) for _ in range(config.n_vq))
        heads = [nn.Linear(width, config.backbone.vocab_size, bias=False)]
        heads += [nn.Linear(width, codes, bias=False) for _ in range(config.n_vq)]
        self.lm_heads = nn.ModuleList(heads)

    def prepare(self, device: torch.device) -> None:
        """Once weights are there."""
        settle(self.language_model, device)
        self._tables = joined(list(self.emb_ext))
        self._audio_heads = joined(list(self.lm_heads)[1:])
        self._offsets = torch.arange(self.config.n_vq, device=device) * (self.config.codebook_size + 1)

    @property
    def backbone(self) -> nn.Module:
        """The Qwen3 model."""
        model: nn.Module = self.language_model
        return model

    @property
    def device(self) -> torch.device:
        """Of the weights."""
        return self._tables.device

    @property
    def dtype(self) -> torch.dtype:
        """Of the embeddings, and so of the states."""
        return self._tables.dtype

    def embed(self, rows: torch.Tensor) -> torch.Tensor:
        """Embeddings of rows."""
        codes = nn.functional.embedding(rows[..., 1:] + self._offsets, self._tables)
        text: torch.Tensor = self.language_model.embed_tokens(rows[..., 0])
        return text + codes.sum(dim=-2)

    def text_logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Of the next text id."""
        logits: torch.Tensor = self.lm_heads[0](hidden)
        return logits.float()

    def audio_logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Of the next row's codes."""
        logits = nn.functional.linear(hidden, self._audio_heads).float()
        logits = logits.view(*hidden.shape[:-1], self.config.n_vq, self.config.codebook_size + 1)
        logits[..., self.config.pad_code] = -torch.inf
        return logits
