"""`refprep doctor`: what works on this machine, and what to run next."""

from __future__ import annotations

import enum
import importlib
import importlib.metadata
import json
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from refprep.cli.console import out
from refprep.errors import MachineError, RefprepError

SCHEMA_VERSION = 1
_PULL = "refprep models pull "
# Whisper base in float32 beside torch and GE2E peaked at 1.3 GB on 30 s of audio; twice that, and the system's own.
_MIN_MEMORY_BYTES = 4_000_000_000
_EXTRAS = {
    "pypinyin": ("zh", "simplified and traditional Chinese compare as equal"),
    "sudachipy": ("ja", "kana and kanji compare by sound"),
    "datasets": ("datasets", "data sets of the Hugging Face library as manifests"),
    "matplotlib": ("plots", "figures of a voice"),
    "ray": ("ray", "a corpus on a cluster"),
}


class State(enum.StrEnum):
    """How a check ended: fine, something to do or know, or a stop."""

    OK = "ok"
    NOTE = "note"
    FAIL = "fail"


class Format(enum.StrEnum):
    """How the report is printed."""

    TEXT = "text"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at.

    Attributes:
        name: Short, the same in every run.
        detail: What was found.
        run: A command that would improve it; empty when there is nothing to do.
    """

    name: str
    state: State
    detail: str
    run: str = ""


def doctor(
    format: Annotated[  # noqa: A002  # the option's name
        Format, typer.Option("--format", help="How the report is printed.")
    ] = Format.TEXT,
) -> None:
    """Say what works on this machine and what to run next; exit 3 when something essential does not."""
    checks = examine()
    usable = all(c.state is not State.FAIL for c in checks)
    following = next_commands(checks)
    if format is Format.JSON:
        report = {"schema_version": SCHEMA_VERSION, "usable": usable, "checks": [asdict(c) for c in checks]}
        out(json.dumps(report | {"next": following}, ensure_ascii=False, indent=2))
    else:
        width = max(len(c.name) for c in checks)
        for check in checks:
            out(f"{check.state:4}  {check.name:{width}}  {check.detail}")
        out(f"\n{'usable' if usable else 'not usable yet'}; next:")
        for command in following:
            out(f"  {command}")
    if not usable:
        raise typer.Exit(MachineError.exit_code)


def next_commands(checks: list[Check]) -> list[str]:
    """What to run, in order, each once; all pulls in one command; the tool itself when nothing is due."""
    pulls = [c.run.removeprefix(_PULL) for c in checks if c.run.startswith(_PULL)]
    following = list(dict.fromkeys(c.run for c in checks if c.run and not c.run.startswith(_PULL)))
    if pulls:
        following.append(_PULL + " ".join(pulls))
    return following or ["refprep lint PATH"]


def examine() -> list[Check]:
    """Look at everything; a check that fails never hides the ones after it."""
    checks = [_python(), _processors(), _memory()]
    checks += [_library(name, describe) for name, describe in _ESSENTIAL.items()]
    checks += [_cuda(), _cache(), *_models(), *_self_test(), *_extras()]
    return checks


def _python() -> Check:
    return Check("python", State.OK, f"{platform.python_version()} at {sys.executable}")


def _processors() -> Check:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Check("cpu", State.OK, f"{usable} of {os.cpu_count()} cores, {platform.machine()}")


def _memory() -> Check:
    num_bytes = memory_bytes()
    if num_bytes is None:
        return Check("memory", State.NOTE, "not known on this system")
    state = State.OK if num_bytes >= _MIN_MEMORY_BYTES else State.NOTE
    return Check("memory", state, f"{num_bytes / 1e9:.1f} GB" + ("" if state is State.OK else ", little"))


def memory_bytes() -> int | None:
    """Memory this process may use: the machine's, or less where a container limits it; None if unknown."""
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows
        return None
    try:
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii"))
    except (OSError, ValueError):  # no cgroup v2, or "max"
        return total
    return min(total, limit)


def _library(name: str, describe: Callable[[ModuleType], str]) -> Check:
    try:
        return Check(name, State.OK, describe(importlib.import_module(name)))
    except Exception as error:  # a broken binary wheel fails with OSError, RuntimeError and worse
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        return Check(name, State.FAIL, reason, f"{sys.executable} -m pip install --force-reinstall refprep")


def _version(package: str) -> Callable[[ModuleType], str]:
    return lambda _: importlib.metadata.version(package)


