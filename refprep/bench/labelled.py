"""Rows of a labelled CSV file, with one clear error for each thing that can be wrong with one."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from refprep.errors import ManifestError

_FIX = "See manifests/README.md for the columns."


def read_rows(path: Path, required: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield (place for messages, row) of a CSV file with a header; absent cells are empty.

    Args:
        path: Of the file.
        required: Columns that must be there, and in every row.

    Raises:
        ManifestError: The file cannot be read, is not CSV, or lacks a column or a cell.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            missing = [c for c in required if c not in (reader.fieldnames or ())]
            if missing:
                raise ManifestError(f"columns {', '.join(missing)} missing", where=str(path), fix=_FIX)
            for row in reader:
                where = f"{path}:{reader.line_num}"
                short = [c for c in required if row[c] is None]
                if short or None in row:
                    what = f"no cell for {', '.join(short)}" if short else "more cells than the header"
                    raise ManifestError(what, where=where, fix="Mend the row.")
                yield where, {k: v or "" for k, v in row.items()}
    except UnicodeDecodeError as error:
        raise ManifestError(
            f"not UTF-8 (byte {error.start})", where=str(path), fix="Save it as UTF-8."
        ) from error
    except csv.Error as error:
        raise ManifestError(f"not CSV: {error}", where=str(path), fix=_FIX) from error
    except OSError as error:
        raise ManifestError(
            f"it cannot be read: {error.strerror}", where=str(path), fix="Check the path."
        ) from error
