"""Names -> models, ready to use: the one place where a choice of model becomes an object."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from refprep.config import ModelConfig
from refprep.errors import DeviceError, UsageError, WeightsMissing
from refprep.models.store import ModelStore
from refprep.models.vad import SileroVad
from refprep.models.whisper import FasterWhisper
from refprep.protocols import SpeakerEncoder
from refprep.types import Alignment, Clip, Span, Transcript

if TYPE_CHECKING:
    from refprep.backends.moss_tts import MossBackend
    from refprep.backends.qwen3_tts import Qwen3Backend

# Best first; the first one that is present is used, so that a machine without the hub works with what wheels carry.
_ASR_ON_CUDA = ("whisper-large-v3-turbo", "whisper-small", "whisper-base", "whisper-tiny.en")
_ASR_ON_CPU = ("whisper-small", "whisper-base", "whisper-tiny.en")
DEFAULT_ENCODER = "ge2e"


def resolve_device(device: str) -> str:
    """``cuda`` or ``cpu`` for a choice of ``auto``, ``cuda`` or ``cpu``.

    Raises:
        DeviceError: CUDA was asked for and is not there.
    """
    if device == "cpu":
        return device
    import torch

    if torch.cuda.is_available():
        return "cuda"
    if device == "cuda":
        raise _no_cuda()
    return "cpu"


def _no_cuda() -> DeviceError:
    return DeviceError(
        "no CUDA device", where="--device cuda", fix="Use --device cpu, or see `refprep doctor`."
    )


def choose_asr(config: ModelConfig, store: ModelStore) -> str:
    """Id of the recogniser to use.

    Raises:
        WeightsMissing: None is present.
    """
    if config.asr != "auto":
        return config.asr
    on_cuda = _asr_device(config.device) == "cuda"
    for model_id in _ASR_ON_CUDA if on_cuda else _ASR_ON_CPU:
        if store.status(model_id).state == "present":
            return model_id
    raise WeightsMissing(
        "no recogniser is here (whisper-base: 148 MB)",
        where=str(store.root),
        fix="Run `refprep models pull whisper-base`, or name a folder with --asr.",
    )


class LazyAsr:
    """Recogniser and aligner in float32, the precision verdicts need, loaded when first asked for something.

    Checks of the signal alone need no recogniser; they neither wait for one nor fail without one.

    Args:
        config: Which model, device and threads.
        store: Where it is.
    """

    def __init__(self, config: ModelConfig, store: ModelStore) -> None:
        self._config = config
        self._store = store

    @property
    def name(self) -> str:
        """Id of the model.

        Raises:
            WeightsMissing: It was not pulled.
        """
        model_id = choose_asr(self._config, self._store)
        self._store.path(model_id)
        return model_id

    def transcribe(self, clip: Clip, intervals: Sequence[Span], *, language: str | None = None) -> Transcript:
        """See ``refprep.protocols.Transcriber``."""
        return self._loaded.transcribe(clip, intervals, language=language)

    def detect_language(self, clip: Clip, interval: Span) -> tuple[str, float]:
        """See ``refprep.protocols.Transcriber``."""
        return self._loaded.detect_language(clip, interval)

    def align(self, clip: Clip, text: str, *, language: str) -> Alignment:
        """See ``refprep.protocols.Aligner``."""
        return self._loaded.align(clip, text, language=language)

    def end_probability(self, clip: Clip, text: str, *, language: str) -> float | None:
        """See ``refprep.protocols.Aligner``."""
        return self._loaded.end_probability(clip, text, language=language)

    def start_share(self, clip: Clip, text: str, *, language: str) -> float | None:
        """See ``refprep.protocols.Aligner``."""
        return self._loaded.start_share(clip, text, language=language)

    def transcribe_plainly(self, path: Path, language: str) -> str:
        """See ``refprep.models.whisper.FasterWhisper``."""
        return self._loaded.transcribe_plainly(path, language)

    @cached_property
    def _loaded(self) -> FasterWhisper:
        device = _asr_device(self._config.device)
        folder = self._store.path(self.name)
        return FasterWhisper(folder, name=self.name, device=device, num_threads=self._config.threads)


def _asr_device(device: str) -> str:
    """As resolve_device, asked of CTranslate2: importing torch for it would double the start of every lint."""
    import ctranslate2

    if device == "cpu":
        return device
    if ctranslate2.get_cuda_device_count() > 0:
        return "cuda"
    if device == "cuda":
        raise _no_cuda()
    return "cpu"


def load_vad() -> SileroVad:
    """Voice activity; its network comes with faster-whisper."""
    return SileroVad()


def model_hashes(config: ModelConfig, store: ModelStore) -> dict[str, dict[str, str]]:
    """Model id -> file -> SHA-256, of the recogniser and the speaker encoder in use: what voice.json records."""
    names = (choose_asr(config, store), *choose_encoders(config))
    return {name: store.hashes(name) for name in names}


def model_folder(model: str | Path, store: ModelStore) -> Path:
    """Folder of a checkpoint that speaks.

    Args:
        model: Its id in the catalog, or a folder of the user's own.
        store: Where models of the catalog are.

    Raises:
        UsageError: Neither an id nor a folder, or an id of another kind of model.
        WeightsMissing: Not pulled, or damaged; the message names the command that gets it.
    """
    name = str(model)
    if name in store.catalog and store.catalog[name].role != "synthesis":
        speaking = ", ".join(m.id for m in store.catalog.values() if m.role == "synthesis")
        raise UsageError(
            f"it is a model of the role {store.catalog[name].role}, and speaks nothing",
            where=name,
            fix=f"Use one of {speaking}, or a folder.",
        )
    return store.path(name)


def load_backend(
    model: str | Path,
    store: ModelStore,
    *,
    codec: str | Path | None = None,
    loudness: str | None = None,
) -> Qwen3Backend | MossBackend:
    """The backend of a checkpoint that speaks; no weights are read.

    Args:
        model: As ``model_folder`` takes it.
        store: Where models of the catalog are.
        codec: Folder, or id in the catalog, of MOSS-TTS's codec; None takes the one below the model, then the one that was
            pulled.
        loudness: What happens to the level of a reference (MOSS-TTS).

    Raises:
        UsageError, WeightsMissing: As ``model_folder``, or an option that the model does not have.
        BackendError: A model that no backend runs.
    """
    from refprep.backends.moss_tts import CODEC_FOLDER
    from refprep.backends.open import open_backend
    from refprep.moss.codec import CODEC_NAME

    folder = model_folder(model, store)
    backend = open_backend(folder, codec=None if codec is None else store.path(str(codec)), loudness=loudness)
    is_elsewhere = backend.profile.codec == CODEC_NAME and not (folder / CODEC_FOLDER).is_dir()
    if codec is None and is_elsewhere and store.status(CODEC_NAME).state == "present":
        return open_backend(folder, codec=store.path(CODEC_NAME), loudness=loudness)
    return backend


def model_fingerprints(
    config: ModelConfig, store: ModelStore, *, asr: bool = True, encoder: bool = False
) -> dict[str, str]:
    """Role -> id, device and a hash of the weights of each model in use: what tells its results from another's.

    Args:
        config: Which models.
        store: Where they are.
        asr: The recogniser is in use.
        encoder: The speaker encoders are in use.

    Raises:
        WeightsMissing: A model was not pulled.
    """
    found: dict[str, str] = {}
    if asr:
        name = choose_asr(config, store)
        found["recogniser"] = f"{name} {_asr_device(config.device)} {_weights_sha256(name, store)}"
    if encoder:
        found["encoder"] = ", ".join(
            f"{name} {config.device} {_weights_sha256(name, store)}" for name in choose_encoders(config)
        )
    return found


def _weights_sha256(name: str, store: ModelStore) -> str:
    return hashlib.sha256(json.dumps(store.hashes(name), sort_keys=True).encode()).hexdigest()


def choose_encoders(config: ModelConfig) -> tuple[str, ...]:
    """Ids of the speaker encoders to use, the deciding one first."""
    names = tuple(dict.fromkeys(n.strip() for n in config.encoder.split(",") if n.strip()))
    return tuple(DEFAULT_ENCODER if n == "auto" else n for n in names) or (DEFAULT_ENCODER,)


def choose_encoder(config: ModelConfig) -> str:
    """Id of the speaker encoder to use where one is enough."""
    return choose_encoders(config)[0]


def has_encoder(config: ModelConfig, store: ModelStore) -> bool:
    """The speaker encoder to use is here."""
    try:
        store.path(choose_encoder(config))
    except WeightsMissing:
        return False
    return True


def load_encoder(config: ModelConfig, store: ModelStore) -> SpeakerEncoder:
    """Speaker encoder, in float32.

    Raises:
        WeightsMissing: The model was not pulled.
        UsageError: The id names no speaker encoder.
    """
    from refprep.models.encoders import open_encoder

    return open_encoder(choose_encoder(config), store, device=resolve_device(config.device))
