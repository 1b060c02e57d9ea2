"""What a user points at, as utterances: audio with its text, language and speaker.

Reads single audio files with a sidecar (``a.wav`` beside ``a.txt`` or ``a.lab``), folders, JSONL (NeMo's keys too),
CSV and TSV with a header, LJSpeech ``metadata.csv``, GPT-SoVITS ``.list``, and built voices. Paths inside a manifest
are relative to its folder.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from refprep.errors import ManifestError, TextInputError, UsageError

AUDIO_SUFFIXES = frozenset(
    ".wav .wave .flac .ogg .oga .opus .mp3 .m4a .m4b .aac .mp4 .mov .mkv .webm .avi .wma .aif .aiff .caf .w64 .rf64 .amr .3gp".split()
)
TEXT_SUFFIXES = (".txt", ".lab")
MANIFEST_SUFFIXES = frozenset({".jsonl", ".ndjson", ".csv", ".tsv", ".list"})

_AUDIO_KEYS = tuple("audio path audio_filepath audio_path file_name file wav wav_path filename".split())
_TEXT_KEYS = ("text", "ref_text", "transcript", "transcription", "normalized_text", "sentence")
_LANGUAGE_KEYS = ("language", "lang", "locale")
_SPEAKER_KEYS = ("speaker", "speaker_id", "spk", "client_id")
_KNOWN_KEYS = frozenset((*_AUDIO_KEYS, *_TEXT_KEYS, *_LANGUAGE_KEYS, *_SPEAKER_KEYS))
_GPT_SOVITS_LANGUAGES = {"jp": "ja", "cn": "zh", "kr": "ko"}
_MAX_TEXT_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Utterance:
    """One audio file and what is known of it.

    Attributes:
        audio: Path of the file.
        text: What it is said to say; None when nobody wrote it down.
        language: BCP 47; empty when not stated.
        speaker: Speaker id; empty when not stated.
        source: Where the text comes from, for messages: a sidecar, or ``manifest.jsonl:12``.
        extra: The manifest row's other fields, such as ``licence`` and ``consent``.
    """

    audio: Path
    text: str | None = None
    language: str = ""
    speaker: str = ""
    source: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def consent(self) -> str:
        """What the row says of the speaker's consent; empty where it says nothing."""
        said = self.extra.get("consent")
        if isinstance(said, bool):
            return "yes" if said else "no"
        return str(said).strip() if said is not None else ""


def read_utterances(paths: Sequence[Path], *, text: str | None = None, language: str = "") -> list[Utterance]:
    """Collect the utterances that the paths name, in order.

    Args:
        paths: Audio files or their sidecars, folders, manifests, built voices.
        text: The text of the one audio file given; sidecars are not looked at then.
        language: For utterances whose manifest does not state one.

    Raises:
        UsageError: ``text`` with anything but one audio file, or a path that is not there.
        ManifestError: A manifest row that cannot be read.
        TextInputError: A sidecar that is not UTF-8.
    """
    if text is not None and (
        len(paths) != 1 or os.path.isdir(paths[0]) or paths[0].suffix.lower() in MANIFEST_SUFFIXES
    ):
        raise UsageError(
            "--text goes with exactly one audio file",
            where="--text",
            fix="Put the texts of several files into sidecars or a manifest.",
        )
    found: list[Utterance] = []
    for path in _audio_of_texts(paths) if text is None else paths:
        if text is not None:
            _require(path)
            found.append(Utterance(path, text=text, source="--text"))
        else:
            found += _read_path(path)
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


def _audio_of_texts(paths: Sequence[Path]) -> Iterator[Path]:
    """The paths, a sidecar replaced by its audio; who names both files of a pair, as hooks do, means it once.

    Raises:
        UsageError: No audio beside a text, or no such text.
    """
    named = set(paths)
    for path in paths:
        if path.suffix.lower() not in TEXT_SUFFIXES or os.path.isdir(path):
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


def _read_path(path: Path) -> Iterator[Utterance]:
    _require(path)
    if path.is_dir():
        yield from _read_folder(path)
    elif path.suffix.lower() in (".jsonl", ".ndjson"):
        yield from _read_jsonl(path)
    elif path.suffix.lower() == ".list":
        yield from _read_list(path)
    elif path.name.lower() == "metadata.csv" and not _has_header(path):
        yield from _read_ljspeech(path)
    elif path.suffix.lower() in (".csv", ".tsv"):
        yield from _read_csv(path)
    else:
        yield _with_sidecar(path)


