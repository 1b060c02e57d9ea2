"""Files of a folder on this machine."""

from __future__ import annotations

import hashlib

from refprep.errors import UsageError
from refprep.models.catalog import LocalSource
from refprep.models.sources.files import Delivery, Pull, StoredFile, copy_hashed, shards_of, sync_file


def deliver(source: LocalSource, pull: Pull) -> Delivery:
    """Copy the files, and the shards that an index among them names, since a folder of the user's may change afterwards.

    Raises:
        UsageError: A file is not there.
        IntegrityError: A file is not the one the catalog or an earlier pull pins.
    """
    delivered: list[StoredFile] = []
    wanted = list(source.files)
    for spec in wanted:
        name = next((n for n in spec.names if (source.folder / n).is_file()), None)
        if name is None:
            if spec.is_optional:
                continue
            fix = f"Give a folder that holds every file of {pull.model_id}"
            raise UsageError(f"has no {' or '.join(spec.names)}", where=str(source.folder), fix=fix)
        wanted += shards_of(source.folder / name)
        target = pull.into / name
        target.parent.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256()
        with (source.folder / name).open("rb") as origin, target.open("wb") as stream:
            size_bytes = copy_hashed(origin, stream, digest, limit_bytes=None)
            sync_file(stream)
        pull.progress(size_bytes)
        stored = StoredFile(name, size_bytes, digest.hexdigest())
        pull.check(spec, stored)
        delivered.append(stored)
    return Delivery(tuple(delivered))
