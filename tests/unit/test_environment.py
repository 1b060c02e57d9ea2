"""Where refprep keeps things, and whether it may use the network."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest

from refprep.environment import cache_root, is_offline


def test_the_cache_is_where_the_variable_says_else_where_the_platform_keeps_caches(monkeypatch):
    monkeypatch.setenv("REFPREP_CACHE", "~/clips")
    assert cache_root() == Path.home() / "clips"
    for unset in ("", None):
        monkeypatch.setenv("REFPREP_CACHE", unset) if unset is not None else monkeypatch.delenv(
            "REFPREP_CACHE"
        )
        assert cache_root() == platformdirs.user_cache_path("refprep", appauthor=False)


@pytest.mark.parametrize(
    ("value", "expected"),
    [("1", True), ("on", True), ("Yes", True), ("TRUE", True), ("0", False), ("", False), ("no", False)],
)
def test_offline_is_what_the_variable_says(monkeypatch, value, expected):
    monkeypatch.setenv("REFPREP_OFFLINE", value)
    assert is_offline() is expected
    monkeypatch.delenv("REFPREP_OFFLINE")
    assert is_offline() is False
