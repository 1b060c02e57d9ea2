"""Voice, engine -> the engine's folder: whole, or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from refprep import __version__
from refprep.atomic import replace_folder
from refprep.errors import IntegrityError, UsageError
from refprep.export.exporter import AudioFile, Excerpt, Exporter, Layout, Sidecars, json_text
from refprep.export.plan import Plan, VoiceShape, plan_clips, plan_joined
from refprep.export.registry import find_exporter
from refprep.export.source import Source, read_source
from refprep.pipeline.decode import decode_file
from refprep.pipeline.wav import write_wav
from refprep.text.words import join_texts
from refprep.types import Samples
from refprep.voice.names import sha256_of_file

SCHEMA_VERSION = 1
EXPORT_NAME = "export.json"


@dataclass(frozen=True, slots=True, eq=False)
class Export:
    """A written export.

    Attributes:
        folder: Where it is.
        document: export.json.
        notes: What of the voice could not be verified.
    """

    folder: Path
    document: Mapping[str, Any]
    notes: tuple[str, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the engine ignores or limits, and what was left out."""
        return tuple(self.document["warnings"])


def export_voice(voice: Path, engine: str, output: Path) -> Export:
    """Write a voice as an engine takes it.

    The voice is verified first. Where the engine takes less than all of it, the fullest set of whole clips goes, with
    the text of exactly these. Every written file is read back and its samples are held against the voice's.

    Args:
        voice: A folder that ``refprep build`` wrote.
        engine: Name of an exporter.
        output: Folder to write; an earlier export there is replaced in one instant, or stays if anything fails.

    Raises:
        ManifestError: No voice there.
        UsageError: No such engine, or the folder is something else than an earlier export, or inside the voice.
        NoReferenceError: The voice is not what was built, or the engine takes no set of its clips.
        IntegrityError: The written samples are not the voice's.
        MachineError: The disk refused.
    """
    exporter = find_exporter(engine)
    # A link is followed: it is the folder behind it that gets replaced.
    folder = Path(os.path.realpath(output))
    require_replaceable(folder)
    source = read_source(voice)
    if folder.is_relative_to(voice.resolve()):
        raise UsageError(
            "it lies inside the voice, and the next build would replace it",
            where=str(output),
            fix="Choose a folder beside the voice.",
        )
    plan = _plan(source, exporter)
    with replace_folder(folder) as fresh:
        excerpt = _write_audio(source, exporter, plan, fresh)
        sidecars = exporter.describe(excerpt)
        for name, text in sidecars.texts.items():
            path = fresh / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        document = _document(exporter, plan, excerpt, sidecars, fresh)
        (fresh / EXPORT_NAME).write_text(json_text(document), encoding="utf-8", newline="\n")
    return Export(output, document, source.notes)


def require_replaceable(folder: Path) -> None:
    """Refuse to put an export where something else is.

    Raises:
        UsageError: It exists, and is no empty folder and no export with nothing but its own files in it.
    """
    if not os.path.lexists(folder):
        return
    if not folder.is_dir():
        what = "it exists and is no folder"
    elif not any(folder.iterdir()):
        return
    else:
        listed = _listed_files(folder)
        if listed is None:
            what = "it exists and is no earlier export"
        else:
            paths = (p for p in folder.rglob("*") if p.is_symlink() or not p.is_dir())
            found = {p.relative_to(folder).as_posix() for p in paths}
            foreign = sorted(found - listed)
            if not foreign:
                return
            what = f"it holds more than an earlier export: {foreign[0]}"
    raise UsageError(what, where=str(folder), fix="Choose another folder; nothing was overwritten.")


def _listed_files(folder: Path) -> set[str] | None:
    """The files of an earlier export; None where there is none."""
    try:
        document = json.loads((folder / EXPORT_NAME).read_text(encoding="utf-8"))
        return {EXPORT_NAME, *(str(row["file"]) for row in document["files"])}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _plan(source: Source, exporter: Exporter) -> Plan:
    reference = source.reference
    shape = VoiceShape(
        tuple(c.end_sample - c.start_sample for c in reference.clips),
        tuple(len(silence) for silence in source.silences),
        reference.sample_rate_hz,
    )
    if exporter.layout is Layout.CLIPS:
        return plan_clips(shape, exporter.profile)
    return plan_joined(shape, exporter.profile, where=str(source.folder))


