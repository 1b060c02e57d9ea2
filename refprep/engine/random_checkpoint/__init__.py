"""Checkpoints of random weights in the real layout, for tests and speed measurements: they speak noise."""

from refprep.engine.random_checkpoint.shapes import REAL, TINY, CheckpointShapes, CodecShapes, StackShape
from refprep.engine.random_checkpoint.write import write_random_checkpoint

__all__ = ["REAL", "TINY", "CheckpointShapes", "CodecShapes", "StackShape", "write_random_checkpoint"]
