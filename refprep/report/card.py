"""A voice as a card for notebooks: one piece of HTML that needs no style sheet, no script and no network.

Notebooks drop style sheets and scripts of what they do not trust, so that all is said by attributes. The colours hold on
white and on black: nobody knows which a notebook has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from refprep.report.matrix import matrix_view
from refprep.report.page import encodable, environment
from refprep.report.proof import verdict_view
from refprep.report.timeline import clips_view, nested_view, silences_view
from refprep.report.waveform import COLUMNS, HALF_HEIGHT, outline, wav_data_uri
from refprep.types import Reference

CELL = 14
"""Pixels of a cell of the heat map."""


def voice_card(
    document: Mapping[str, Any], reference: Reference | None, *, name: str = "", fault: str = ""
) -> str:
    """A voice in short: is it verified, how long, what it says, its sound and waveform, how alike its clips are.

    Args:
        document: voice.json; optional parts may be missing.
        reference: The voice's samples; None where they cannot be read.
        name: What to call a voice without a speaker id, such as its folder.
        fault: Why there are no samples.

    Returns:
        An HTML fragment in which everything from outside is escaped.
    """
    audio = document.get("audio") or {}
    clips = [] if reference is None else clips_view(document, reference)
    view = {
        "title": document.get("speaker_id") or name or "Unnamed voice",
        "document": document,
        "verdict": verdict_view(document),
        "duration_s": audio.get("duration_s") if reference is None else reference.duration_s,
        "num_clips": len(document.get("clips") or []),
        "fault": fault,
        "clips": clips,
        "silences": [] if reference is None else silences_view(document, clips, reference),
        "nested": [] if reference is None else nested_view(document, reference),
        "outline": "" if reference is None else outline(reference.samples),
        "columns": COLUMNS,
        "height": 2 * HALF_HEIGHT,
        "player_uri": "" if reference is None else wav_data_uri(reference.samples, reference.sample_rate_hz),
        "matrix": matrix_view(document),
        "lowest": (document.get("selection") or {}).get("min_pairwise_score"),
        "cell": CELL,
    }
    return encodable(environment().get_template("card.html.j2").render(**view))
