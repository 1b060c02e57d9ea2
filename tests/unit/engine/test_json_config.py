"""JSON into dataclasses: used keys are checked, others are ignored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from refprep.engine.json_config import read_json, typed
from refprep.errors import BackendError, WeightsMissing


@dataclass(frozen=True)
class Inner:
    width: int
    gain: float = 1.0


@dataclass(frozen=True)
class Outer:
    name: str
    inner: Inner
    rates: tuple[int, ...]
    ids: dict[str, int]
    is_causal: bool = True
    window: int | None = None
    free: Any = None


VALUES = {"name": "x", "inner": {"width": 3}, "rates": [2, 2], "ids": {"a": 1}}


def test_known_keys_are_filled_and_unknown_ones_ignored():
    found = typed(Outer, VALUES | {"later": [1]}, where="config.json")
    assert found == Outer("x", Inner(3), (2, 2), {"a": 1})


def test_an_integer_is_a_float_and_a_whole_float_an_integer():
    found = typed(Inner, {"width": 3.0, "gain": 2}, where="config.json")
    assert (type(found.width), type(found.gain)) == (int, float)


def test_null_is_a_value_where_the_type_says_so():
    assert typed(Outer, VALUES | {"window": None}, where="").window is None
    assert typed(Outer, VALUES | {"window": 6}, where="").window == 6
    assert typed(Outer, VALUES | {"free": {"b": [1]}}, where="").free == {"b": [1]}


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"inner": {}}, r"config\.json: inner: the key 'width' is missing"),
        ({"inner": {"width": "3"}}, r"config\.json: inner: width: '3' is no int"),
        ({"inner": {"width": 3.5}}, "3.5 is no int"),
        ({"inner": {"width": True}}, "True is no int"),
        ({"inner": {"width": 3, "gain": True}}, "True is no float"),
        ({"inner": 3}, "3 is no Inner"),
        ({"rates": 2}, "2 is no"),
        ({"rates": ["2"]}, "'2' is no int"),
        ({"ids": {"a": None}}, "None is no int"),
        ({"is_causal": 1}, "1 is no bool"),
        ({"window": "all"}, "'all' is no int"),
        ({"name": None}, "None is no str"),
    ],
)
def test_a_wrong_value_is_named(change, what):
    with pytest.raises(BackendError, match=what):
        typed(Outer, VALUES | change, where="config.json")


@pytest.mark.parametrize("missing", VALUES)
def test_a_missing_key_is_named(missing):
    with pytest.raises(BackendError, match=f"the key '{missing}' is missing"):
        typed(Outer, {k: v for k, v in VALUES.items() if k != missing}, where="config.json")


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff\xfe"])
def test_what_is_no_object_is_refused(tmp_path, content):
    (tmp_path / "config.json").write_bytes(content)
    with pytest.raises(BackendError, match="JSON"):
        read_json(tmp_path / "config.json")


def test_a_missing_file_is_a_missing_checkpoint(tmp_path):
    with pytest.raises(WeightsMissing, match=r"config\.json is missing"):
        read_json(tmp_path / "config.json")
