"""voice.json and its samples -> figures for notebooks and papers, which read as report.html does.

Needs the extra ``plots``. Figures are made without pyplot: nothing is kept open, and no display is needed. Colours are
blue against orange, which the colour-blind tell apart; what they say stands in numbers or marks as well.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from refprep.atomic import write_bytes
from refprep.errors import UsageError
from refprep.report.levels import LevelChart, level_charts
from refprep.report.matrix import SHADES, matrix_view
from refprep.report.page import seen
from refprep.report.timeline import clips_view, nested_view, silences_view
from refprep.report.waveform import COLUMNS, envelope
from refprep.types import Reference

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DPI = 150
_WIDTH_IN = 7.2  # two columns of a paper
_FONT_PT = 8
# Okabe and Ito 2008, "Color Universal Design".
_BLUE, _ORANGE, _GREY = "#0072B2", "#D55E00", "#6B6F76"
_BAND = ("#EEF3F8", "#E0E9F2")
_MAX_NAME = 16
_MAX_NUMBERS = 20  # cells wider than this many leave no room for the scores in them


def plot_waveform(document: Mapping[str, Any], reference: Reference) -> Figure:
    """The reference over time: clips by number, what was put between them, where shorter references end.

    Args:
        document: voice.json.
        reference: Its samples.

    Returns:
        A figure of 7.2 by 2.4 inches.

    Raises:
        UsageError: matplotlib is not installed.
    """
    figure = _new_figure(2.4)
    axes = _new_axes(figure)
    clips = clips_view(document, reference)
    peak = float(np.max(np.abs(reference.samples), initial=0.0)) or 1.0
    for clip in clips:
        axes.axvspan(clip["start_s"], clip["end_s"], color=_BAND[clip["number"] % 2], linewidth=0)
        axes.text(
            (clip["start_s"] + clip["end_s"]) / 2,
            1.08 * peak,
            str(clip["number"]),
            ha="center",
            va="bottom",
            fontsize=_FONT_PT,
        )
    for silence in silences_view(document, clips, reference):
        axes.axvspan(
            silence["start_s"],
            silence["end_s"],
            facecolor="none",
            edgecolor=_GREY,
            linewidth=0,
            hatch="...." if silence["filling"] == "room-tone" else "/////",
            alpha=0.6,
        )
    lowest, highest = envelope(reference.samples, COLUMNS)
    middles_s = (np.arange(len(lowest)) + 0.5) / max(len(lowest), 1) * reference.duration_s
    axes.fill_between(middles_s, lowest, highest, color=_BLUE, linewidth=0.3)
    for part in nested_view(document, reference):
        axes.axvline(part["end_s"], color=_ORANGE, linestyle="--", linewidth=1.2)
        axes.annotate(
            f"{part['end_s']:.1f} s reference ends here",
            (part["end_s"], -1.36 * peak),
            xytext=(-3 if part["anchor"] == "end" else 3, 0),
            textcoords="offset points",
            ha="right" if part["anchor"] == "end" else "left",
            va="bottom",
            color=_ORANGE,
            fontsize=_FONT_PT,
        )
    axes.set(xlim=(0.0, reference.duration_s or 1.0), ylim=(-1.4 * peak, 1.4 * peak))
    axes.set(xlabel="time (s)", ylabel="sample")
    return figure


def plot_similarity(document: Mapping[str, Any]) -> Figure:
    """Pair scores and controls as a heat map whose colour turns at the threshold.

    Args:
        document: voice.json.

    Returns:
        A figure 7.2 inches wide. Clips have the numbers of the report's heat map: chosen, then not chosen (``·``), then
        refused (``x``).

    Raises:
        UsageError: matplotlib is not installed, or nothing was compared.
    """
    matrix = matrix_view(document)
    if matrix is None or matrix["threshold"] is None:
        raise UsageError(
            "nothing was compared", where="similarity", fix="Plot a voice that `refprep build` wrote."
        )
    rows = matrix["rows"]
    depths = np.array(
        [[np.nan if c is None else c["depth"] for c in (*row["cells"], *row["controls"])] for row in rows],
        dtype=np.float64,
    )
    figure = _new_figure(_WIDTH_IN * min(1.0, max(0.45, (len(rows) + 2) / (depths.shape[1] + 4))))
    from matplotlib.colors import BoundaryNorm, ListedColormap  # after the figure, which says what is missing

    axes = _new_axes(figure)
    colours = ListedColormap([*_shades(_ORANGE)[::-1], *_shades(_BLUE)])
    # -5 to -1 and 1 to 5: ten shades with nothing between them.
    norm = BoundaryNorm([*range(-SHADES, 1), *range(1, SHADES + 1)], 2 * SHADES)
    place = np.where(depths > 0, depths - 0.5, depths + 0.5)
    image = axes.imshow(place, cmap=colours, norm=norm, aspect="auto", interpolation="nearest")
    if len(rows) <= _MAX_NUMBERS:
        for y, row in enumerate(rows):
            for x, cell in enumerate((*row["cells"], *row["controls"])):
                if cell is not None:
                    ink = "white" if abs(cell["depth"]) >= SHADES - 1 else "black"
                    axes.text(x, y, f"{cell['value']:.2f}", ha="center", va="center", color=ink, fontsize=6)
    marks = {"chosen": "", "not chosen": " ·", "refused": " x"}
    names = [f"{row['number']}{marks[row['status']]}" for row in rows]
    # A name from outside may hold a dollar sign, which would begin a formula.
    axes.set_yticks(range(len(names)), names)
    axes.set_xticks(
        range(depths.shape[1]), [*names, *(_short_name(n) for n in matrix["controls"])], parse_math=False
    )
    for label in axes.get_xticklabels()[len(names) :]:
        label.set(rotation=90, color=_ORANGE)
    if matrix["controls"]:
        axes.axvline(len(names) - 0.5, color="white", linewidth=4)
    bar = figure.colorbar(image, ax=axes, ticks=range(-SHADES + 1, SHADES))
    bar.ax.set_yticklabels([f"{edge:.2f}" for edge in matrix["edges"]])
    bar.ax.tick_params(labelsize=_FONT_PT)
    bar.set_label(
        f"{seen(matrix['encoder'])} {matrix['scale']}, threshold {matrix['threshold']:.2f}",
        parse_math=False,
        fontsize=_FONT_PT,
    )
    axes.set(xlabel="clip, then controls" if matrix["controls"] else "clip", ylabel="clip")
    return figure


def plot_levels(document: Mapping[str, Any]) -> Figure:
    """Loudness and pace of every clip against the others; outliers carry their value.

    Args:
        document: voice.json.

    Returns:
        A figure of 7.2 by 2.4 inches, one plot for each number that was measured.

    Raises:
        UsageError: matplotlib is not installed, or no clip was measured.
    """
    charts = level_charts(document)
    if not charts:
        raise UsageError(
            "no clip was measured", where="quality", fix="Plot a voice that `refprep build` wrote."
        )
    figure = _new_figure(2.4)
    for number, chart in enumerate(charts, start=1):
        _draw_levels(_new_axes(figure, len(charts), number), chart)
    return figure


def save_plots(folder: str | Path, document: Mapping[str, Any], reference: Reference) -> tuple[Path, ...]:
    """Write waveform.png, similarity.png and levels.png; the same voice gives the same bytes.

    Args:
        folder: Made where it is not there.
        document: voice.json.
        reference: Its samples.

    Returns:
        The files, without those of which voice.json holds nothing.

    Raises:
        UsageError: matplotlib is not installed.
        MachineError: The disk refused.
    """
    figures = {"waveform.png": plot_waveform(document, reference)}
    if matrix_view(document) is not None:
        figures["similarity.png"] = plot_similarity(document)
    if level_charts(document):
        figures["levels.png"] = plot_levels(document)
    Path(folder).mkdir(parents=True, exist_ok=True)
    paths = []
    for name, figure in figures.items():
        buffer = io.BytesIO()
        # The name of the program would be the only thing that another version of matplotlib changes.
        figure.savefig(buffer, format="png", dpi=_DPI, metadata={"Software": None})
        paths.append(Path(folder) / name)
        write_bytes(paths[-1], buffer.getvalue())
    return tuple(paths)


def _new_figure(height_in: float) -> Figure:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UsageError(
            "plots need matplotlib, which is not installed",
            where="refprep.report.plots",
            fix="pip install 'refprep[plots]'",
        ) from error
    return Figure(figsize=(_WIDTH_IN, height_in), layout="constrained")


def _new_axes(figure: Figure, columns: int = 1, number: int = 1) -> Axes:
    axes = figure.add_subplot(1, columns, number)
    axes.tick_params(labelsize=_FONT_PT)
    axes.xaxis.label.set_fontsize(_FONT_PT)
    axes.yaxis.label.set_fontsize(_FONT_PT)
    return axes


def _draw_levels(axes: Axes, chart: LevelChart) -> None:
    axes.axhspan(chart.lowest, chart.highest, color=_BAND[0], linewidth=0)
    axes.axhline(chart.median, color=_GREY, linestyle="--", linewidth=1)
    for x, point in enumerate(chart.points):
        colour = _ORANGE if point.is_outlier else _BLUE
        axes.plot([x, x], [chart.median, point.value], color=colour, linewidth=1)
        marker = "x" if point.status == "refused" else "o"
        (dot,) = axes.plot(x, point.value, marker, color=colour, markersize=5)
        if point.status == "not chosen":
            dot.set_markerfacecolor("white")
        if point.is_outlier:
            axes.annotate(
                f"{point.value:.1f}",
                (x, point.value),
                xytext=(6, -3),
                textcoords="offset points",
                color=colour,
                fontsize=_FONT_PT,
            )
    numbered = [(x, str(p.number)) for x, p in enumerate(chart.points) if p.number is not None]
    axes.set_xticks([x for x, _ in numbered], [text for _, text in numbered])
    axes.set(xlabel="clip", ylabel=f"{chart.name.lower()} ({chart.unit})")
    axes.margins(x=0.08, y=0.15)


def _shades(colour: str) -> list[tuple[float, float, float]]:
    """Five steps from near white to the colour."""
    full = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    steps = [1.0 - (1.0 - full) * part for part in (0.15, 0.35, 0.55, 0.78, 1.0)]
    return [(float(r), float(g), float(b)) for r, g, b in steps]


def _short_name(name: str) -> str:
    shown = seen(name)
    return shown if len(shown) <= _MAX_NAME else shown[: _MAX_NAME - 1] + "…"
