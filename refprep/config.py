"""Settings: a frozen dataclass per stage; TOML in, an unknown key is an error."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from refprep.errors import ConfigError

CONFIG_NAME = "refprep.toml"


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """Which models to use.

    Attributes:
        asr: Id or folder of the recogniser and aligner; ``auto`` takes the best one present.
        encoder: Id or folder of the speaker encoder; ``auto`` takes GE2E. Several with commas: the first decides whose
            voice it is, the others have to agree.
        device: ``auto``, ``cpu`` or ``cuda``.
        threads: CPU threads for the recogniser; 0 lets it choose.
    """

    asr: str = "auto"
    encoder: str = "auto"
    device: str = "auto"
    threads: int = 0


@dataclass(frozen=True, slots=True)
class LintConfig:
    """What lint reports and when it fails.

    Attributes:
        select: Codes or prefixes to run; empty for all.
        ignore: Codes or prefixes to leave out; in TOML a list, or a table of code and reason.
        per_file_ignores: Glob -> codes or prefixes to leave out for the files it fits, a list or a table likewise.
        severity: Code or prefix -> ``error``, ``warning`` or ``info`` instead of the rule's own.
        preview: Run preview rules, too.
        profile: Engine the clips are meant for, such as ``f5-tts``, or several with commas; empty for none.
        baseline: File of known findings; relative to the file of the settings. Empty for none.
        fail_on: ``error``, ``warning``, ``info`` or ``never``.
        jobs: Processes.
        cache: Remember what was measured.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    severity: Mapping[str, str] = field(default_factory=dict)
    preview: bool = False
    profile: str = ""
    baseline: str = ""
    fail_on: str = "error"
    jobs: int = 1
    cache: bool = True


@dataclass(frozen=True, slots=True)
class BuildConfig:
    """What a reference must be.

    Attributes:
        min_s, max_s, target_s: Length window of the reference, gaps and tail included. 12 s is the default target:
            in listening tests longer references were not preferred.
        nested: Lengths of references of which each is a prefix of the next, seconds, rising; empty for one reference.
        gap: Policy between two clips: ``zeros-120ms``, ``room-tone-120ms``.
        tail: Policy after the last clip; 160 ms are two frames of a 12.5 Hz codec, so that what bleeds out of the last
            frame is silence.
        threshold: Lowest score of a chosen pair; None takes the calibration's, or the encoder's own.
        calibration: File of `refprep calibrate`; relative to the file of the settings. Empty takes the one that came
            with refprep for the encoder, if there is one.
        min_clip_s: Shorter clips are refused: their embeddings are noise.
        require_consent: Refuse clips for which nobody wrote down that the speaker agrees.
        backend: The voice is for: ``qwen3-tts`` or ``moss-tts``; empty for any. Where its default mode does not use the words
            of the reference, a text that does not cover its clip is told and refuses nothing.
        cache: Remember what was heard in a clip, by its content.
    """

    min_s: float = 12.0
    max_s: float = 30.0
    target_s: float = 12.0
    nested: tuple[float, ...] = ()
    gap: str = "zeros-120ms"
    tail: str = "zeros-160ms"
    threshold: float | None = None
    calibration: str = ""
    min_clip_s: float = 1.0
    require_consent: bool = False
    backend: str = ""
    cache: bool = True


@dataclass(frozen=True, slots=True)
class Config:
    """All settings.

    Attributes:
        folder: Of the file they come from; empty for none. Paths and globs in them are relative to it.
    """

    models: ModelConfig = field(default_factory=ModelConfig)
    lint: LintConfig = field(default_factory=LintConfig)
    build: BuildConfig = field(default_factory=BuildConfig)
    folder: str = ""


def load_config(start: Path) -> Config:
    """Settings of the nearest ``refprep.toml``, or ``[tool.refprep]`` of the nearest ``pyproject.toml``.

    Args:
        start: Folder to look in first; its parents follow.

    Raises:
        ConfigError: Not TOML, an unknown key, or a value of the wrong type.
    """
    for folder in (start, *start.parents):
        path = folder / CONFIG_NAME
        if path.is_file():
            return dataclasses.replace(parse_config(_read_toml(path), str(path)), folder=str(folder))
        project = folder / "pyproject.toml"
        if project.is_file():
            tools = _read_toml(project).get("tool", {})
            if not isinstance(tools, Mapping):
                raise ConfigError(f"tool is {tools!r}, no table", where=str(project), fix="Mend the file.")
            table = tools.get("refprep")
            if table is not None:
                return dataclasses.replace(
                    parse_config(table, f"{project} [tool.refprep]"), folder=str(folder)
                )
    return Config()


def parse_config(table: Mapping[str, Any], where: str) -> Config:
    """Settings from a TOML table with sections ``models``, ``lint`` and ``build``.

    Raises:
        ConfigError: An unknown section or key, or a value of the wrong type.
    """
    if not isinstance(table, Mapping):
        raise ConfigError(f"{table!r} is no table", where=where, fix="Write sections such as [lint].")
    sections: dict[str, Any] = {}
    known = {"models": ModelConfig, "lint": LintConfig, "build": BuildConfig}
    for name, values in table.items():
        if name not in known or not isinstance(values, Mapping):
            raise ConfigError(
                f"unknown section {name!r}", where=where, fix=f"Known sections: {', '.join(known)}."
            )
        sections[name] = _section(known[name], values, f"{where} {name}")
    return Config(**sections)


def _section(kind: type[Any], values: Mapping[str, Any], where: str) -> Any:  # noqa: ANN401
    fields = {f.name: f for f in dataclasses.fields(kind)}
    ready: dict[str, Any] = {}
    for key, value in values.items():
        name = key.replace("-", "_")
        if name not in fields:
            raise ConfigError(f"unknown key {key!r}", where=where, fix=f"Known keys: {', '.join(fields)}.")
        ready[name] = _value(value, str(fields[name].type), f"{where}.{key}")
    return kind(**ready)


def _value(value: Any, kind: str, where: str) -> Any:  # noqa: ANN401
    if kind.startswith("Mapping"):
        if isinstance(value, Mapping):
            inner = kind.removeprefix("Mapping[str, ").removesuffix("]")
            return {key: _value(v, inner, f"{where}.{key}") for key, v in value.items()}
    elif kind.startswith("tuple[float"):
        if isinstance(value, list) and all(
            isinstance(v, int | float) and not isinstance(v, bool) for v in value
        ):
            return tuple(map(float, value))
    elif kind.startswith("tuple"):
        if isinstance(value, list) and all(isinstance(v, str) for v in value):
            return tuple(value)
        # A table of codes and reasons: the reasons are for people.
        if isinstance(value, Mapping) and all(isinstance(v, str) and v.strip() for v in value.values()):
            return tuple(value)
    elif kind == "bool":
        if isinstance(value, bool):
            return value
    elif kind.startswith("float"):
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    elif kind == "int":
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    elif isinstance(value, str):
        return value
    names = {
        "tuple[float, ...]": "list of numbers",
        "tuple[str, ...]": "list of strings, or table of them with reasons",
    }
    name = names.get(kind, kind)
    raise ConfigError(f"{value!r} is not a {name}", where=where, fix="Correct the value.")


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"not TOML: {error}", where=str(path), fix="Correct the file.") from error
    except OSError as error:
        raise ConfigError(
            f"it cannot be read: {error.strerror}", where=str(path), fix="Check its permissions."
        ) from error
