"""CSV and TSV with a header row; comma, tab, ``|`` or ``;`` between the cells."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from refprep.errors import ManifestError
from refprep.manifest.content import content, lines
from refprep.manifest.row import AUDIO_KEYS, KNOWN_KEYS, utterance_of_row
from refprep.manifest.utterance import Utterance


def has_header(path: Path) -> bool:
    """The first row names a column with audio.

    Raises:
        ManifestError: Not UTF-8, or unreadable.
    """
    first = next((line for line in lines(path) if line.strip()), "")
    cells = {
        cell.strip().lower()
        for cell in first.replace("|", ",").replace("\t", ",").replace(";", ",").split(",")
    }
    return bool(cells & set(AUDIO_KEYS))


def read_table(path: Path) -> Iterator[Utterance]:
    """Read the rows in order.

    Raises:
        ManifestError: Not UTF-8, not whole, or a row that cannot be read.
    """
    text = content(path)
    if not text.strip():
        raise ManifestError(
            "the file is empty", where=str(path), fix="Give it a header row such as path,text."
        )
    delimiter = max(",\t|;", key=text.split("\n", 1)[0].count)
    # newline="": the csv module itself joins a quoted cell that runs over several lines.
    # strict: a quote that nobody closes would swallow the rows behind it.
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    first = 1
    try:
        first = reader.line_num + 1 if reader.fieldnames else 1
        for row in reader:
            where = f"{path}:{reader.line_num}"
            if None in row:
                raise ManifestError(
                    "the row has more cells than the header",
                    where=where,
                    fix=f"Quote cells that contain {delimiter!r}.",
                )
            # An empty cell says that nobody knows, not that nobody speaks.
            yield utterance_of_row(
                path.parent, where, {_column(k): v for k, v in row.items() if v and v.strip()}
            )
            first = reader.line_num + 1
    except csv.Error as error:
        raise ManifestError(
            f"not CSV: {error}",
            where=f"{path}:{first}",
            fix='Close every quote; inside a quoted cell write "" for one.',
        ) from error


def _column(name: str) -> str:
    """A header cell; the names refprep knows are found in any case."""
    plain = name.strip()
    return plain.lower() if plain.lower() in KNOWN_KEYS else plain
