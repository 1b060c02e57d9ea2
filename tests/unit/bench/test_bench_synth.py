"""Speed beside a peer: the order of runs, the figures, and our own worker as a process."""

from __future__ import annotations

import pytest
from engine_kit import tiny_checkpoint
from peer_kit import script

from refprep.bench.synth import order, run_synth, summarise
from refprep.errors import BackendError


def run(ms, *, peak=100, codec=1.0):
    return {
        "frames": 8,
        "ms_per_frame": ms,
        "codec_ms_per_frame": codec,
        "prefill_ms": 4.0,
        "load_s": 1.0,
        "torch_rss_bytes": 40,
        "loaded_rss_bytes": 80,
        "peak_rss_bytes": peak,
        "versions": {},
    }


def test_engines_alternate_so_that_drift_falls_on_both():
    assert order(("a", "b"), 2) == ["a", "b", "b", "a"]
    assert order(("a", "b"), 3) == ["a", "b", "b", "a", "a", "b"]
    assert order(("a",), 2) == ["a", "a"]


def test_medians_spreads_and_ratios():
    found = summarise({"refprep": [run(10), run(12), run(30)], "peer": [run(60, peak=160)]}, "peer")
    ours = found["engines"]["refprep"]
    assert (ours["ms_per_frame"], ours["ms_per_frame_runs"]) == (12, [10, 12, 30])
    ratios = found["peer_over_ours"]
    assert ratios["ms_per_frame"] == 5.0
    assert ratios["ms_per_frame_with_codec"] == round(61 / 13, 3)
    assert ratios["peak_rss_bytes"] == 1.6
    assert ratios["peak_rss_beyond_torch_bytes"] == 2.0


def test_alone_there_are_no_ratios():
    assert summarise({"refprep": [run(10)]}, None)["peer_over_ours"] == {}


def synth(**options):
    given = {
        "peer": None,
        "python": None,
        "dtype": "float32",
        "frames": 4,
        "threads": 1,
        "runs": 1,
        "timeout_s": 240,
    }
    return run_synth(tiny_checkpoint(options.pop("name", "base-0.6b")), **(given | options))


@pytest.mark.parametrize(("name", "dtype"), [("base-0.6b", "float32"), ("custom-1.7b", "bfloat16")])
def test_our_worker_writes_all_frames_and_measures(name, dtype):
    found = synth(name=name, dtype=dtype)
    assert found["weights"] == "random"
    ours = found["engines"]["refprep"]
    assert ours["ms_per_frame"] > 0
    assert ours["codec_ms_per_frame"] > 0
    assert ours["peak_rss_bytes"] >= ours["loaded_rss_bytes"] >= ours["torch_rss_bytes"] > 0


def test_a_peer_that_fails_ends_the_measurement(tmp_path):
    python = script(tmp_path, "import sys\nsys.exit('no memory')\n")
    with pytest.raises(BackendError, match="no memory"):
        synth(peer="qwen-tts", python=python)