def _require(path: Path) -> None:
    if not os.path.lexists(path):
        raise UsageError("there is no such file or folder", where=str(path), fix="Check the path.")


def _read_folder(folder: Path) -> Iterator[Utterance]:
    if (folder / "voice.json").is_file():
        yield _read_voice(folder)
        return
    if (folder / "metadata.csv").is_file():
        yield from _read_path(folder / "metadata.csv")
        return
    found = sorted(
        p
        for p in folder.rglob("*")
        # Hidden folders too: a running build works in one.
        if p.suffix.lower() in AUDIO_SUFFIXES
        and not any(n.startswith(".") for n in p.relative_to(folder).parts)
    )
    if not found:
        raise UsageError(
            "no audio files in this folder",
            where=str(folder),
            fix="Point at a folder with audio, or at a manifest.",
        )
    known = _rows_beside(folder)
    voices: set[Path] = set()
    for path in found:
        if (path.parent / "voice.json").is_file():
            if path.parent not in voices:
                voices.add(path.parent)
                yield _read_voice(path.parent)
        else:
            yield _enriched(_with_sidecar(path), known.get(path))


def _rows_beside(folder: Path) -> dict[Path, Utterance]:
    """Rows of the manifest that `refprep split` leaves in its folder, by audio file."""
    manifest = folder / "utterances.jsonl"
    return {u.audio: u for u in _read_jsonl(manifest)} if manifest.is_file() else {}


def _enriched(own: Utterance, row: Utterance | None) -> Utterance:
    """An utterance with the language, speaker and provenance of its manifest row; a sidecar's text wins."""
    if row is None:
        return own
    text, source = (own.text, own.source) if own.text is not None else (row.text, row.source)
    return Utterance(own.audio, text, row.language, row.speaker, source, row.extra)


def _read_voice(folder: Path) -> Utterance:
    try:
        voice = json.loads((folder / "voice.json").read_text(encoding="utf-8"))
        language, speaker = str(voice.get("language", "")), str(voice.get("speaker_id", ""))
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise ManifestError(
            f"it cannot be read: {error}", where=str(folder / "voice.json"), fix="Build the voice again."
        ) from error
    text = read_text_file(folder / "reference.txt")
    return Utterance(folder / "reference.wav", text, language, speaker, source=str(folder / "reference.txt"))


def _with_sidecar(audio: Path) -> Utterance:
    for suffix in TEXT_SUFFIXES:
        sidecar = audio.with_suffix(suffix)
        if sidecar.is_file():
            return Utterance(audio, read_text_file(sidecar), source=str(sidecar))
    return Utterance(audio)


def read_text_file(path: Path) -> str:
    """Text of a small UTF-8 file, a byte order mark allowed, white space stripped.

    Raises:
        TextInputError: Not UTF-8, larger than 1 MiB, or unreadable.
    """
    try:
        if path.stat().st_size > _MAX_TEXT_BYTES:
            raise TextInputError(
                "a text of more than 1 MiB is no transcript of a clip",
                where=str(path),
                fix="Give the clip its own text only.",
            )
        return path.read_text(encoding="utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise TextInputError(
            f"not UTF-8 (byte {error.start})", where=str(path), fix="Save the text as UTF-8."
        ) from error
    except OSError as error:
        raise TextInputError(
            f"it cannot be read: {error.strerror}", where=str(path), fix="Check the file and its permissions."
        ) from error


def _lines(path: Path) -> list[str]:
    """Lines by line feeds alone: JSON strings may hold U+2028 and other marks that str.splitlines cuts at."""
    return [line.removesuffix("\r") for line in _content(path).split("\n")]


