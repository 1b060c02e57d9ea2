"""The code predictor: a small decoder that writes codebooks 1 to 15 of one frame, one after the other.

    pass  fed                                        position  head  gives
    0     talker's hidden state, embedding of code 0   0, 1      0     code 1
    k     embedding of code k (k = 1 .. 14)            k + 1     k     code k + 1

Embeddings have the talker's width; where the predictor is narrower (1.7B) a linear projection stands between. It is
multiplied into the embedding tables once at load, so that a pass only looks up. Every frame starts with an empty cache.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from refprep.engine.config import PredictorConfig
from refprep.engine.decoder import DecoderLayer, Rotary, prepare_layers, run_layers, step_layers
from refprep.engine.kv_cache import KVCache, Place, Window
from refprep.engine.layers import Embedding, RMSNorm, rotary_table

Chooser = Callable[[torch.Tensor, int], torch.Tensor]
"""From (batch, codebook) float32 logits and a codebook's number (1 .. 15) to (batch,) int64 codes."""


@dataclass(frozen=True, slots=True, eq=False)
class PredictorCache:
    """Keys and values of one frame.

    Attributes:
        whole: All 16 positions.
        places: Of every position and layer: views of ``whole``, which are taken 15 times a frame.
    """

    whole: KVCache
    places: list[list[Place]]

    @classmethod
    def of(cls, whole: KVCache) -> PredictorCache:
        """Views of a cache."""
        return cls(whole, [Window.next_token(at).places(whole) for at in range(whole.capacity)])

    def slots(self, rows: slice) -> PredictorCache:
        """A view of some slots: writing to it writes here."""
        return self.of(self.whole.slots(rows))


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
        self._heads: list[torch.Tensor] = []
        self._passes: list[tuple[int, torch.Tensor, Rotary, torch.Tensor]] = []

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
        self._heads = [head.weight.t() for head in self.lm_head]  # type: ignore[operator]
        self._passes = []
        for number in range(1, self.config.num_code_groups - 1):
            at = number + 1
            turned = (cos[:, at], sin[:, at])
            self._passes.append((number, self._inputs[number], turned, self._heads[number]))

    def empty_cache(self, slots: int) -> PredictorCache:
        """A cache for the 16 positions of a frame."""
        table = self._inputs[0]
        return PredictorCache.of(
            KVCache.empty(
                self.config,
                slots=slots,
                capacity=self.config.num_code_groups,
                dtype=table.dtype,
                device=table.device,
            )
        )

    def predict(
        self, hidden: torch.Tensor, first: torch.Tensor, cache: PredictorCache, choose: Chooser
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
        assert self._rotary is not None, "prepare() comes first"
        layers, norm = self.model.layers, self.model.norm
        rotary = (self._rotary[0][:, :2], self._rotary[1][:, :2])
        both = torch.stack((self.small_to_mtp_projection(hidden), F.embedding(first, self._inputs[0])), dim=1)
        out = run_layers(layers, norm, both, rotary, cache.whole, Window.prefix(2))[:, 1]
        codes = [first, choose(torch.mm(out, self._heads[0]).float(), 1)]
        for number, table, turned, head in self._passes:
            fed = F.embedding(codes[number], table)
            out = step_layers(layers, norm, fed, turned, cache.places[number + 1])
            codes.append(choose(torch.mm(out, head).float(), number + 1))
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
            self.empty_cache(len(codes)).whole,
            Window.prefix(x.shape[1]),
        )
        heads = [head(out[:, number + 1]).float() for number, head in enumerate(self.lm_head)]
        return torch.stack(heads, dim=1)
