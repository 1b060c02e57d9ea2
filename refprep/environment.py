"""What the user's environment says: where refprep keeps what it can make again, and whether it may use the network."""

from __future__ import annotations

import os
from pathlib import Path

_TRUE = {"1", "ON", "YES", "TRUE"}


def cache_root() -> Path:
    """``REFPREP_CACHE``, else the platform's cache folder."""
    import platformdirs

    given = os.environ.get("REFPREP_CACHE")
    return Path(given).expanduser() if given else platformdirs.user_cache_path("refprep", appauthor=False)


def is_offline() -> bool:
    """``REFPREP_OFFLINE`` is set: nothing is fetched."""
    return os.environ.get("REFPREP_OFFLINE", "").upper() in _TRUE
