"""JSONL: one JSON object a line; NeMo's keys and those of Hugging Face's AudioFolder too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from refprep.errors import ManifestError
from refprep.manifest.content import lines
from refprep.manifest.row import utterance_of_row
from refprep.manifest.utterance import Utterance


def read_jsonl(path: Path) -> Iterator[Utterance]:
    """Read the rows in order; empty lines are left out.

    Raises:
        ManifestError: Not UTF-8, or a row that cannot be read.
    """
    for number, line in enumerate(lines(path), start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ManifestError(
                f"not JSON: {error}", where=where, fix="Write one JSON object a line."
            ) from error
        if not isinstance(row, dict):
            raise ManifestError(
                "the row is no JSON object",
                where=where,
                fix='Write rows such as {"audio": "a.wav", "text": "..."}.',
            )
        yield utterance_of_row(path.parent, where, row)
