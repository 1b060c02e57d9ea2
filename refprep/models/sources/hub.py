"""Files of a hub repository, through huggingface_hub: its cache, token, endpoint and offline switches hold."""

from __future__ import annotations

import inspect
import os
import shutil
from pathlib import Path, PurePosixPath
from typing import Any

from refprep.errors import BackendError, WeightsMissing
from refprep.models.catalog import FileSpec, HubSource
from refprep.models.sources.files import Delivery, Progress, Pull, StoredFile, sha256_of, shards_of, sync_file

# The HTTP library under huggingface_hub has changed twice, and some of its exceptions come through as they are.
_HTTP_LIBRARIES = {"httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3"}


def deliver(source: HubSource, pull: Pull) -> Delivery:
    """Take the files at one commit: the catalog's, else the one an earlier pull resolved, else the newest.

    Raises:
        WeightsMissing: Offline (ours or ``HF_HUB_OFFLINE``), and the hub's cache lacks a file.
        BackendError: The hub is not reached, refuses, or lacks the repository, the commit or a file.
        IntegrityError: A file is not the one the catalog or an earlier pull pins.
    """
    from huggingface_hub import constants
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError, OfflineModeIsEnabled

    offline = pull.offline or constants.HF_HUB_OFFLINE
    try:
        revision, found = _fetch(source, pull, offline)
    except (LocalEntryNotFoundError, OfflineModeIsEnabled) as error:
        if not offline:
            raise _unreachable(source, error) from error
        raise WeightsMissing(
            f"the hub's cache lacks {source.repo}, and this is offline",
            where=pull.model_id,
            fix=f"Run `refprep models pull {pull.model_id}` with a network, without --offline, REFPREP_OFFLINE "
            "and HF_HUB_OFFLINE",
        ) from error
    except (HFValidationError, OSError) as error:  # HfHubHTTPError is an OSError
        raise _unreachable(source, error) from error
    except Exception as error:
        if type(error).__module__.split(".")[0] in _HTTP_LIBRARIES:
            raise _unreachable(source, error) from error
        raise
    return Delivery(tuple(_take(spec, name, path, pull) for spec, name, path in found), revision)


def _fetch(
    source: HubSource, pull: Pull, offline: bool
) -> tuple[str | None, list[tuple[FileSpec, str, Path]]]:
    """The commit, and each file's name and place in the hub's cache."""
    from huggingface_hub import HfApi, hf_hub_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    revision = source.revision or pull.revision
    listed: frozenset[str] | None = None
    if not offline:
        info = HfApi().model_info(source.repo, revision=revision)
        revision = info.sha or revision
        listed = frozenset(s.rfilename for s in info.siblings or ())
    extra: dict[str, Any] = {}
    if "tqdm_class" in inspect.signature(hf_hub_download).parameters:  # since huggingface_hub 1.x
        extra["tqdm_class"] = _bar_class(pull.progress)
    found: list[tuple[FileSpec, str, Path]] = []
    wanted = list(source.files)
    for spec in wanted:
        missing: Exception | None = None
        for name in spec.names:
            if listed is not None and name not in listed:
                continue
            try:
                path = hf_hub_download(
                    source.repo, name, revision=revision, local_files_only=offline, **extra
                )
            except LocalEntryNotFoundError as error:
                if not offline:
                    raise
                missing = error
                continue
            known = spec.sha256 or (pull.expected[name].sha256 if name in pull.expected else None)
            if known and not offline and sha256_of(Path(path)) != known:
                # A model's file may be a hard link to this blob, so damage to one is damage to both: once more.
                path = hf_hub_download(source.repo, name, revision=revision, force_download=True, **extra)
            # Offline, the cache knows which commit "main" was: <cache>/snapshots/<commit>/<name>.
            revision = revision or Path(path).parents[len(PurePosixPath(name).parts) - 1].name
            found.append((spec, name, Path(path)))
            wanted += shards_of(Path(path))
            break
        else:
            if spec.is_optional:
                continue
            if missing:
                raise missing
            what = f"has no {' or '.join(spec.names)} at {revision}"
            raise BackendError(
                what, where=source.label, fix="Take another source with --source, or another model"
            )
    return revision, found


def _take(spec: FileSpec, name: str, snapshot: Path, pull: Pull) -> StoredFile:
    """Bring a file of the hub's cache into the model's folder, by hard link where that works."""
    blob = snapshot.resolve()  # a snapshot is a symbolic link to a blob named by content
    target = pull.into / name
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(blob, target)
    except OSError:
        shutil.copyfile(blob, target)
        with target.open("r+b") as stream:
            sync_file(stream)
    stored = StoredFile(name, target.stat().st_size, sha256_of(target))
    pull.check(spec, stored)
    return stored


def _bar_class(progress: Progress) -> type:
    """A tqdm that draws nothing and tells us instead: two bars on one terminal overwrite each other."""
    from tqdm import tqdm  # type: ignore[import-untyped]

    class Reporter(tqdm):  # type: ignore[misc]
        def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401  # tqdm's own
            kwargs.pop("name", None)  # huggingface_hub's extension
            super().__init__(*args, **(kwargs | {"disable": True}))
            progress(int(kwargs.get("initial") or 0))

        def update(self, n: float | None = 1) -> bool | None:
            progress(int(n or 0))
            return None

    return Reporter


def _unreachable(source: HubSource, error: Exception) -> BackendError:
    lines = str(error).strip().splitlines()
    return BackendError(
        f"the hub did not deliver: {type(error).__name__}: {lines[0] if lines else ''}",
        where=source.label,
        fix="Check the network, HF_ENDPOINT and HF_TOKEN, or take a folder with --source FOLDER",
    )
