"""Paths -> utterances: audio files with a sidecar, folders, manifests, built voices, data sets of the hub."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from refprep.environment import cache_root
from refprep.errors import ManifestError, UsageError
from refprep.manifest.dataset import hub_name, read_hub
from refprep.manifest.folder import read_folder
from refprep.manifest.manifests import MANIFEST_SUFFIXES, read_manifest
from refprep.manifest.row import AUDIO_SUFFIXES
from refprep.manifest.sidecar import TEXT_SUFFIXES, with_sidecar
from refprep.manifest.utterance import Utterance


def read_utterances(
    paths: Sequence[Path], *, text: str | None = None, language: str = "", clips: Path | None = None
) -> list[Utterance]:
    """Collect the utterances that the paths name, in order.

    Args:
        paths: Audio files or their sidecars, folders, manifests, built voices; ``hf:NAME[:SPLIT]`` for a data set of
            the Hugging Face hub.
        text: The text of the one audio file given; sidecars are not looked at then.
        language: For utterances whose manifest does not state one.
        clips: Folder for audio that rows of a data set carry inside; by default one below refprep's cache.

    Raises:
        UsageError: ``text`` with anything but one audio file, a path that is not there, or a library that is missing.
        ManifestError: A manifest row that cannot be read.
        TextInputError: A sidecar that is not UTF-8.
        BackendError: The hub does not deliver a data set.
        MachineError: The disk refused audio that a row carries inside.
    """
    if text is not None and (len(paths) != 1 or _is_many(paths[0])):
        raise UsageError(
            "--text goes with exactly one audio file",
            where="--text",
            fix="Put the texts of several files into sidecars or a manifest.",
        )
    clips = clips if clips is not None else cache_root() / "clips"
    found: list[Utterance] = []
    for path in _audio_of_texts(paths) if text is None else paths:
        if text is not None:
            _require(path)
            found.append(Utterance(path, text=text, source="--text"))
        else:
            found += _read_path(path, clips)
    if paths and not found:
        raise ManifestError(
            "it names no audio",
            where=", ".join(map(str, paths)),
            fix="Point at files, folders or manifests with rows.",
        )
    if language:
        found = [
            u if u.language else Utterance(u.audio, u.text, language, u.speaker, u.source, u.extra)
            for u in found
        ]
    return found


def _is_many(path: Path) -> bool:
    return os.path.isdir(path) or path.suffix.lower() in MANIFEST_SUFFIXES or hub_name(path) is not None


def _audio_of_texts(paths: Sequence[Path]) -> Iterator[Path]:
    """The paths, a sidecar replaced by its audio; who names both files of a pair, as hooks do, means it once.

    Raises:
        UsageError: No audio beside a text, or no such text.
    """
    named = set(paths)
    for path in paths:
        if path.suffix.lower() not in TEXT_SUFFIXES or os.path.isdir(path) or hub_name(path) is not None:
            yield path
            continue
        _require(path)
        suffixes = (s for known in sorted(AUDIO_SUFFIXES) for s in (known, known.upper()))
        beside = [audio for s in suffixes if (audio := path.with_suffix(s)).is_file()]
        if not beside:
            raise UsageError(
                "no audio beside this text",
                where=str(path),
                fix="Name the audio; a text is checked where it lies beside audio of the same name.",
            )
        yield from (audio for audio in beside if audio not in named)
        named.update(beside)


def _read_path(path: Path, clips: Path) -> Iterator[Utterance]:
    name = hub_name(path)
    if name is not None:
        yield from read_hub(name, clips=clips)
        return
    _require(path)
    if path.is_dir():
        yield from read_folder(path, clips=clips)
    elif path.suffix.lower() in MANIFEST_SUFFIXES:
        yield from read_manifest(path, clips=clips)
    else:
        yield with_sidecar(path)


def _require(path: Path) -> None:
    if not os.path.lexists(path):
        raise UsageError("there is no such file or folder", where=str(path), fix="Check the path.")
