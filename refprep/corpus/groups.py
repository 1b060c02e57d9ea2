"""Rows -> one group for each speaker, and a folder name for each."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence

from refprep.errors import ManifestError, UsageError
from refprep.manifest import Utterance

_UNSAFE = re.compile(r"[^\w.-]+")
_LONGEST = 80
_RESERVED = frozenset({"", ".", "..", "ledger.jsonl", "summary.csv", "speakers.csv"})


def group_rows(utterances: Sequence[Utterance], key: str) -> dict[str, list[Utterance]]:
    """Rows by a column, in the order of their first row.

    Args:
        utterances: Of a manifest.
        key: ``speaker``, ``language``, ``folder`` (of the audio file: one folder a speaker), or a further column.

    Raises:
        UsageError: No row has such a column.
        ManifestError: A row does not say.
    """
    groups: dict[str, list[Utterance]] = {}
    missing: Utterance | None = None
    for utterance in utterances:
        value = _value(utterance, key)
        if value:
            groups.setdefault(value, []).append(utterance)
        else:
            missing = missing or utterance
    if not groups:
        raise UsageError(f"no row has a {key!r}", where="--group-by", fix="Name a column of the manifest.")
    if missing is not None:
        raise ManifestError(
            f"the row has no {key!r}",
            where=missing.source or str(missing.audio),
            fix="Fill the cell, or leave the row out: a clip of nobody goes into no voice.",
        )
    return groups


def _value(utterance: Utterance, key: str) -> str:
    if key == "speaker":
        return utterance.speaker
    if key == "language":
        return utterance.language
    if key == "folder":
        return utterance.audio.parent.name
    value = utterance.extra.get(key)
    return "" if value is None else str(value).strip()


def folder_names(speakers: Iterable[str]) -> dict[str, str]:
    """A folder name for every speaker: readable, safe on every file system, and no two alike, upper case or lower.

    ``vctk/en/f/p225`` becomes ``vctk_en_f_p225``; where two ids give one name, all but the first get a hash.
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for speaker in speakers:
        plain = _UNSAFE.sub("_", unicodedata.normalize("NFC", speaker)).strip("._-")[:_LONGEST]
        name = plain
        if name.casefold() in taken or name in _RESERVED:
            digest = hashlib.sha256(speaker.encode("utf-8", "surrogatepass")).hexdigest()[:8]
            name = f"{plain}_{digest}" if plain else digest
        taken.add(name.casefold())
        names[speaker] = name
    return names
