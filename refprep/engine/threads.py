"""How many threads one product is cut into on a CPU.

PyTorch takes as many as there are physical cores that the process may run on. What it does not see is the share of time
that a container is given: with more threads than that share they are stopped by turns, and each product waits for the
last of them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import torch

_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
_CGROUPS = Path("/sys/fs/cgroup")


def settle_threads(environ: Mapping[str, str] | None = None, *, cgroups: Path = _CGROUPS) -> int:
    """Set the threads of the process, for programs: a library leaves them to its caller.

    Args:
        environ: A number in it is the user's word, and stays; None: the process's own.
        cgroups: Where the system tells a container's share.

    Returns:
        Threads of one product from now on.
    """
    environ = os.environ if environ is None else environ
    if not any(environ.get(name) for name in _VARIABLES):
        share = cpu_share(cgroups)
        if share is not None and share < torch.get_num_threads():
            torch.set_num_threads(max(1, int(share)))
    return torch.get_num_threads()


def cpu_share(cgroups: Path = _CGROUPS) -> float | None:
    """Cores' worth of time that the process is given; None where nothing limits it, or nothing says so."""
    try:
        if (both := cgroups / "cpu.max").is_file():
            quota, period = both.read_text(encoding="ascii").split()
        else:
            quota = (cgroups / "cpu" / "cpu.cfs_quota_us").read_text(encoding="ascii")
            period = (cgroups / "cpu" / "cpu.cfs_period_us").read_text(encoding="ascii")
        share = int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return None  # "max" and -1 mean no limit; elsewhere than on Linux there are no such files
    return share if share > 0 else None
