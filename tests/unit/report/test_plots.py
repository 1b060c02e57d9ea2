"""The figures: they read as the report does, and the same voice gives the same bytes."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest
from voice_kit import built_voice, normed_voice, written_document

from refprep.errors import UsageError
from refprep.report.matrix import matrix_view
from refprep.report.plots import plot_levels, plot_similarity, plot_waveform, save_plots

pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")


@pytest.fixture(params=[built_voice, normed_voice], ids=["cosine", "as-norm"])
def voice(request, tmp_path):
    return request.param(tmp_path / "voice")


@pytest.fixture
def document(voice):
    return written_document(voice, voice.folder)


def texts(figure) -> list[str]:
    return [t.get_text() for axes in figure.axes for t in axes.texts]


def test_saved_plots_are_png_and_the_same_each_time(document, voice, tmp_path):
    paths = save_plots(tmp_path / "a", document, voice.reference)
    again = save_plots(tmp_path / "b", document, voice.reference)
    assert [p.name for p in paths] == ["waveform.png", "similarity.png", "levels.png"]
    for one, other in zip(paths, again, strict=True):
        data = one.read_bytes()
        assert data.startswith(b"\x89PNG\r\n\x1a\n")
        assert 5_000 < len(data) < 500_000
        assert data == other.read_bytes()


def test_no_window_and_no_state_is_left(document, voice, tmp_path):
    save_plots(tmp_path, document, voice.reference)
    assert "matplotlib.pyplot" not in sys.modules


def test_the_waveform_numbers_its_clips_and_marks_nested_ends(document, voice):
    shown = texts(plot_waveform(document, voice.reference))
    assert shown[: len(document["clips"])] == [str(k + 1) for k in range(len(document["clips"]))]
    assert [t for t in shown if "ends here" in t] == [
        f"{row['duration_s']:.1f} s reference ends here" for row in document["nested"]
    ]


def test_the_heat_map_shows_what_the_report_shows(document):
    matrix = matrix_view(document)
    assert matrix is not None
    axes = plot_similarity(document).axes[0]
    values = [c["value"] for row in matrix["rows"] for c in (*row["cells"], *row["controls"]) if c]
    assert [t.get_text() for t in axes.texts] == [f"{v:.2f}" for v in values]
    shown = np.asarray(axes.images[0].get_array())
    above = [
        [c is not None and c["depth"] > 0 for c in (*r["cells"], *r["controls"])] for r in matrix["rows"]
    ]
    assert np.array_equal(np.nan_to_num(shown) > 0, above)


def test_outliers_carry_their_value(document, voice):
    outliers = ["-28.2", "7.2"] if len(voice.chosen) == 5 else []
    assert texts(plot_levels(document)) == outliers


def test_names_are_no_formulas(document):
    for row in document["clips"]:
        row["identity"]["control_scores"] = {"$\\frac{": 0.3, "a\u202eb": 0.2}
    figure = plot_similarity(document)
    figure.savefig(io.BytesIO(), format="png")
    assert "a[U+202E]b" in [t.get_text() for t in figure.axes[0].get_xticklabels()]


@pytest.mark.parametrize(("plot", "part"), [(plot_similarity, "similarity"), (plot_levels, "clips")])
def test_nothing_to_draw_is_said(document, plot, part):
    del document[part]
    if part == "clips":
        del document["not_chosen"]
    with pytest.raises(UsageError):
        plot(document)


def test_what_cannot_be_drawn_is_left_out(document, voice, tmp_path):
    del document["similarity"]
    for row in (*document["clips"], *document["not_chosen"]):
        row.pop("quality", None)
    assert [p.name for p in save_plots(tmp_path, document, voice.reference)] == ["waveform.png"]


def test_without_matplotlib_the_message_says_what_to_install(document, voice, monkeypatch):
    for name in [n for n in sys.modules if n.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for draw in (
        lambda: plot_waveform(document, voice.reference),
        lambda: plot_similarity(document),
        lambda: plot_levels(document),
    ):
        with pytest.raises(UsageError, match=r"pip install 'refprep\[plots\]'"):
            draw()
