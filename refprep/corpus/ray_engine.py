"""Speakers on Ray: the same function, wherever Ray puts it.

A task runs in a process of the cluster and may be run again when that process dies: a voice appears whole or not at all, so
a second try does no harm. The audio, the model store and the folder of the voices have to be reachable under the same
paths on every node.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from refprep.corpus.engine import AHEAD_PER_JOB
from refprep.corpus.task import SpeakerResult, SpeakerTask, build_speaker_here
from refprep.corpus.workbench import WorkbenchSettings
from refprep.errors import BackendError, UsageError

_RETRIES = 3


def run_on_ray(
    tasks: Iterable[SpeakerTask], settings: WorkbenchSettings, jobs: int
) -> Iterator[SpeakerResult]:
    """On the cluster that ``RAY_ADDRESS`` names, else on a local one of so many workers; results as they come.

    Raises:
        UsageError: Ray is not installed.
        BackendError: A task died too often, or the cluster went away.
        MachineError: A node failed as this machine would.
    """
    try:
        import ray
    except ImportError as error:
        raise UsageError(
            "Ray is not installed", where="--engine ray", fix="Run `pip install 'refprep[ray]'`."
        ) from error
    started = not ray.is_initialized()
    if started:
        _start(ray, jobs)
    try:
        run = ray.remote(num_cpus=1, max_retries=_RETRIES)(build_speaker_here)
        shared = ray.put(settings.for_jobs(jobs))
        waiting: list[Any] = []
        for task in tasks:
            waiting.append(run.remote(task, shared))
            while len(waiting) >= jobs * AHEAD_PER_JOB:
                ready, waiting = ray.wait(waiting, num_returns=1)
                yield _result(ray, ready[0])
        while waiting:
            ready, waiting = ray.wait(waiting, num_returns=1)
            yield _result(ray, ready[0])
    finally:
        if started:
            ray.shutdown()


def _start(ray: Any, jobs: int) -> None:  # noqa: ANN401  # an optional module
    address = os.environ.get("RAY_ADDRESS")
    options: dict[str, Any] = {"address": address} if address else {"num_cpus": jobs}
    # Its dashboard and usage report would go to the network unasked.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR", **options)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise BackendError(
            f"no cluster: {error}", where="--engine ray", fix="Check RAY_ADDRESS, or unset it."
        ) from error


def _result(ray: Any, reference: Any) -> SpeakerResult:  # noqa: ANN401
    try:
        result: SpeakerResult = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from error
    except ray.exceptions.RayError as error:
        raise BackendError(
            f"a task did not survive {_RETRIES + 1} tries: {error}",
            where="--engine ray",
            fix="Go on with --resume; finished speakers are kept.",
        ) from error
    return result
