"""A checkpoint's folder -> the backend that runs it, by the keys of its config.json."""

from __future__ import annotations

from pathlib import Path

from refprep.backends.moss_tts import MossBackend
from refprep.backends.qwen3_tts import Qwen3Backend
from refprep.engine.json_config import read_json
from refprep.errors import BackendError, UsageError
from refprep.moss.config import is_moss

_FIX = (
    "refprep runs Qwen3-TTS (12 Hz) and MOSS-TTS (Delay 8B, Local v1.5) with code of its own; it never runs a "
    "checkpoint's. `refprep export` writes the voice for other engines."
)


def open_backend(
    folder: Path, *, codec: Path | None = None, loudness: str | None = None
) -> Qwen3Backend | MossBackend:
    """Open a checkpoint; no weights are read.

    Args:
        folder: Of the checkpoint.
        codec: Folder of the codec, where that is another one (MOSS-TTS).
        loudness: What happens to the level of a reference (MOSS-TTS): ``as-is`` or ``published``.

    Raises:
        WeightsMissing: No config.json there.
        BackendError: A model that no backend runs, or one that only its own remote code does.
        UsageError: A codec or a loudness for a model that has no such choice.
    """
    path = folder / "config.json"
    values = read_json(path)
    if values.get("model_type") == "qwen3_tts":
        for given, option in ((codec, "--codec"), (loudness, "--loudness")):
            if given is not None:
                raise UsageError(
                    "Qwen3-TTS carries its codec, and takes a reference at its own level",
                    where=option,
                    fix="Leave it out; it is for MOSS-TTS.",
                )
        return Qwen3Backend(folder)
    if is_moss(values):
        return MossBackend(folder, codec=codec, loudness=loudness)
    if "auto_map" in values:
        raise BackendError("it is known by its own remote code alone", where=str(path), fix=_FIX)
    raise BackendError(
        f"it describes a {values.get('model_type')!r} model, which no backend runs", where=str(path), fix=_FIX
    )