def _describe_soundfile(module: Any) -> str:  # noqa: ANN401  # untyped library
    formats = ", ".join(sorted(module.available_formats()))
    return f"{module.__version__}, {module.__libsndfile_version__}: {formats}"


def _describe_ctranslate2(module: Any) -> str:  # noqa: ANN401  # untyped library
    types = ", ".join(sorted(module.get_supported_compute_types("cpu")))
    return f"{module.__version__}, CPU: {types}"


def _describe_faster_whisper(module: Any) -> str:  # noqa: ANN401  # untyped library
    networks = sorted(p.stem for p in (Path(module.__file__).parent / "assets").glob("silero*.onnx"))
    return f"{module.__version__}, voice activity: {', '.join(networks) or 'its network is missing'}"


_ESSENTIAL: dict[str, Callable[[ModuleType], str]] = {
    "torch": _version("torch"),
    "torchaudio": _version("torchaudio"),
    "soundfile": _describe_soundfile,
    "av": _version("av"),
    "ctranslate2": _describe_ctranslate2,
    "faster_whisper": _describe_faster_whisper,
}


def _cuda() -> Check:
    try:
        import torch

        names = [torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count())]
    except Exception as error:  # torch is already reported; a driver mismatch is worth a line of its own
        return Check("cuda", State.NOTE, f"not usable: {error}")
    if not names:
        return Check("cuda", State.OK, "no device; everything runs on the CPU")
    return Check("cuda", State.OK, "; ".join(f"{p.name}, {p.total_memory / 1e9:.0f} GB" for p in names))


def _cache() -> Check:
    from refprep.models.store import ModelStore

    try:
        store = ModelStore.default()
        # The nearest folder that exists decides; looking must not create the cache.
        folder = next(p for p in (store.root, *store.root.absolute().parents) if p.exists())
    except (RefprepError, OSError) as error:
        return Check("cache", State.FAIL, str(error), "export REFPREP_CACHE=FOLDER")
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        return Check("cache", State.FAIL, f"{store.root} cannot be written", "export REFPREP_CACHE=FOLDER")
    return Check("cache", State.OK, str(store.root) + (", offline" if store.offline else ""))


def _models() -> list[Check]:
    """One line a role. A missing model is a note, not a failure: the machine is fine, a pull is due."""
    from refprep.models.store import ModelStore

    try:
        store = ModelStore.default()
        statuses = [store.status(model_id) for model_id in store.catalog]
    except RefprepError as error:
        return [Check("models", State.FAIL, str(error))]
    checks: list[Check] = []
    for role, purpose in (("asr", "text"), ("speaker", "identity"), ("speech", "the demo")):
        here = [s.model.id for s in statuses if s.model.role == role and s.state == "present"]
        damaged = [s.model.id for s in statuses if s.model.role == role and s.state == "damaged"]
        due = [s.model.id for s in statuses if s.model.role == role and _is_default(s.model.default_for)]
        if damaged:
            run = _PULL + " ".join(damaged)
            checks.append(Check(f"{role} models", State.NOTE, f"damaged: {', '.join(damaged)}", run))
        elif here:
            checks.append(Check(f"{role} models", State.OK, ", ".join(here)))
        else:
            run = _PULL + " ".join(due)
            checks.append(Check(f"{role} models", State.NOTE, f"none, needed for {purpose}", run))
    return checks


def _self_test() -> list[Check]:
    """Does the default speaker encoder still do what its thresholds were measured with? Nothing to say without it."""
    from refprep.config import ModelConfig
    from refprep.models.load import has_encoder
    from refprep.models.store import ModelStore
    from refprep.models.verifiers import load_verifiers

    try:
        store = ModelStore.default()
        if not has_encoder(ModelConfig(), store):
            return []
        (verifier,) = load_verifiers(ModelConfig(device="cpu"), store)
    except RefprepError as error:
        return [Check("speaker self-test", State.FAIL, error.what, error.fix)]
    threshold = f"threshold {verifier.threshold:.3f} ({verifier.scale})"
    return [Check("speaker self-test", State.OK, f"{verifier.model} gives the vector it should, {threshold}")]


def _is_default(default_for: tuple[str, ...]) -> bool:
    return "embedded" in default_for or "demo" in default_for


def _extras() -> list[Check]:
    checks: list[Check] = []
    for module, (extra, purpose) in _EXTRAS.items():
        try:
            detail = f"{module} {importlib.metadata.version(module)}: {purpose}"
        except importlib.metadata.PackageNotFoundError:
            detail = f"{module} is not installed ({purpose})"
        checks.append(Check(f"extra {extra}", State.OK, detail))
    return checks
