"""`refprep bench parity` and `bench synth` as processes: against a stand-in, and against the official package where it is.

``REFPREP_PEER_PYTHON`` names an interpreter with qwen-tts.
"""

from __future__ import annotations

import json
import os

import pytest
from engine_kit import tiny_checkpoint
from peer_kit import answering, script
from process import clean, refprep

PEER = os.environ.get("REFPREP_PEER_PYTHON")
needs_peer = pytest.mark.skipif(not PEER, reason="REFPREP_PEER_PYTHON names no interpreter with qwen-tts")


def parity(python, name="base-0.6b", *options):
    return refprep(
        "bench",
        "parity",
        "--against",
        "qwen-tts",
        "--checkpoint",
        tiny_checkpoint(name),
        "--peer-python",
        python,
        "--frames",
        "3",
        "--reference",
        "1.7",
        *options,
    )


def test_a_peer_that_agrees(tmp_path):
    done = clean(parity(answering(tmp_path), "base-0.6b", "--format", "json"), 0)
    found = json.loads(done.out)
    assert (found["ok"], found["failures"], found["weights"]) == (True, [], "random")
    modes = [(m["mode"], m["dtype"]) for m in found["modes"]]
    assert len(modes) == len(set(modes)) == 12
    for mode in found["modes"]:
        assert mode["talker_argmax"] == mode["predictor_argmax"] == 1.0
        assert mode["greedy_frames_equal"] is True
        is_float32 = mode["dtype"] == "float32"
        assert (mode["codec_max_abs_diff"] is not None) == is_float32
        assert (mode["xvector_cosine"] is not None) == is_float32
        assert (mode["ref_code_agreement"] is not None) == (is_float32 and "xvec" not in mode["mode"])


def test_a_peer_that_differs_fails_by_name(tmp_path):
    python = answering(tmp_path, spoilt={"plain.full.0.wave": 0.01, "instruct.full.0.talker": 0.5})
    done = clean(parity(python, "design-1.7b", "--dtype", "float32"), 1)
    assert "FAILED plain.full float32: codec_max_abs_diff" in done.out
    assert "FAILED instruct.full float32: talker_max_diff" in done.out
    assert done.out.count("FAILED") == 2
    assert "parity: no" in done.out


def test_a_swapped_tokenizer_is_told_and_no_failure(tmp_path):
    done = clean(parity(answering(tmp_path, ids_equal=False), "custom-1.7b", "--dtype", "float32"), 0)
    assert "fix_mistral_regex" in done.out
    assert "swapped" in done.out
    assert "parity: yes" in done.out


def test_faults_of_the_peer_and_of_the_call(tmp_path):
    clean(parity(tmp_path / "none"), 2)
    done = clean(parity(script(tmp_path, "import sys\nsys.exit('out of luck')\n")), 3)
    assert "out of luck" in done.err
    done = clean(refprep("bench", "synth", "--checkpoint", tmp_path, "--against", "qwen-tts"), 2)
    assert "--peer-python" in done.err
    clean(refprep("bench", "synth", "--checkpoint", tmp_path / "nowhere"), 3)


@needs_peer
@pytest.mark.slow
@pytest.mark.parametrize("name", ["base-0.6b", "base-1.7b", "custom-1.7b", "design-1.7b"])
def test_the_official_package_agrees(name):
    done = clean(parity(PEER, name, "--format", "json"), 0)
    found = json.loads(done.out)
    assert found["ok"]
    assert found["versions"]["peer qwen-tts"]


@needs_peer
@pytest.mark.slow
def test_the_official_package_is_timed():
    done = refprep(
        *("bench", "synth", "--checkpoint", tiny_checkpoint("base-0.6b"), "--against", "qwen-tts"),
        *("--peer-python", PEER, "--frames", "6", "--runs", "1", "--format", "json"),
        *("--parts", "frame", "--steps", "eager"),
    )
    found = json.loads(clean(done, 0).out)
    assert set(found["engines"]) == {"refprep", "qwen-tts"}
    assert found["peer_over_ours"]["ms_per_frame"] > 0
    assert found["ratio_ms_per_frame_tiny"] > 0
    assert found["ratio_ms_per_frame_tiny_row"] == "eager"
