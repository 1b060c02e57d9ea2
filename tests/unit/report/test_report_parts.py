"""The parts of the report that compute: the matrix, the outline, the axis, the player's WAV."""

from __future__ import annotations

import base64
import io
import re
import wave

import numpy as np
import pytest
from voice_kit import built_voice, normed_voice, written_document

from refprep.report.levels import MAX_POINTS, level_charts, pace_unit
from refprep.report.matrix import matrix_view, shade_edges, shade_of
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


@pytest.mark.parametrize(
    ("threshold", "scale", "shades"),
    [
        (0.72, "cosine", {-1.0: -5, 0.36: -5, 0.5: -4, 0.719: -1, 0.72: 1, 0.9: 4, 0.95: 5, 1.0: 5}),
        (3.0, "as-norm", {-5.0: -5, -0.3: -5, 1.9: -2, 2.99: -1, 3.0: 1, 4.9: 3, 6.3: 5, 8.0: 5, 40.0: 5}),
        (1.0, "cosine", {0.99: -1, 1.0: 1}),
    ],
)
def test_shades_deepen_away_from_the_threshold_on_either_scale(threshold, scale, shades):
    edges = shade_edges(threshold, scale)
    assert list(edges) == sorted(edges)
    assert edges[len(edges) // 2] == threshold
    assert {score: shade_of(score, edges) for score in shades} == shades


def test_every_shade_of_as_norm_is_used():
    edges = shade_edges(3.0, "as-norm")
    found = {shade_of(float(score), edges) for score in np.arange(-5.0, 8.0, 0.1)}
    assert found == {-5, -4, -3, -2, -1, 1, 2, 3, 4, 5}


def test_controls_of_negative_scores_keep_their_order(tmp_path):
    document = written_document(normed_voice(tmp_path), tmp_path)
    for row in document["clips"]:
        row["identity"]["control_scores"] = {"far": -4.0, "near": -1.5, "middle": -2.0}
    for row in (*document["refused"], *document["not_chosen"]):
        row["identity"]["control_scores"] = {"far": 5.0}
    matrix = matrix_view(document)
    assert matrix is not None
    assert matrix["controls"] == ["near", "middle", "far"]


def rows(*values: float | None) -> list[dict[str, object]]:
    return [{"path": f"{k}.wav", "quality": {"loudness_lufs": v}} for k, v in enumerate(values)]


def test_one_loud_clip_of_three_stands_out():
    (chart,) = level_charts({"clips": rows(-21.0, -21.2, -30.0)})
    assert [p.is_outlier for p in chart.points] == [False, False, True]
    assert chart.median == -21.2


def test_small_differences_and_refused_clips_move_nothing():
    (chart,) = level_charts(
        {"clips": rows(-21.0, -21.0, -21.9, None), "refused": rows(-40.0, -41.0, -42.0, -43.0)}
    )
    assert [p.is_outlier for p in chart.points] == [False] * 3 + [True] * 4
    assert chart.highest - chart.lowest == pytest.approx(2.0)
    assert [p.number for p in chart.points] == [1, 2, 3, None, None, None, None]


def test_no_chart_without_a_number():
    assert level_charts({"clips": rows(None), "refused": rows(-20.0)}) == ()
    assert level_charts({}) == ()
    (chart,) = level_charts({"clips": rows(*[-20.0 - k / 100 for k in range(MAX_POINTS + 9)])})
    assert (len(chart.points), chart.left_out) == (MAX_POINTS, 9)


def test_pace_is_counted_in_what_the_script_has():
    assert pace_unit({"language": "ja-JP"}) == "characters/s"
    assert pace_unit({"language": "es-AR"}) == "syllables/s"
    assert pace_unit({}) == "syllables/s"
