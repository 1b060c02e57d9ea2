"""A corrected pair, and what its manifest says of it.

A row of ``utterances.jsonl`` says what the original's own manifest said of the pair, and

    source, source_sha256       the original file, and the hash of its bytes
    fixed                       codes of the findings that are gone
    cut_start_s, cut_end_s      seconds cut off at the beginning and at the end, where audio was cut
    duration_s, pcm_sha256, coverage
                                of the copy
    recording                   what the row called ``source`` before, such as the recording that `refprep split` cut
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from refprep.fix.settle import Mended
from refprep.linter.run import FileReport

# Of the original pair; the copy's own take their place.
_REPLACED = (
    "fixed",
    "source",
    "source_sha256",
    "cut_start_s",
    "cut_end_s",
    "duration_s",
    "pcm_sha256",
    "coverage",
)


@dataclass(frozen=True, slots=True, eq=False)
class Correction:
    """A pair that was corrected.

    Attributes:
        report: Of the original.
        mended: The copy.
        path: Where the copy stands, or would.
    """

    report: FileReport
    mended: Mended
    path: Path

    @property
    def cuts_s(self) -> tuple[float, float]:
        """Seconds of the original that were cut off at the beginning and at the end."""
        clip = self.mended.clip
        start_s = self.mended.first_sample / clip.sample_rate_hz
        whole_s = self.report.duration_s or 0.0
        return start_s, max(0.0, whole_s - start_s - clip.duration_s)


def manifest_row(correction: Correction, *, language: str) -> dict[str, Any]:
    """What the manifest says of a copy; its audio goes by the name alone."""
    report, mended = correction.report, correction.mended
    utterance, clip = report.utterance, mended.clip
    extra = dict(utterance.extra)
    row: dict[str, Any] = {"audio": correction.path.name}
    if mended.text is not None:
        row["text"] = mended.text
    row |= {k: v for k, v in (("language", language), ("speaker", utterance.speaker)) if v}
    row |= {k: v for k, v in extra.items() if k not in _REPLACED}
    if extra.get("source"):
        row.setdefault("recording", extra["source"])
    start_s, end_s = correction.cuts_s
    # Where the clip stood in its recording, as `refprep split` says it, moves with the cut.
    for key, moved_s in (("start_s", start_s), ("end_s", -end_s)):
        if isinstance(row.get(key), int | float):
            row[key] = round(row[key] + moved_s, 6)
    if "duration" in row:
        row["duration"] = round(clip.duration_s, 6)
    row |= {
        "source": str(utterance.audio),
        "source_sha256": report.source.file_sha256 if report.source else None,
        "fixed": sorted(mended.codes),
        "duration_s": round(clip.duration_s, 6),
        "pcm_sha256": clip.id,
    }
    if mended.report.check is not None:
        row["coverage"] = round(mended.report.check.coverage.ratio, 4)
    if clip.num_samples < round((report.duration_s or 0.0) * clip.sample_rate_hz):
        row |= {"cut_start_s": round(start_s, 6), "cut_end_s": round(end_s, 6)}
    return row
