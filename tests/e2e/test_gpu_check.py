"""The script for a GPU runs on a CPU, too: what breaks it shows here, not on a machine that is lent for minutes."""

from __future__ import annotations

import json
import sys

import pytest
import torch
from process import ROOT, clean, run

pytestmark = pytest.mark.slow
STEPS = ("device", "write-0b6", "device-equals-cpu", "equality-0b6", "codec", "first-audio-0b6", "soak-0b6")


def check(*args, code=0):
    command = [sys.executable, str(ROOT / "examples" / "gpu_check.py"), *map(str, args)]
    return clean(run(command, env={"OMP_NUM_THREADS": "1"}), code)


def test_its_steps_run_and_go_on_where_they_were(tmp_path):
    output = tmp_path / "found.json"
    common = [output, "--device", "cpu", "--shapes", "tiny", "--work", tmp_path / "work"]
    check(*common, "--only", *STEPS)
    found = json.loads(output.read_text("utf-8"))
    assert list(found) == list(STEPS)
    assert all(found["device-equals-cpu"]["equal"])
    equality = found["equality-0b6"]
    assert all(all(v) for k, v in equality.items() if k.endswith("_equal"))
    assert all(v < 1 for k, v in found["codec"].items() if k.startswith("lsb_off"))
    assert found["soak-0b6"]["incomplete"] == 0
    assert found["soak-0b6"]["is_idle"]
    assert found["soak-0b6"]["requests"] > 3
    found["codec"] = {"error": "it was ended"}
    output.write_text(json.dumps(found), encoding="utf-8")
    again = check(*common, "--only", "codec")
    assert again.out.startswith("codec ")
    assert json.loads(output.read_text("utf-8"))["codec"]["ok"]


def test_a_step_that_takes_too_long_is_ended(tmp_path):
    output = tmp_path / "found.json"
    common = [output, "--device", "cpu", "--shapes", "tiny", "--only", "device", "--limit-s"]
    check(*common, "0.1", code=1)
    assert "no time was left" in output.read_text("utf-8")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_without_a_gpu_it_says_so(tmp_path):
    done = check(tmp_path / "found.json", code=3)
    assert "no CUDA device is here" in done.err
    assert not (tmp_path / "found.json").exists()
