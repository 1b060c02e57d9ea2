"""Dictionaries that remember the last few things."""

from __future__ import annotations

from typing import TypeVar

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


def forget_oldest(memory: dict[_Key, _Value], *, most: int) -> None:
    """Make room for one more entry: the first ones go until fewer than ``most`` are left."""
    while len(memory) >= most:
        memory.pop(next(iter(memory)))
