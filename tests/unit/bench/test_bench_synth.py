"""Speed beside a peer: the order of runs, the figures, and our own workers as processes."""

from __future__ import annotations

import pytest
from engine_kit import tiny_checkpoint
from peer_kit import script

from refprep.bench.synth import run_synth
from refprep.bench.synth_frame import order, summarise
from refprep.bench.synth_plan import SynthPlan, read_sentences
from refprep.bench.synth_ratios import NAMES
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


def test_a_peer_starts_by_loading():
    found = summarise({"refprep": [run(10) | {"start_s": 7.0}], "peer": [run(60)]}, "peer")["engines"]
    assert (found["refprep"]["start_s"], found["peer"]["start_s"]) == (7.0, 1.0)


def test_without_the_reference_row_nothing_is_set_against_it():
    found = summarise({"refprep-compiled": [run(10)], "peer": [run(60)]}, "peer")
    assert found["peer_over_ours"] == {}


def synth(**options):
    given = {"parts": ("frame",), "steps": ("eager",), "frames": 4, "runs": 1, "timeout_s": 240}
    folder = tiny_checkpoint(options.pop("name", "base-0.6b"))
    return run_synth(SynthPlan(folder, read_sentences(None), **(given | options)))


@pytest.mark.parametrize(("name", "dtype"), [("base-0.6b", "float32"), ("custom-1.7b", "bfloat16")])
def test_our_worker_writes_all_frames_and_measures(name, dtype):
    found = synth(name=name, dtype=dtype)
    assert found["weights"] == "random"
    assert found["frames"] == 4
    ours = found["engines"]["refprep"]
    assert ours["ms_per_frame"] > 0
    assert ours["codec_ms_per_frame"] > 0
    assert ours["start_s"] >= ours["load_s"] > 0
    assert ours["peak_rss_bytes"] >= ours["loaded_rss_bytes"] >= ours["torch_rss_bytes"] > 0


def test_a_peer_that_fails_ends_the_measurement(tmp_path):
    python = script(tmp_path, "import sys\nsys.exit('no memory')\n")
    with pytest.raises(BackendError, match="no memory"):
        synth(peer="qwen-tts", python=python)


def test_a_row_that_fails_says_so_and_the_others_stay():
    """int8 products are for float32."""
    found = synth(dtype="bfloat16", int8=True)
    assert list(found["engines"]) == ["refprep"]
    assert "it failed" in found["not_run"]["refprep-int8"]


def test_loads_and_clones_as_a_document():
    found = synth(parts=("load", "clone"), frames=3, requests=4, concurrency=(1, 2), rps=(50.0,), seeds=1)
    assert found["engines"] == {}
    assert set(NAMES) <= set(found)
    assert 0 < found["ratio_second_first_audio"] < 1
    assert found["ratio_second_first_audio_row"] == "eager"
    assert found["not_run"] == {"frame": "--parts leaves it out"}
    kinds = [(m["load"]["kind"], m["load"]["c"], m["load"].get("reference")) for m in found["measurements"]]
    assert kinds == [
        ("closed", 1, None),
        ("closed", 2, None),
        ("open", None, None),
        ("clone", 1, "cold"),
        ("clone", 1, "cached"),
    ]
    for measurement in found["measurements"]:
        results, load = measurement["results"], measurement["load"]
        assert measurement["weights"] == "random"
        assert measurement["engine"]["ramp"][0] == 1
        assert load["sentences_sha256"] == found["sentences"]["sha256"]
        assert results["complete"] == results["served"] == load["requests"] == len(measurement["samples"])
        assert (results["lost_samples"], results["errors"], results["wer"]) == (0, {}, None)
        assert results["ttfa_ms"]["p50"] <= results["ttfa_ms"]["p99"]
        assert results["rss_peak"] > 0
        assert all(len(row["chunks"]) >= 1 for row in measurement["rows"])


def test_a_checkpoint_without_references_has_no_clones():
    found = synth(name="custom-1.7b", parts=("load", "clone"), frames=2, requests=2, concurrency=(1,))
    assert "takes no reference" in found["not_run"]["clone"]
    assert [m["load"]["kind"] for m in found["measurements"]] == ["closed"]
