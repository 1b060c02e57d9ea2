"""Widths and depths of checkpoints: the real ones, and tiny ones for tests.

Change one with ``dataclasses.replace``; everything else that a config.json holds follows from these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

SIZES = ("0b6", "1b7")


@dataclass(frozen=True, slots=True)
class StackShape:
    """A stack of decoder layers."""

    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int


@dataclass(frozen=True, slots=True)
class SpeakerShapes:
    """The speaker encoder; its embedding is as long as the talker is wide."""

    enc_channels: tuple[int, ...]
    enc_attention_channels: int
    enc_se_channels: int


@dataclass(frozen=True, slots=True)
class CodecShapes:
    """The codec: its encoder and its decoder.

    Attributes:
        encoder_window: In the file, and ignored by every reader of it.
        encoder_entry: Width of the encoder's codebook vectors.
        decoder_entries: Twice the width of the decoder's codebook vectors.
        latent: Width of the decoder's frames.
        decoder_width: Channels of its first convolution; halved by each of four blocks.
    """

    filters: int
    encoder: StackShape
    encoder_window: int
    encoder_entry: int
    decoder: StackShape
    decoder_window: int
    decoder_entries: int
    latent: int
    decoder_width: int


@dataclass(frozen=True, slots=True)
class CheckpointShapes:
    """A whole checkpoint.

    Attributes:
        mrope_section: Frequencies of the three position streams; half a head in all.
        text_width: Of the text embedding.
        text_rows: Of the text embedding; as many as the real vocabulary has make the tokenizer's ids real, too.
    """

    talker: StackShape
    predictor: StackShape
    mrope_section: tuple[int, int, int]
    text_width: int
    text_rows: int
    speaker: SpeakerShapes
    codec: CodecShapes


_REAL_CODEC = CodecShapes(
    filters=64,
    encoder=StackShape(512, 2048, 8, 8, 8, 64),
    encoder_window=250,
    encoder_entry=256,
    decoder=StackShape(512, 1024, 8, 16, 16, 64),
    decoder_window=72,
    decoder_entries=512,
    latent=1024,
    decoder_width=1536,
)
_REAL_SMALL = CheckpointShapes(
    talker=StackShape(1024, 3072, 28, 16, 8, 128),
    predictor=StackShape(1024, 3072, 5, 16, 8, 128),
    mrope_section=(24, 20, 20),
    text_width=2048,
    text_rows=151_936,
    speaker=SpeakerShapes((512, 512, 512, 512, 1536), 128, 128),
    codec=_REAL_CODEC,
)
REAL: Mapping[str, CheckpointShapes] = {
    "0b6": _REAL_SMALL,
    "1b7": replace(_REAL_SMALL, talker=StackShape(2048, 6144, 28, 16, 8, 128)),
}
"""The published sizes."""

_TINY_CODEC = CodecShapes(
    filters=4,
    encoder=StackShape(32, 64, 2, 4, 4, 8),
    encoder_window=6,  # a reader that heeds it fails the goldens
    encoder_entry=4,
    decoder=StackShape(24, 48, 2, 4, 4, 8),
    decoder_window=8,
    decoder_entries=8,
    latent=32,
    decoder_width=64,
)
_TINY_SMALL = CheckpointShapes(
    talker=StackShape(24, 72, 3, 4, 2, 16),
    predictor=StackShape(24, 72, 2, 4, 2, 16),
    mrope_section=(4, 2, 2),
    text_width=40,
    text_rows=512,
    speaker=SpeakerShapes((16, 16, 16, 16, 48), 8, 8),
    codec=_TINY_CODEC,
)
TINY: Mapping[str, CheckpointShapes] = {
    "0b6": _TINY_SMALL,
    # the predictor is narrower than the talker, as in the real 1.7B: so there is a projection between them
    "1b7": replace(
        _TINY_SMALL, talker=StackShape(32, 96, 3, 4, 2, 16), predictor=StackShape(16, 48, 2, 4, 2, 16)
    ),
}
"""A few megabytes; the recorded outputs of the official code under tests/golden are of these."""
