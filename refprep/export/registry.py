"""Every exporter, by the name that ``--to`` takes."""

from __future__ import annotations

from refprep.errors import UsageError
from refprep.export.engines import audio_only, clip_files, datasets, in_context, servers
from refprep.export.exporter import Exporter

EXPORTERS: dict[str, Exporter] = {
    exporter.name: exporter
    for family in (in_context, audio_only, clip_files, servers, datasets)
    for exporter in family.EXPORTERS
}


def find_exporter(name: str) -> Exporter:
    """An exporter by name, in any case.

    Raises:
        UsageError: No such exporter.
    """
    exporter = EXPORTERS.get(name.strip().lower())
    if exporter is None:
        raise UsageError(f"{name!r} is no engine", where="--to", fix=f"Known ones: {', '.join(EXPORTERS)}.")
    return exporter


def exporter_row(exporter: Exporter) -> dict[str, str]:
    """What an engine takes, for a table: its name, the files, the audio it takes, what it does with the text."""
    return {
        "engine": exporter.name,
        "files": exporter.takes,
        "audio": _audio(exporter),
        "text": exporter.profile.text.value,
    }


def _audio(exporter: Exporter) -> str:
    profile, words = exporter.profile, []
    if profile.min_s is not None:
        words.append(f"{profile.min_s:g} s or more")
    if profile.longer_than_s is not None:
        words.append(f"more than {profile.longer_than_s:g} s")
    if profile.max_s is not None:
        words.append(f"at most {profile.max_s:g} s")
    if profile.max_with_text_s is not None:
        words.append(f"at most {profile.max_with_text_s:g} s with a text")
    if profile.kept_s is not None:
        words.append(f"the first {profile.kept_s:g} s are used")
    words += [f"{what}: the first {part_s:g} s" for what, part_s in profile.parts]
    if profile.advised_s is not None:
        words.append(f"{profile.advised_s[0]:g} to {profile.advised_s[1]:g} s are advised")
    if profile.min_rate_hz is not None:
        words.append(f"{profile.min_rate_hz} Hz or more")
    return ", ".join(words) or "any"
