"""The parts of the report that compute: the matrix, the outline, the axis, the player's WAV."""

from __future__ import annotations

import base64
import io
import re
import wave

import numpy as np
import pytest
from voice_kit import built_voice, written_document

from refprep.report.matrix import matrix_view
from refprep.report.waveform import COLUMNS, axis_ticks, outline, peak_dbfs, wav_data_uri


def test_refused_clips_come_last_and_are_marked(tmp_path):
    document = written_document(built_voice(tmp_path), tmp_path)
    matrix = matrix_view(document)
    assert matrix is not None
    assert [row["status"] for row in matrix["rows"]] == ["chosen"] * 3 + ["not chosen", "refused"]
    assert matrix["rows"][0]["cells"][4]["shade"].startswith("below")
    assert matrix["rows"][0]["cells"][0] is None


def test_outline_reaches_both_edges_and_keeps_every_peak():
    samples = np.zeros(48_000, np.float32)
    samples[[700, 30_000]] = [0.25, -0.25]
    heights = [float(h) for h in re.findall(r"[\d.]+ (-?[\d.]+)", outline(samples))]
    assert len(heights) == 2 * COLUMNS
    assert min(heights) == pytest.approx(-0.25, abs=0.1)
    assert max(heights) == pytest.approx(200.25, abs=0.1)
    assert outline(np.zeros(0, np.float32)) == ""
    assert outline(np.zeros(3, np.float32)).startswith("M")
    assert peak_dbfs(np.zeros(3, np.float32)) is None
    assert peak_dbfs(samples) == pytest.approx(-12.04, abs=0.01)


@pytest.mark.parametrize("duration_s", [0.0, 0.05, 1.0, 8.2, 12.83, 30.0, 61.0, 3600.0, 1e6])
def test_axis_has_few_ticks_inside_the_audio(duration_s):
    ticks = axis_ticks(duration_s)
    assert ticks[0] == 0.0
    assert len(ticks) <= 17
    assert ticks[-1] <= duration_s + 1e-6


def test_overshoots_are_held_at_full_scale():
    uri = wav_data_uri(np.array([2.0, -2.0, 0.0], np.float32), 8000)
    with wave.open(io.BytesIO(base64.b64decode(uri.split(",", 1)[1]))) as file:
        assert np.frombuffer(file.readframes(3), "<i2").tolist() == [32767, -32768, 0]
