"""Widths and depths of random generators: the real ones, and tiny ones for tests.

What is published of Local v1.5 is its backbone (Qwen3-4B) and one depth block of 2560/9728; its heads and rows of text are
taken to be those of the backbone's family.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from refprep.moss.config import MossKind, Positions


@dataclass(frozen=True, slots=True)
class GeneratorShapes:
    """A generator.

    Attributes:
        kind: Delay or Local.
        text_rows: Of the text embedding; as many as the real vocabulary has make the ids real, too.
        n_vq: Codebooks.
        depth_layers: Of Local's depth transformer, as are the next two.
        depth_heads: See ``depth_layers``.
        depth_positions: See ``depth_layers``.
    """

    kind: MossKind
    text_rows: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    n_vq: int = 32
    depth_layers: int = 1
    depth_heads: int = 1
    depth_positions: Positions = Positions.ABSOLUTE


REAL: Mapping[str, GeneratorShapes] = {
    "delay": GeneratorShapes(MossKind.DELAY, 155_648, 4096, 12_288, 36, 32, 8, 128),
    "delay-1.7b": GeneratorShapes(MossKind.DELAY, 155_648, 2048, 6144, 28, 16, 8, 128),
    "local-1.5": GeneratorShapes(
        MossKind.LOCAL, 151_936, 2560, 9728, 36, 32, 8, 128, n_vq=12, depth_heads=20
    ),
}
"""The published sizes: 8,489,841,664 parameters are those of ``delay``."""

TINY: Mapping[str, GeneratorShapes] = {
    "delay": GeneratorShapes(MossKind.DELAY, 512, 32, 80, 2, 4, 2, 16),
    "local-1.5": GeneratorShapes(MossKind.LOCAL, 512, 32, 80, 2, 4, 2, 16, n_vq=12, depth_heads=2),
    "local-1.5-rope": GeneratorShapes(
        MossKind.LOCAL, 512, 32, 80, 2, 4, 2, 16, n_vq=12, depth_heads=2, depth_positions=Positions.ROPE
    ),
}
"""A few megabytes; with the seeds of ``RECORDED_SEEDS`` they are those that upstream's results were recorded of."""

RECORDED_SEEDS: Mapping[str, int] = {"delay": 8, "local-1.5": 37, "local-1.5-rope": 37}
"""Seeds without near ties, some of whose greedy answers end by themselves."""
