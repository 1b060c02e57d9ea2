"""A stream's memory does not grow with its audio."""

from __future__ import annotations

import json
import sys

import pytest
from process import ROOT, clean, run

pytestmark = pytest.mark.slow


def spoken(minutes):
    command = [sys.executable, str(ROOT / "examples" / "stream_memory.py"), "--minutes", str(minutes)]
    return json.loads(clean(run(command, env={"OMP_NUM_THREADS": "1"}), 0).out)


def test_what_was_given_away_is_not_kept():
    short, long = spoken(0.5), spoken(2)
    more_s = long["audio_s"] - short["audio_s"]
    assert more_s >= 75
    kept = 4 * 24_000 * more_s  # what the samples alone would take
    assert long["peak_bytes"] - short["peak_bytes"] < kept / 2, (short, long)
    assert long["peak_bytes"] < 1.1 * short["peak_bytes"]
