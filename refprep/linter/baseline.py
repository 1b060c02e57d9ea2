"""Findings that are known: a project starts to lint with what it has, and CI fails on what is new.

A known finding belongs to its pair, by content: it is forgiven for as long as neither the audio nor the text changes,
wherever the file moves.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from refprep.atomic import write_text
from refprep.errors import ConfigError
from refprep.linter.rule import Finding
from refprep.manifest import Utterance
from refprep.types import AudioSource

SCHEMA_VERSION = 1
_FIX = "Write it again with --write-baseline."


class Baseline:
    """Known findings: (pair, code) -> how many.

    Args:
        known: As read from a file; empty to collect.
    """

    def __init__(self, known: Counter[tuple[str, str]] | None = None) -> None:
        self._known: Counter[tuple[str, str]] = known or Counter()
        self._paths: dict[str, str] = {}

    @property
    def digest(self) -> str:
        """Tells one baseline from another."""
        known = sorted((*key, count) for key, count in self._known.items() if count)
        return hashlib.sha256(json.dumps(known).encode()).hexdigest()

    def new_among(
        self, findings: Sequence[Finding], utterance: Utterance, source: AudioSource | None
    ) -> tuple[Finding, ...]:
        """The findings that are not known; of several of one code the first ones are the known ones."""
        pair = pair_key(utterance, source)
        seen: Counter[str] = Counter()
        new: list[Finding] = []
        for finding in findings:
            seen[finding.code] += 1
            if seen[finding.code] > self._known[(pair, finding.code)]:
                new.append(finding)
        return tuple(new)

    def add(self, findings: Sequence[Finding], utterance: Utterance, source: AudioSource | None) -> None:
        """Make findings known."""
        if findings:
            pair = pair_key(utterance, source)
            self._paths[pair] = str(utterance.audio)
            # The same pair in two rows has its findings in each of them: they are the same ones.
            for code, count in Counter(f.code for f in findings).items():
                self._known[(pair, code)] = max(count, self._known[(pair, code)])

    def write(self, path: Path) -> None:
        """Write what was added, atomically.

        Raises:
            MachineError: The disk refused.
        """
        rows = [
            {"path": self._paths.get(pair, ""), "pair_sha256": pair, "code": code, "count": count}
            for (pair, code), count in self._known.items()
            if count
        ]
        rows.sort(key=lambda r: (str(r["path"]), str(r["code"]), str(r["pair_sha256"])))
        document = {"schema_version": SCHEMA_VERSION, "findings": rows}
        text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
        write_text(path, text.encode("utf-8", "backslashreplace").decode("utf-8"))


def read_baseline(path: Path) -> Baseline:
    """Read a baseline.

    Raises:
        ConfigError: There is none, or it is not one.
    """
    try:
        document: Any = json.loads(path.read_text(encoding="utf-8"))
        if document["schema_version"] != SCHEMA_VERSION:
            raise ConfigError(
                f"it has version {document['schema_version']!r}, this refprep reads {SCHEMA_VERSION}",
                where=str(path),
                fix=_FIX,
            )
        return Baseline(
            Counter({(str(r["pair_sha256"]), str(r["code"])): int(r["count"]) for r in document["findings"]})
        )
    except OSError as error:
        raise ConfigError(f"it cannot be read: {error.strerror}", where=str(path), fix=_FIX) from error
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise ConfigError("it is no baseline of refprep", where=str(path), fix=_FIX) from error


def pair_key(utterance: Utterance, source: AudioSource | None) -> str:
    """SHA-256 of a pair: its audio and its text. Audio that does not decode goes by its path."""
    audio = source.file_sha256 if source is not None else f"path:{utterance.audio.as_posix()}"
    text = "" if utterance.text is None else f"text:{utterance.text}"
    return hashlib.sha256(f"{audio}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()
