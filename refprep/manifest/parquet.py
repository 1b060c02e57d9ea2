"""Parquet: ``metadata.parquet`` of an AudioFolder, and tables with the audio inside, as the hub keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from refprep.errors import ManifestError, UsageError
from refprep.manifest.arrow import BATCH_ROWS, columns_of, read_batches
from refprep.manifest.utterance import Utterance


def read_parquet(path: Path, *, clips: Path) -> Iterator[Utterance]:
    """Read the rows in order, a few at a time.

    Args:
        path: The file.
        clips: Folder for audio that rows carry inside.

    Raises:
        UsageError: pyarrow is not installed.
        ManifestError: No Parquet, damaged, no audio column, or a row that cannot be read.
        MachineError: The disk refused.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise UsageError(
            "pyarrow reads Parquet, and is not installed",
            where=str(path),
            fix="pip install 'refprep[datasets]'.",
        ) from error
    try:
        with pq.ParquetFile(path) as file:
            columns = columns_of(file.schema_arrow, str(path))
            batches = file.iter_batches(batch_size=BATCH_ROWS, columns=list(columns.names))
            yield from read_batches(batches, columns, folder=path.parent, where=str(path), clips=clips)
    except (OSError, ValueError, KeyError, pa.ArrowException) as error:
        raise ManifestError(
            f"not readable as Parquet: {error}", where=str(path), fix="Write or download it again."
        ) from error
