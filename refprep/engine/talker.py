"""The talker: a decoder over summed text and codec embeddings that writes codebook 0, one frame a step.

name       shape                     meaning
embeds     (batch, tokens, hidden)   prompt slots or one frame's input
hidden     (batch, hidden)           last token's state after the final norm
positions  (batch,) int64            position of the token that is fed, from 0 at the prompt's first slot
logits     (batch, vocab)            of codebook 0 and the control ids, float32
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from refprep.engine.code_predictor import CodePredictor
from refprep.engine.config import TalkerConfig
from refprep.engine.decoder import DecoderLayer, Rotary, prepare_layers, run_layers, step_layers
from refprep.engine.kv_cache import KVCache, Window
from refprep.engine.layers import Embedding, RMSNorm, joined, rotary_table


class TextProjection(nn.Module):
    """Two linear layers from the text embedding's width to the talker's."""

    def __init__(self, text_width: int, width: int) -> None:
        super().__init__()
        self.linear_fc1 = nn.Linear(text_width, text_width)
        self.linear_fc2 = nn.Linear(text_width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(tokens, text width) to (tokens, hidden)."""
        out: torch.Tensor = self.linear_fc2(F.silu(self.linear_fc1(x)))
        return out


class TalkerModel(nn.Module):
    """Embeddings, layers and norm; the names are the checkpoint's."""

    def __init__(self, config: TalkerConfig) -> None:
        super().__init__()
        self.text_embedding = Embedding(config.text_vocab_size, config.text_hidden_size)
        self.codec_embedding = Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.num_hidden_layers))
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps)


class Talker(nn.Module):
    """Everything under ``talker.`` in a checkpoint."""

    def __init__(self, config: TalkerConfig) -> None:
        super().__init__()
        self.config = config
        self.model = TalkerModel(config)
        self.text_projection = TextProjection(config.text_hidden_size, config.hidden_size)
        self.codec_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.code_predictor = CodePredictor(config.code_predictor_config, talker_width=config.hidden_size)
        self._frame_table: torch.Tensor | None = None

    @property
    def dtype(self) -> torch.dtype:
        """Of weights, states and cache."""
        return self.codec_head.weight.dtype

    @property
    def device(self) -> torch.device:
        """That holds the weights."""
        return self.codec_head.weight.device

    def prepare(self) -> None:
        """Join what is read together; call once after the weights are filled.

        With the tables of the 16 codebooks one below the other, a frame is one look-up and one sum. The tables in the
        modules become views of the large one, so nothing is held twice.
        """
        table = joined(self.model.codec_embedding, *self.code_predictor.model.codec_embedding)
        self._frame_table = table
        prepare_layers(self.model.layers)
        self.code_predictor.prepare(self.model.codec_embedding.weight)
        rows = [0] + [self.config.vocab_size + n * self._codebook for n in range(self._groups - 1)]
        self._first_rows = torch.tensor(rows, device=table.device)

    @property
    def _codebook(self) -> int:
        return self.config.code_predictor_config.vocab_size

    @property
    def _groups(self) -> int:
        return self.config.num_code_groups

    def embed_text(self, ids: torch.Tensor) -> torch.Tensor:
        """(tokens,) text ids to (tokens, hidden)."""
        out: torch.Tensor = self.text_projection(self.model.text_embedding(ids).to(self.dtype))
        return out

    def embed_control(self, ids: torch.Tensor) -> torch.Tensor:
        """(tokens,) ids of codebook 0 or control ids to (tokens, hidden)."""
        out: torch.Tensor = self.model.codec_embedding(ids)
        return out

    def embed_frames(self, codes: torch.Tensor) -> torch.Tensor:
        """(..., 16) codes to (..., hidden): the sum of the 16 codebooks' embeddings."""
        assert self._frame_table is not None, "prepare() comes first"
        return F.embedding(codes + self._first_rows, self._frame_table).sum(dim=-2)

    def rotary(self, capacity: int) -> Rotary:
        """Rotary table of all positions: two tensors of (capacity, D)."""
        positions = torch.arange(capacity, device=self.device)[None]
        cos, sin = rotary_table(positions, self.config.head_dim, self.config.rope_theta, self.dtype)
        return cos[0, 0], sin[0, 0]

    def prefill(
        self, embeds: torch.Tensor, rotary: Rotary, cache: KVCache, window: Window | None = None
    ) -> torch.Tensor:
        """Read several tokens a row, of whole prompts or parts of them.

        Args:
            embeds: (batch, tokens, hidden).
            rotary: Of all positions.
            cache: Written where ``window`` says.
            window: One whose ``at`` all rows share; the cache's first positions if None.

        Returns:
            (batch, tokens, hidden) states after the final norm.
        """
        window = Window.prefix(embeds.shape[1]) if window is None else window
        table = (rotary[0][window.at][None, :, None], rotary[1][window.at][None, :, None])
        return run_layers(self.model.layers, self.model.norm, embeds, table, cache, window)

    def step(
        self,
        embeds: torch.Tensor,
        positions: torch.Tensor,
        rotary: Rotary,
        cache: KVCache,
        window: Window,
    ) -> torch.Tensor:
        """Feed one token a row.

        Args:
            embeds: (batch, hidden).
            positions: (batch,) int64.
            rotary: Of all positions.
            cache: Whose slots are the rows.
            window: Of ``positions``.

        Returns:
            (batch, hidden) states after the final norm.
        """
        table = (rotary[0][positions][:, None], rotary[1][positions][:, None])
        return step_layers(self.model.layers, self.model.norm, embeds, table, window.places(cache))

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """(..., hidden) to (..., vocab) float32."""
        return F.linear(hidden, self.codec_head.weight).float()
