"""Data sets of the library `datasets`: saved to a folder, or named on the Hugging Face hub.

Rows are read from memory-mapped Arrow files a few at a time, and audio stays as it is stored: nothing is decoded here.
The hub's cache, token, endpoint and offline switches hold; with ``REFPREP_OFFLINE`` only the cache is looked at.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refprep.environment import is_offline
from refprep.errors import BackendError, ManifestError, RefprepError, UsageError
from refprep.manifest.arrow import BATCH_ROWS, columns_of, read_batches
from refprep.manifest.utterance import Utterance

if TYPE_CHECKING:
    import datasets

_PREFIX = "hf:"
# OWNER/NAME, with /CONFIG behind it where a data set has several.
_NAME = re.compile(r"([\w.-]+(?:/[\w.-]+)?)(?:/([\w.-]+))?")


@dataclass(frozen=True, slots=True)
class HubName:
    """A data set of the hub.

    Attributes:
        written: As the user wrote it.
        repo: ``OWNER/NAME``.
        config: One of its configurations; empty for the only or default one.
        split: ``train``, ``train[:100]``; empty for all.
    """

    written: str
    repo: str
    config: str
    split: str


def hub_name(path: Path) -> HubName | None:
    """What ``hf:OWNER/NAME[/CONFIG][:SPLIT]`` names; None for paths of this machine."""
    written = path.as_posix()
    if not written.startswith(_PREFIX) or os.path.lexists(path):
        return None
    name, _, split = written.removeprefix(_PREFIX).partition(":")
    fits = _NAME.fullmatch(name)
    return HubName(written, fits[1] if fits else "", (fits[2] or "") if fits else "", split)


def is_saved(folder: Path) -> bool:
    """``save_to_disk`` of a data set, or of several splits, wrote this folder."""
    return (folder / "dataset_dict.json").is_file() or (
        (folder / "state.json").is_file() and (folder / "dataset_info.json").is_file()
    )


def read_saved(folder: Path, *, clips: Path) -> Iterator[Utterance]:
    """Read the rows of a saved data set, split by split.

    Args:
        folder: That ``save_to_disk`` wrote.
        clips: Folder for audio that rows carry inside.

    Raises:
        UsageError: The library is not installed.
        ManifestError: Damaged, no audio column, or a row that cannot be read.
        MachineError: The disk refused.
    """
    library = _library(str(folder))
    try:
        found = library.load_from_disk(str(folder))
    except Exception as error:  # damaged JSON and Arrow raise what they please
        raise _damaged(str(folder), error) from error
    yield from _rows(found, folder=folder, where=str(folder), clips=clips)


def read_hub(name: HubName, *, clips: Path) -> Iterator[Utterance]:
    """Read the rows of a data set of the hub, from the user's cache where it is there.

    Args:
        name: The data set.
        clips: Folder for audio that rows carry inside.

    Raises:
        UsageError: No such name, configuration or split, or the library is not installed.
        BackendError: The hub does not deliver, or this is offline and the cache lacks it.
        ManifestError: No audio column, or a row that cannot be read.
        MachineError: The disk refused.
    """
    if not name.repo:
        raise UsageError(
            "no name of a data set", where=name.written, fix="Write hf:OWNER/NAME or hf:OWNER/NAME:train."
        )
    if os.path.lexists(name.repo):
        # The library takes a folder of that name for the data set.
        raise UsageError(
            "there is a file or folder of this name here",
            where=name.repo,
            fix="Leave out hf: to read it, or run refprep in another folder.",
        )
    library = _library(name.written)
    with _network(closed=is_offline()) as is_closed:
        try:
            found = library.load_dataset(name.repo, name.config or None, split=name.split or None)
        except Exception as error:
            raise _undelivered(name, error, is_closed=is_closed) from error
    yield from _rows(found, folder=None, where=name.written, clips=clips)


def _rows(
    found: datasets.Dataset | datasets.DatasetDict, *, folder: Path | None, where: str, clips: Path
) -> Iterator[Utterance]:
    import datasets
    import pyarrow as pa

    splits = found if isinstance(found, datasets.DatasetDict) else {"": found}
    for split, rows in splits.items():
        place = f"{where}, {split}" if split else where
        columns = columns_of(rows.features.arrow_schema, place)
        try:
            chosen = rows.select_columns(list(columns.names)).with_format("arrow")
            batches = chosen.iter(batch_size=BATCH_ROWS)
            yield from read_batches(batches, columns, folder=folder, where=place, clips=clips)
        except (OSError, ValueError, KeyError, pa.ArrowException) as error:
            raise _damaged(place, error) from error


def _library(where: str) -> Any:  # noqa: ANN401  # untyped code stops here
    try:
        import datasets
    except ImportError as error:
        raise UsageError(
            "`datasets` reads this, and is not installed", where=where, fix="pip install 'refprep[datasets]'."
        ) from error
    return datasets


@contextmanager
def _network(*, closed: bool) -> Iterator[bool]:
    """Keep the library off the network where refprep is told to be.

    Yields:
        Whether it is closed, by us or by its own switches.
    """
    import datasets
    from huggingface_hub import constants

    was = datasets.config.HF_HUB_OFFLINE, constants.HF_HUB_OFFLINE
    is_closed = closed or any(was)
    try:
        # Both read them when they are imported, so that setting the environment now would come too late.
        datasets.config.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE = is_closed
        yield is_closed
    finally:
        datasets.config.HF_HUB_OFFLINE, constants.HF_HUB_OFFLINE = was


def _undelivered(name: HubName, error: Exception, *, is_closed: bool) -> RefprepError:
    # OSError too: the library's own "not found" and "not reached" are.
    if isinstance(error, ValueError) and not isinstance(error, OSError):
        return UsageError(_first_line(error), where=name.written, fix="Write hf:OWNER/NAME[/CONFIG][:SPLIT].")
    if is_closed:
        return BackendError(
            "the hub's cache lacks it, and this is offline",
            where=name.written,
            fix="Run once with a network, without REFPREP_OFFLINE, HF_HUB_OFFLINE and HF_DATASETS_OFFLINE.",
        )
    return BackendError(
        f"the hub did not deliver: {type(error).__name__}: {_first_line(error)}",
        where=name.written,
        fix="Check the name, the network, HF_ENDPOINT and HF_TOKEN, or point at a folder that save_to_disk wrote.",
    )


def _damaged(where: str, error: Exception) -> ManifestError:
    return ManifestError(
        f"not readable as a data set: {_first_line(error)}",
        where=where,
        fix="Save it again with save_to_disk.",
    )


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
