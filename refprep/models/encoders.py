"""Names and folders -> speaker encoders."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from refprep.errors import UsageError
from refprep.models.sources.files import sha256_of
from refprep.models.store import ModelStore
from refprep.protocols import SpeakerEncoder

Opener = Callable[[Path, str, str], SpeakerEncoder]
"""Folder, name, device -> encoder. The adapter's own libraries are imported inside: each costs seconds."""


def _open_ge2e(folder: Path, name: str, device: str) -> SpeakerEncoder:
    from refprep.models.ge2e import Ge2eEncoder

    return Ge2eEncoder(folder, name=name, device=device)


def _open_speechbrain(folder: Path, name: str, device: str) -> SpeakerEncoder:
    from refprep.models.speechbrain_encoder import SpeechBrainEncoder

    return SpeechBrainEncoder(folder, name=name, device=device)


def _open_wavlm(folder: Path, name: str, device: str) -> SpeakerEncoder:
    from refprep.models.wavlm import WavLmEncoder

    return WavLmEncoder(folder, name=name, device=device)


ENCODERS: dict[str, Opener] = {
    "ge2e": _open_ge2e,
    "wavlm-base-plus-sv": _open_wavlm,
    "speechbrain-ecapa": _open_speechbrain,
    "speechbrain-xvector": _open_speechbrain,
}


def open_encoder(model_id: str, store: ModelStore, *, device: str) -> SpeakerEncoder:
    """Open a speaker encoder of the catalog, or one that lies in a folder of the user's own.

    A folder's layout tells which kind it is, and its encoder is called by the folder and the hash of its weights: two
    folders of one name must not pass for one model, as their cosines cannot be compared.

    Args:
        model_id: A key of ``ENCODERS``, or a path.
        store: Where pulled models lie.
        device: ``cpu`` or ``cuda``.

    Raises:
        UsageError: No speaker encoder has this id or lies there.
        WeightsMissing: The model was not pulled.
        BackendError: Its files do not load.
    """
    opener = ENCODERS.get(model_id)
    if opener is not None:
        return opener(store.path(model_id), model_id, device)
    folder = Path(model_id).expanduser()
    if not model_id or model_id in store.catalog or not folder.is_dir():
        what = "is no speaker encoder" if model_id in store.catalog else "is neither an id nor a folder"
        raise UsageError(
            f"{model_id!r} {what}",
            where="--encoder",
            fix=f"Choose one of {', '.join(ENCODERS)}, or give a folder.",
        )
    opener, weights = _recognise(folder)
    return opener(folder, f"{folder.resolve().name}@{sha256_of(weights)[:12]}", device)


def _recognise(folder: Path) -> tuple[Opener, Path]:
    """How to open a folder, and the file that holds its weights."""
    if (folder / "pretrained.pt").is_file():
        return _open_ge2e, folder / "pretrained.pt"
    if (folder / "hyperparams.yaml").is_file() and (folder / "embedding_model.ckpt").is_file():
        return _open_speechbrain, folder / "embedding_model.ckpt"
    weights = next(
        (folder / n for n in ("model.safetensors", "pytorch_model.bin") if (folder / n).is_file()), None
    )
    if weights is not None and _model_type(folder / "config.json") == "wavlm":
        return _open_wavlm, weights
    raise UsageError(
        "the folder holds no speaker encoder that refprep knows",
        where=str(folder),
        fix="It needs pretrained.pt (GE2E), hyperparams.yaml and embedding_model.ckpt (SpeechBrain), or a WavLM "
        "x-vector's config.json and model.safetensors.",
    )


def _model_type(config: Path) -> str:
    try:
        content = json.loads(config.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    return str(content.get("model_type", "")) if isinstance(content, dict) else ""
