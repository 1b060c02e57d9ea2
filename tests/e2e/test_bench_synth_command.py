"""`refprep bench synth` as a process: its document, the side file, the table, and calls that cannot be carried out."""

from __future__ import annotations

import json

import pytest
from engine_kit import tiny_checkpoint
from peer_kit import script
from process import clean, refprep

SHORT = ("--frames", "2", "--requests", "2", "--concurrency", "1", "--timeout", "240")


def synth(*options, name="base-0.6b"):
    return refprep("bench", "synth", "--checkpoint", tiny_checkpoint(name), *SHORT, *options)


def test_a_document_and_every_request_beside_it(tmp_path):
    side = tmp_path / "requests.jsonl"
    found = json.loads(clean(synth("--parts", "load", "--format", "json", "--samples", side), 0).out)
    schema = (
        "schema refprep_version git date host gpu torch triton cuda model dtype dtypes measurements not_run"
    )
    assert set(schema.split()) <= set(found)
    assert found["ratio_ms_per_frame_tiny"] is None
    (measured,) = found["measurements"]
    assert {"engine", "load", "results", "samples", "weights"} == set(measured)
    lines = [json.loads(line) for line in side.read_text(encoding="utf-8").splitlines()]
    assert [line["samples"] for line in lines] == [3840, 3840]
    assert {line["load"]["kind"] for line in lines} == {"closed"}


def test_a_table_with_others_figures(tmp_path):
    done = clean(synth("--parts", "frame,load", "--steps", "eager", "--runs", "1", "--published"), 0)
    assert "2 of 2" in done.out
    assert "not run    clone: --parts leaves it out" in done.out
    assert "not run    refprep-int8: not asked for" in done.out
    assert "H100" in done.out
    assert "not ranked" in done.out


@pytest.mark.parametrize(
    "options",
    [
        ("--parts", "all"),
        ("--steps", "fast"),
        ("--concurrency", "0"),
        ("--concurrency", "1.5"),
        ("--rps", "-1"),
        ("--sentences", "nowhere.txt"),
        ("--wer", "whisper-base"),
    ],
)
def test_calls_that_cannot_be_carried_out(options):
    clean(synth(*options), 2)


def test_a_peer_for_gpus_alone_says_so(tmp_path):
    body = "import sys\nsys.stderr.write('cannot run: it needs CUDA\\n')\nsys.exit(1)\n"
    options = ("--against", "faster-qwen3-tts", "--peer-python", script(tmp_path, body))
    done = clean(synth("--parts", "frame", "--steps", "eager", "--runs", "1", *options), 3)
    assert "it needs CUDA" in done.err
