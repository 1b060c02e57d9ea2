"""Threads: a container's share, and the user's word."""

from __future__ import annotations

import pytest
import torch

from refprep.engine.threads import cpu_share, settle_threads


@pytest.fixture(autouse=True)
def _same_threads_afterwards():
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    yield
    torch.set_num_threads(before)


def limited(folder, text):
    (folder / "cpu.max").write_text(text)
    return folder


@pytest.mark.parametrize(
    ("text", "share"),
    [("150000 100000\n", 1.5), ("max 100000\n", None), ("", None), ("1 0\n", None), ("50000 100000", 0.5)],
)
def test_the_share_of_a_container(tmp_path, text, share):
    assert cpu_share(limited(tmp_path, text)) == share


@pytest.mark.parametrize(("quota", "share"), [("300000", 3.0), ("-1", None)])
def test_the_share_as_older_systems_tell_it(tmp_path, quota, share):
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text(quota)
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000")
    assert cpu_share(tmp_path) == share


def test_a_system_that_tells_nothing_limits_nothing(tmp_path):
    assert cpu_share(tmp_path) is None
    assert settle_threads({}, cgroups=tmp_path) == 4


@pytest.mark.parametrize(
    ("text", "threads"), [("250000 100000", 2), ("50000 100000", 1), ("900000 100000", 4)]
)
def test_no_more_threads_than_the_share_holds(tmp_path, text, threads):
    assert settle_threads({}, cgroups=limited(tmp_path, text)) == threads
    assert torch.get_num_threads() == threads


@pytest.mark.parametrize("name", ["OMP_NUM_THREADS", "MKL_NUM_THREADS"])
def test_what_the_user_said_stays(tmp_path, name):
    assert settle_threads({name: "4"}, cgroups=limited(tmp_path, "100000 100000")) == 4
    assert settle_threads({name: ""}, cgroups=tmp_path) == 1
