"""The code predictor: a small decoder that writes codebooks 1 to 15 of one frame, one after the other.

    pass  fed                                        position  head  gives
    0     talker's hidden state, embedding of code 0   0, 1      0     code 1
    k     embedding of code k (k = 1 .. 14)            k + 1     k     code k + 1

Embeddings have the talker's width; where the predictor is narrower (1.7B) a linear projection stands between. It is
multiplied into the embedding tables once at load, so that a pass only looks up. Every frame starts with an empty cache.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from refprep.engine.config import PredictorConfig
from refprep.engine.decoder import DecoderLayer, Rotary, prepare_layers, run_layers
from refprep.engine.kv_cache import KVCache, Window
from refprep.engine.layers import Embedding, RMSNorm, rotary_table

Chooser = Callable[[torch.Tensor, int], torch.Tensor]
"""From (batch, codebook) float32 logits and a codebook's number (1 .. 15) to (batch,) int64 codes."""


class PredictorModel(nn.Module):
    """Embeddings, layers and norm; the names are the checkpoint's."""

    def __init__(self, config: PredictorConfig, talker_width: int) -> None:
        super().__init__()
        passes = config.num_code_groups - 1
        self.codec_embedding = nn.ModuleList(
            Embedding(config.vocab_size, talker_width) for _ in range(passes)
        )
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.num_hidden_layers))
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps)


class CodePredictor(nn.Module):
    """Everything under ``talker.code_predictor.`` in a checkpoint."""

    def __init__(self, config: PredictorConfig, talker_width: int) -> None:
        super().__init__()
        self.config = config
        self.model = PredictorModel(config, talker_width)
        passes = config.num_code_groups - 1
        heads = (nn.Linear(config.hidden_size, config.vocab_size, bias=False) for _ in range(passes))
        self.lm_head = nn.ModuleList(heads)
        self.small_to_mtp_projection: nn.Module = nn.Identity()
        if config.hidden_size != talker_width:
            self.small_to_mtp_projection = nn.Linear(talker_width, config.hidden_size)
        self._inputs: list[torch.Tensor] = []
        self._rotary: Rotary | None = None
        self._passes: list[tuple[Rotary, Window, torch.Tensor]] = []

    def prepare(self, first_table: torch.Tensor) -> None:
        """Project the embedding tables, and lay out what each pass reads; call once after the weights are filled.

        Args:
            first_table: (talker vocab, talker width) of codebook 0, which the talker owns.
        """
        tables = [first_table, *(e.weight for e in self.model.codec_embedding[:-1])]
        self._inputs = [self.small_to_mtp_projection(t) for t in tables]
        prepare_layers(self.model.layers)
        positions = torch.arange(self.config.num_code_groups, device=first_table.device)[None]
        cos, sin = (
            table.transpose(1, 2)
            for table in rotary_table(
                positions, self.config.head_dim, self.config.rope_theta, first_table.dtype
            )
        )
        self._rotary = (cos, sin)
        self._passes = []
        for number, head in enumerate(self.lm_head):
            start, end = (0, 2) if number == 0 else (number + 1, number + 2)
            window = Window.prefix(2) if number == 0 else Window.next_token(start)
            assert isinstance(head, nn.Linear)
            self._passes.append(((cos[:, start:end], sin[:, start:end]), window, head.weight))

    def empty_cache(self, slots: int) -> KVCache:
        """A cache for the 16 positions of a frame."""
        table = self._inputs[0]
        return KVCache.empty(
            self.config,
            slots=slots,
            capacity=self.config.num_code_groups,
            dtype=table.dtype,
            device=table.device,
        )

    def predict(
        self, hidden: torch.Tensor, first: torch.Tensor, cache: KVCache, choose: Chooser
    ) -> torch.Tensor:
        """Complete a frame.

        Args:
            hidden: (batch, talker width), the state whose logits gave ``first``.
            first: (batch,) int64 codes of codebook 0.
            cache: Of ``empty_cache``; what it holds is overwritten.
            choose: Picks each code from its logits.

        Returns:
            (batch, 16) int64, ``first`` in column 0.
        """
        fed = torch.stack((self.small_to_mtp_projection(hidden), F.embedding(first, self._inputs[0])), dim=1)
        codes = [first]
        for number in range(self.config.num_code_groups - 1):
            logits = self._pass(fed, number, cache)
            codes.append(choose(logits, number + 1))
            if number + 1 < len(self._inputs):
                fed = F.embedding(codes[-1], self._inputs[number + 1])[:, None]
        return torch.stack(codes, dim=1)

    def force(self, hidden: torch.Tensor, codes: torch.Tensor) -> torch.Tensor:
        """Logits of all 15 passes along given codes, in one pass.

        Args:
            hidden: (frames, talker width), the states whose logits gave the first codes.
            codes: (frames, 16) int64.

        Returns:
            (frames, 15, codebook) float32.
        """
        assert self._rotary is not None, "prepare() comes first"
        fed = [self.small_to_mtp_projection(hidden)]
        fed += [F.embedding(codes[:, n], table) for n, table in enumerate(self._inputs)]
        x = torch.stack(fed, dim=1)
        out = run_layers(
            self.model.layers,
            self.model.norm,
            x,
            self._rotary,
            self.empty_cache(len(codes)),
            Window.prefix(x.shape[1]),
        )
        heads = [head(out[:, number + 1]).float() for number, head in enumerate(self.lm_head)]
        return torch.stack(heads, dim=1)

    def _pass(self, fed: torch.Tensor, number: int, cache: KVCache) -> torch.Tensor:
        """(batch, tokens, hidden) to the (batch, codebook) float32 logits of head ``number``."""
        table, window, head = self._passes[number]
        out = run_layers(self.model.layers, self.model.norm, fed, table, cache, window)
        return F.linear(out[:, -1], head).float()
