"""The Local v1.5 generator: the backbone says go on or stop, the depth transformer writes the frame.

rows           (..., 1 + n_vq) int64: text id, codes; pad codes add nothing to a row's embedding
hidden         (frames, hidden) after the backbone's final norm
binary logits  (frames, 2) float32: go on, stop
audio logits   (frames, codebook) float32 of one codebook; its head is its embedding table

Codebook 0 and the choice to go on come from the same state, the first of the depth transformer.
"""

from __future__ import annotations

import torch
from torch import nn

from refprep.moss.backbone import qwen3, settle
from refprep.moss.config import LocalConfig
from refprep.moss.depth import DepthTransformer
from refprep.moss.tables import joined


class LocalModel(nn.Module):
    """Backbone, depth transformer and code tables, under their names in the checkpoint."""

    def __init__(self, config: LocalConfig) -> None:
        super().__init__()
        width = config.backbone.hidden_size
        self.config = config
        self.transformer = qwen3(config.backbone, config.backbone_values)
        self.local_transformer = DepthTransformer(config.depth)
        self.audio_embeddings = nn.ModuleList(
            nn.Embedding(config.codebook_size, width) for _ in range(config.n_vq)
        )
        self.local_text_lm_head = nn.Linear(width, 2, bias=False)

    def prepare(self, device: torch.device) -> None:
        """Once weights are there."""
        settle(self.transformer, device)
        self._tables = joined(list(self.audio_embeddings))
        self._offsets = torch.arange(self.config.n_vq, device=device) * self.config.codebook_size

    @property
    def backbone(self) -> nn.Module:
        """The Qwen3 model."""
        model: nn.Module = self.transformer
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
        codes = rows[..., 1:]
        is_pad = codes == self.config.pad_code
        vectors = nn.functional.embedding(codes.masked_fill(is_pad, 0) + self._offsets, self._tables)
        text: torch.Tensor = self.transformer.embed_tokens(rows[..., 0])
        return text + vectors.masked_fill(is_pad[..., None], 0).sum(dim=-2)

    def code_table(self, book: int) -> torch.Tensor:
        """(codebook, hidden): embeddings of a codebook, and its head."""
        return self._tables.view(self.config.n_vq, self.config.codebook_size, -1)[book]

    def binary_logits(self, state: torch.Tensor) -> torch.Tensor:
        """Of the depth transformer's first state."""
        logits: torch.Tensor = self.local_text_lm_head(state)
        return logits.float()

    def audio_logits(self, state: torch.Tensor, book: int) -> torch.Tensor:
        """Of a codebook, from the depth transformer's state at its position."""
        return nn.functional.linear(state, self.code_table(book)).float()

    def force(self, hidden: torch.Tensor, codes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Depth inputs and states of whole frames, (frames, n_vq, hidden) each, along given (frames, n_vq) codes."""
        books = self.config.n_vq
        before = [self.code_table(k)[codes[:, k]] for k in range(books - 1)]
        inputs = torch.stack([hidden, *before], dim=1)
        return inputs, self.local_transformer(
            inputs, 0, self.local_transformer.room(len(codes), books, hidden)
        )