def _content(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ManifestError(
            f"not UTF-8 (byte {error.start})", where=str(path), fix="Save the manifest as UTF-8."
        ) from error
    except OSError as error:
        raise ManifestError(
            f"it cannot be read: {error.strerror}", where=str(path), fix="Check the file and its permissions."
        ) from error


def _read_jsonl(path: Path) -> Iterator[Utterance]:
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ManifestError(
                f"not JSON: {error}", where=where, fix="Write one JSON object a line."
            ) from error
        if not isinstance(row, dict):
            raise ManifestError(
                "the row is no JSON object",
                where=where,
                fix='Write rows such as {"audio": "a.wav", "text": "..."}.',
            )
        yield _from_row(path, where, row)


def _has_header(path: Path) -> bool:
    first = next((line for line in _lines(path) if line.strip()), "")
    cells = {
        cell.strip().lower()
        for cell in first.replace("|", ",").replace("\t", ",").replace(";", ",").split(",")
    }
    return bool(cells & set(_AUDIO_KEYS))


def _read_csv(path: Path) -> Iterator[Utterance]:
    content = _content(path)
    if not content.strip():
        raise ManifestError(
            "the file is empty", where=str(path), fix="Give it a header row such as path,text."
        )
    delimiter = max(",\t|;", key=content.split("\n", 1)[0].count)
    # newline="": the csv module itself joins a quoted cell that runs over several lines.
    # strict: a quote that nobody closes would swallow the rows behind it.
    reader = csv.DictReader(io.StringIO(content, newline=""), delimiter=delimiter, strict=True)
    first = 1
    try:
        first = reader.line_num + 1 if reader.fieldnames else 1
        for row in reader:
            where = f"{path}:{reader.line_num}"
            if None in row:
                raise ManifestError(
                    "the row has more cells than the header",
                    where=where,
                    fix=f"Quote cells that contain {delimiter!r}.",
                )
            # An empty cell says that nobody knows, not that nobody speaks.
            yield _from_row(path, where, {_column(k): v for k, v in row.items() if v and v.strip()})
            first = reader.line_num + 1
    except csv.Error as error:
        raise ManifestError(
            f"not CSV: {error}",
            where=f"{path}:{first}",
            fix='Close every quote; inside a quoted cell write "" for one.',
        ) from error


def _column(name: str) -> str:
    """A header cell; the names refprep knows are found in any case."""
    plain = name.strip()
    return plain.lower() if plain.lower() in _KNOWN_KEYS else plain


def _read_ljspeech(path: Path) -> Iterator[Utterance]:
    folder = path.parent / "wavs" if (path.parent / "wavs").is_dir() else path.parent
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        cells = line.split("|")
        if len(cells) < 2 or not cells[0].strip():
            raise ManifestError(
                "expected id|text or id|text|normalised text",
                where=f"{path}:{number}",
                fix="Write LJSpeech rows, or give the file a header row.",
            )
        name = cells[0].strip()
        file = name if Path(name).suffix.lower() in AUDIO_SUFFIXES else f"{name}.wav"
        where = f"{path}:{number}"
        yield Utterance(_audio_path(folder, file, where), cells[-1].strip() or cells[1].strip(), source=where)


def _read_list(path: Path) -> Iterator[Utterance]:
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        cells = line.split("|", 3)
        if len(cells) != 4:
            raise ManifestError(
                "expected wav|speaker|language|text", where=f"{path}:{number}", fix="Write GPT-SoVITS rows."
            )
        audio, speaker, language, text = (c.strip() for c in cells)
        code, where = language.lower(), f"{path}:{number}"
        yield Utterance(
            _audio_path(path.parent, audio, where),
            text,
            _GPT_SOVITS_LANGUAGES.get(code, code),
            speaker,
            where,
        )


def _from_row(manifest: Path, where: str, row: Mapping[str, Any]) -> Utterance:
    audio = _cell(row, _AUDIO_KEYS, where)
    if audio is None or not audio.strip():
        raise ManifestError(
            f"no audio column (one of {', '.join(_AUDIO_KEYS[:5])}, ...)",
            where=where,
            fix='Write rows such as {"audio": "a.wav", "text": "..."}.',
        )
    return Utterance(
        audio=_audio_path(manifest.parent, audio, where),
        text=_cell(row, _TEXT_KEYS, where),
        language=(_cell(row, _LANGUAGE_KEYS, where) or "").strip(),
        speaker=(_cell(row, _SPEAKER_KEYS, where) or "").strip(),
        source=where,
        extra={k: v for k, v in row.items() if k not in _KNOWN_KEYS},
    )


def _audio_path(folder: Path, name: str, where: str) -> Path:
    """A manifest's path, relative to its folder.

    Raises:
        ManifestError: Empty, or with a NUL character.
    """
    if not name.strip() or "\0" in name:
        what = "the path holds a NUL character" if "\0" in name else "the path is empty"
        raise ManifestError(what, where=where, fix="Write the path of an audio file.")
    return folder / name.strip()


def _cell(row: Mapping[str, Any], names: Sequence[str], where: str) -> str | None:
    """The first cell of these names that says something; a number is taken as written.

    Raises:
        ManifestError: It is a list or an object.
    """
    for name in names:
        value = row.get(name)
        if isinstance(value, list | Mapping):
            kind = "a list" if isinstance(value, list) else "an object"
            raise ManifestError(f"{name} is {kind}", where=where, fix="Write a string.")
        if value is not None:
            return value if isinstance(value, str) else str(value)
    return None
