"""`refprep cache`: codes that were made once: what there is, whether it is whole, and what may go."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refprep.cli.console import out, table
from refprep.cli.options import Format, FormatOption

if TYPE_CHECKING:
    from refprep.pipeline.code_cache import CachedFile, CodeCache

SCHEMA_VERSION = 1
_DAY_S = 86_400.0

app = typer.Typer(help="Show, verify and clean the cache of codes.", no_args_is_help=True)


@app.command("ls")
def list_entries(format: FormatOption = Format.TEXT) -> None:  # noqa: A002  # the option's name
    """List every entry: which reference, which encoder, when it was last used."""
    cache = _cache()
    files = list(cache.files())
    if format is not Format.TEXT:
        _print_rows([_row(f) for f in files], format)
        return
    rows = [_cells(f) for f in files]
    if rows:
        table("", ["entry", "audio", "encoder", "device", "frames", "embedding", "size", "last used"], rows)
    total = sum(f.size_bytes for f in files)
    out(f"{_count(len(files), 'entry', 'entries')}, {total / 1e6:.2f} MB in {cache.folder}")


@app.command("verify")
def verify(format: FormatOption = Format.TEXT) -> None:  # noqa: A002  # the option's name
    """Read every entry and hold it against its hashes; exit 1 when one is damaged."""
    cache = _cache()
    files = list(cache.files())
    damaged = [f for f in files if f.entry is None]
    if format is not Format.TEXT:
        _print_rows([_row(f) for f in files], format)
    else:
        for file in damaged:
            out(f"{file.path}: {file.fault}")
        if damaged:
            out(
                "  help: `refprep cache gc` removes them; the references are encoded again when they are needed"
            )
        out(f"{_count(len(files), 'entry', 'entries')}, {len(damaged)} damaged")
    if damaged:
        raise typer.Exit(1)


@app.command("gc")
def gc(
    older_than: Annotated[
        float | None,
        typer.Option("--older-than", min=0.0, metavar="DAYS", help="Also what nobody used for so long."),
    ] = None,
    max_size: Annotated[
        float | None,
        typer.Option(
            "--max-size", min=0.0, metavar="MB", help="Also the oldest, until the rest is no larger."
        ),
    ] = None,
    keep: Annotated[
        list[Path] | None,
        typer.Option(
            "--keep",
            metavar="VOICE",
            help="Also what is of none of these voices (or voices in these folders).",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go; remove nothing.")] = False,
    format: FormatOption = Format.TEXT,  # noqa: A002  # the option's name
) -> None:
    """Remove damaged entries, what killed processes left, and what the options say. Copies in voices stay."""
    removals = _cache().gc(
        unused_s=None if older_than is None else older_than * _DAY_S,
        max_bytes=None if max_size is None else round(max_size * 1e6),
        keep_audio=_audio_of(keep) if keep else None,
        dry_run=dry_run,
    )
    if format is not Format.TEXT:
        _print_rows(
            [
                {"path": str(r.path), "size_bytes": r.size_bytes, "why": r.why, "removed": not dry_run}
                for r in removals
            ],
            format,
        )
        return
    for removal in removals:
        out(f"{removal.path}: {removal.why}")
    total = sum(r.size_bytes for r in removals)
    verb = "would be removed" if dry_run else "removed"
    out(f"{_count(len(removals), 'file', 'files')}, {total / 1e6:.2f} MB {verb}")


def _cache() -> CodeCache:
    from refprep.pipeline.code_cache import CodeCache

    return CodeCache.default()


def _audio_of(folders: list[Path]) -> set[str]:
    """PCM hashes of the references of voices, or of every voice right below a folder."""
    from refprep.errors import UsageError
    from refprep.voice.names import VOICE_NAME
    from refprep.voice.read import load_voice

    found: set[str] = set()
    for folder in folders:
        inside = sorted(p.parent for p in folder.glob(f"*/{VOICE_NAME}"))
        voices = inside if inside and not (folder / VOICE_NAME).is_file() else [folder]
        found |= {str(load_voice(v).document["audio"]["pcm_sha256"]) for v in voices}
    if not found:
        raise UsageError("no voices", where="--keep", fix="Name a voice, or a folder of voices.")
    return found


def _cells(file: CachedFile) -> list[str]:
    size, used = f"{file.size_bytes / 1e3:.1f} kB", _ago(time.time() - file.used_s)
    if file.entry is None:
        return [file.path.stem[:12], "-", f"damaged: {file.fault}", "-", "-", "-", size, used]
    entry, key = file.entry, file.entry.key
    weights = "+".join(w[:8] for w in (key.codec_weights_sha256, key.speaker_weights_sha256) if w)
    encoder = f"{key.codec} {weights} {key.encoder_dtype}"
    return [
        key.digest[:12],
        key.audio_sha256[:12],
        encoder,
        key.device,
        str(entry.num_frames),
        "-" if entry.embedding_size is None else str(entry.embedding_size),
        size,
        used,
    ]


def _row(file: CachedFile) -> dict[str, Any]:
    from dataclasses import asdict

    entry = file.entry
    return {
        "path": str(file.path),
        "size_bytes": file.size_bytes,
        "used_unix_s": round(file.used_s, 3),
        "whole": entry is not None,
        "fault": file.fault,
        "frames": entry.num_frames if entry else None,
        "embedding": entry.embedding_size if entry else None,
        "created_by": entry.created_by if entry else None,
        "key": asdict(entry.key) if entry else None,
    }


def _print_rows(rows: list[dict[str, Any]], form: Format) -> None:
    if form is Format.JSON:
        out(json.dumps({"schema_version": SCHEMA_VERSION, "entries": rows}, ensure_ascii=False, indent=2))
        return
    for row in rows:
        out(json.dumps({"schema_version": SCHEMA_VERSION, **row}, ensure_ascii=False))


def _ago(seconds: float) -> str:
    if seconds < 3600:
        return "this hour"
    return f"{seconds / 3600:.0f} h ago" if seconds < 2 * _DAY_S else f"{seconds / _DAY_S:.0f} days ago"


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
