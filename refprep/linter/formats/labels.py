"""Words and findings -> an Audacity label track."""

from __future__ import annotations

from refprep.linter.formats.place import one_line
from refprep.linter.run import FileReport
from refprep.types import Span


def to_labels(report: FileReport) -> str:
    r"""One line a label, ``start\tend\ttext`` in seconds, by time: the text's words as aligned, and the findings.

    A finding of the whole file spans it. Import it in Audacity with File > Import > Labels.
    """
    end_s = report.duration_s or 0.0

    def clock(seconds: float) -> str:
        return f"{min(max(0.0, seconds), end_s):.6f}"

    labels = [(w.span, w.text) for w in report.check.alignment.words] if report.check else []
    labels += [
        (f.span or Span(0.0, end_s), f"{f.code} {f.severity.value}: {f.message}") for f in report.findings
    ]
    # Sorted by the start alone: words without length keep their order in the text.
    return "\n".join(
        f"{clock(span.start_s)}\t{clock(span.end_s)}\t{one_line(text)}"
        for span, text in sorted(labels, key=lambda label: label[0].start_s)
    )