def _write_audio(source: Source, exporter: Exporter, plan: Plan, fresh: Path) -> Excerpt:
    reference = source.reference
    groups = [plan.clips] if exporter.layout is Layout.JOINED else [(i,) for i in plan.clips]
    files = []
    for number, clips in enumerate(groups, start=1):
        name = exporter.audio_name.format(voice=source.name, number=number)
        path = fresh / name
        path.parent.mkdir(parents=True, exist_ok=True)
        samples = source.joined(clips) if exporter.layout is Layout.JOINED else source.clip_samples(clips[0])
        write_wav(path, samples, reference.sample_rate_hz, reference.sample_format)
        _prove(path, samples, reference.sample_rate_hz)
        text = join_texts([reference.clips[i].text for i in clips])
        files.append(AudioFile(name, path, text, clips, int(samples.shape[0])))
    return Excerpt(source, tuple(files), join_texts([reference.clips[i].text for i in plan.clips]))


def _prove(path: Path, samples: Samples, sample_rate_hz: int) -> None:
    written = decode_file(path)
    if written.sample_rate_hz != sample_rate_hz or written.samples.tobytes() != samples.tobytes():
        raise IntegrityError(
            "the written samples are not the voice's",
            where=path.name,
            fix="Report this: nothing was exported.",
        )


def _document(
    exporter: Exporter, plan: Plan, excerpt: Excerpt, sidecars: Sidecars, fresh: Path
) -> dict[str, Any]:
    source = excerpt.source
    reference, document = source.reference, source.document
    names = sorted([*(f.name for f in excerpt.files), *sidecars.texts])
    chosen = set(plan.clips)
    return {
        "schema_version": SCHEMA_VERSION,
        "refprep_version": __version__,
        "engine": exporter.name,
        "use": sidecars.use,
        "voice": {
            "name": source.name,
            "file_sha256": source.voice_sha256,
            "audio_file_sha256": document["audio"]["file_sha256"],
            "pcm_sha256": document["audio"]["pcm_sha256"],
            "text_file_sha256": document["text_file"]["file_sha256"],
        },
        "speaker_id": str(document.get("speaker_id", "")),
        "language": reference.language,
        "consent": list(source.stated("consent", plan.clips)),
        "licence": list(source.stated("licence", plan.clips)),
        "text": excerpt.text,
        "is_cut": len(plan.clips) < len(reference.clips),
        "sample_rate_hz": reference.sample_rate_hz,
        "sample_format": reference.sample_format.value,
        "gap_policy": reference.gap_policy,
        "tail_policy": reference.tail_policy,
        "clips": [row for file in excerpt.files for row in _clip_rows(source, file)],
        "left_out": [
            {"path": clip.path, "text": clip.text}
            for i, clip in enumerate(reference.clips)
            if i not in chosen
        ],
        "files": [
            {"file": n, "file_sha256": sha256_of_file(fresh / n), "num_bytes": (fresh / n).stat().st_size}
            for n in names
        ],
        "warnings": [*source.warnings, *plan.warnings, *sidecars.warnings],
    }


def _clip_rows(source: Source, file: AudioFile) -> list[dict[str, Any]]:
    """Where each clip lies: ``file[start_sample:end_sample]`` are ``reference.wav[voice_start_sample:...]``."""
    rows, position = [], 0
    for index in file.clips:
        clip = source.reference.clips[index]
        end = position + clip.end_sample - clip.start_sample
        row: dict[str, Any] = {
            "path": clip.path,
            "text": clip.text,
            "pcm_sha256": clip.clip_id,
            "file": file.name,
            "start_sample": position,
            "end_sample": end,
            "voice_start_sample": clip.start_sample,
            "voice_end_sample": clip.end_sample,
        }
        if source.provenance(index):
            row["provenance"] = dict(source.provenance(index))
        rows.append(row)
        position = end + len(source.silences[index])
    return rows
