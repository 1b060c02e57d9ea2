"""Where speakers are built: in this process, in several, or on Ray. The function is the same, and so are the voices."""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from typing import TypeAlias

from refprep.corpus.task import SpeakerResult, SpeakerTask, build_speaker_here
from refprep.corpus.workbench import WorkbenchSettings
from refprep.errors import MachineError

Engine: TypeAlias = Callable[[Iterable[SpeakerTask], WorkbenchSettings, int], Iterator[SpeakerResult]]
"""Tasks, settings, jobs -> results as they come; few tasks are held at a time."""

AHEAD_PER_JOB = 2


def run_here(tasks: Iterable[SpeakerTask], settings: WorkbenchSettings, jobs: int) -> Iterator[SpeakerResult]:
    """In this process, one after the other; with several jobs, in as many processes.

    Raises:
        MachineError: This machine failed, or a worker process died.
    """
    if jobs <= 1:
        for task in tasks:
            yield build_speaker_here(task, settings)
        return
    waiting: deque[Future[SpeakerResult]] = deque()
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_end_with_parent)
    try:
        for task in tasks:
            waiting.append(pool.submit(build_speaker_here, task, settings.for_jobs(jobs)))
            while len(waiting) > jobs * AHEAD_PER_JOB:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        raise MachineError(
            "a worker process died; the machine may be out of memory",
            where=f"--jobs {jobs}",
            fix="Go on with --resume and fewer jobs; finished speakers are kept.",
        ) from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _end_with_parent() -> None:
    """A worker ends with its parent, however that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is told, and stops its workers

    def watch() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
