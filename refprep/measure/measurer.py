"""Many utterances -> measurements, in order: from the cache, in this process, or in several."""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, fields
from functools import cached_property
from multiprocessing import get_context, parent_process
from typing import TYPE_CHECKING, TypeAlias

from refprep.errors import MachineError
from refprep.manifest import Utterance
from refprep.measure.cache import MeasurementCache, MeasurementKey
from refprep.measure.measurement import Measurement, Parts
from refprep.memory import FileHashes, forget_oldest

if TYPE_CHECKING:
    from refprep.pipeline.listen import Listener

# What measures is imported when there is something to measure: a run that finds all of it in the cache is over before
# scipy would be loaded.
OpenListener: TypeAlias = "Callable[[], Listener]"
_REMEMBERED = 64  # measurements kept in memory: manifests name one file many times, mostly in a row
_AHEAD_PER_JOB = 4  # utterances handed out before the first of them is asked for


class Measurer:
    """Measures utterances and remembers what it measured.

    Args:
        open_listener: Opens the models; with several jobs it is called in every process, so it must be picklable.
        parts: What to measure beside the signal.
        cache: Where measurements are kept; None keeps the last ones in memory only.
        fingerprints: Role -> what tells one model from another; asked for once, only where there is a cache.
        jobs: Processes.
    """

    def __init__(
        self,
        open_listener: OpenListener,
        parts: Parts,
        *,
        cache: MeasurementCache | None = None,
        fingerprints: Callable[[], Mapping[str, str]] = dict,
        jobs: int = 1,
    ) -> None:
        self._open = open_listener
        self._parts = parts
        self._cache = cache
        self._fingerprints = fingerprints
        self._jobs = jobs
        self._recent: dict[MeasurementKey, Measurement] = {}
        self._hashes = FileHashes()

    def measure(self, utterances: Iterable[Utterance]) -> Iterator[tuple[Utterance, Measurement]]:
        """Every utterance with its measurement, in order; few are held at a time.

        Raises:
            ManifestError, MachineError: As ``measure_utterance`` does; a worker process that dies is a MachineError.
        """
        if self._cache is not None:
            self._cache.sweep()
        yield from self._here(utterances) if self._jobs <= 1 else self._elsewhere(utterances)

    def _here(self, utterances: Iterable[Utterance]) -> Iterator[tuple[Utterance, Measurement]]:
        for utterance in utterances:
            yield utterance, self.measure_one(utterance)

    def measure_one(self, utterance: Utterance) -> Measurement:
        """Measure one utterance in this process.

        Raises:
            ManifestError, MachineError: As ``measure_utterance`` does.
        """
        key = self._key(utterance)
        found = self._look_up(key, utterance)
        if found is None:
            from refprep.measure.measure import measure_utterance

            found = measure_utterance(utterance, self._listener, self._parts)
            self._remember(key, found, to_disk=True)
        return found

    def _elsewhere(self, utterances: Iterable[Utterance]) -> Iterator[tuple[Utterance, Measurement]]:
        """In worker processes. What two rows ask about at the same time is measured once."""
        waiting: deque[_Asked] = deque()
        running: dict[MeasurementKey, Future[Measurement]] = {}
        pool = ProcessPoolExecutor(
            self._jobs, mp_context=get_context("spawn"), initializer=_start_worker, initargs=(self._open,)
        )
        try:
            for utterance in utterances:
                key = self._key(utterance)
                found = self._look_up(key, utterance)
                future = running.get(key) if key is not None else None
                if found is not None:
                    future = Future()
                    future.set_result(found)
                elif future is None:
                    future = pool.submit(_measure_in_worker, utterance, self._parts)
                    if key is not None:
                        running[key] = future
                waiting.append(_Asked(utterance, key, future))
                while len(waiting) > self._jobs * _AHEAD_PER_JOB:
                    yield self._finished(waiting.popleft(), running)
            while waiting:
                yield self._finished(waiting.popleft(), running)
        except BrokenProcessPool as error:
            raise MachineError(
                "a worker process died; the machine may be out of memory",
                where=f"--jobs {self._jobs}",
                fix="Run again with fewer jobs; what was measured is remembered.",
            ) from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _finished(
        self, asked: _Asked, running: dict[MeasurementKey, Future[Measurement]]
    ) -> tuple[Utterance, Measurement]:
        found = asked.future.result()
        if asked.key is not None and running.pop(asked.key, None) is not None:
            self._remember(asked.key, found, to_disk=True)
        return asked.utterance, found.at(str(asked.utterance.audio))

    # ---------------------------------------------------------------- what is known already

    @cached_property
    def _listener(self) -> Listener:
        return self._open()

    @cached_property
    def _models(self) -> tuple[tuple[str, str], ...]:
        return tuple(sorted(self._fingerprints().items()))

    def _key(self, utterance: Utterance) -> MeasurementKey | None:
        """None for a file that cannot be read; the decoder says why."""
        digest = self._hashes.of(utterance.audio)
        if digest is None:
            return None
        return MeasurementKey(
            file_sha256=digest,
            suffix=utterance.audio.suffix.lower(),
            text=utterance.text,
            language=utterance.language,
            parts=tuple(f.name for f in fields(self._parts) if getattr(self._parts, f.name)),
            models=self._models if self._cache is not None else (),
        )

    def _look_up(self, key: MeasurementKey | None, utterance: Utterance) -> Measurement | None:
        if key is None:
            return None
        found = self._recent.get(key)
        if found is None and self._cache is not None:
            found = self._cache.get(key)
            if found is not None:
                self._remember(key, found, to_disk=False)
        return found.at(str(utterance.audio)) if found is not None else None

    def _remember(self, key: MeasurementKey | None, measurement: Measurement, *, to_disk: bool) -> None:
        if key is None or measurement.error is not None:
            return
        forget_oldest(self._recent, most=_REMEMBERED)
        self._recent[key] = measurement
        if to_disk and self._cache is not None:
            self._cache.put(key, measurement)


@dataclass(frozen=True, slots=True)
class _Asked:
    """An utterance whose turn has not come, and where its measurement is being made."""

    utterance: Utterance
    key: MeasurementKey | None
    future: Future[Measurement]


# ---------------------------------------------------------------- in a worker process

_worker_listener: Listener | None = None


def _start_worker(open_listener: OpenListener) -> None:
    """Open the models once, and end with the parent however that ends."""
    global _worker_listener
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is told, and stops its workers
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _worker_listener = open_listener()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _measure_in_worker(utterance: Utterance, parts: Parts) -> Measurement:
    from refprep.measure.measure import measure_utterance

    if _worker_listener is None:
        raise ValueError("the worker was not started")
    return measure_utterance(utterance, _worker_listener, parts)
