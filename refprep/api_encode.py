"""Voices encoded for a checkpoint, from Python."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from refprep.models.load import load_backend, resolve_device
from refprep.models.store import ModelStore

if TYPE_CHECKING:
    from refprep.linter.rule import Finding
    from refprep.pipeline.code_cache import CodeCache
    from refprep.types import CodeCacheEntry
    from refprep.voice.codes import CodesOrigin


@dataclass(frozen=True, slots=True, eq=False)
class EncodedVoice:
    """A voice and its codes under a checkpoint.

    Attributes:
        folder: Of the voice.
        entry: Codes and embedding.
        origin: Where they were found.
        path: Of the copy in the voice's folder; None where an error keeps it out.
        findings: Of the rules on codes (RP5xx).
        wall_s: Time that it took; weights are hashed and loaded with the first voice.
    """

    folder: Path
    entry: CodeCacheEntry
    origin: CodesOrigin
    path: Path | None
    findings: tuple[Finding, ...]
    wall_s: float

    @property
    def passed(self) -> bool:
        """The codes are sound, and in the voice's folder."""
        return self.path is not None


def encode_voice(
    voice: str | Path,
    model: str | Path,
    *,
    device: str = "auto",
    codec: str | Path | None = None,
    loudness: str | None = None,
    cache: CodeCache | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> EncodedVoice:
    """Encode a voice for a checkpoint, once: codes, and a speaker embedding where it takes one, in float32, kept in the voice's folder.

    Args:
        voice: Folder that `refprep build` wrote.
        model: Folder of a Qwen3-TTS Base or MOSS-TTS checkpoint, or its id in `refprep models ls`.
        device: ``auto``, ``cpu`` or ``cuda``.
        codec: Folder or id of MOSS-TTS's codec; None takes ``audio_tokenizer/`` below the model, then the one that was pulled.
        loudness: ``as-is`` or ``published`` (MOSS-TTS), a part of the key; None is as it is.
        cache: This user's when None.
        on_step: Told what is being done.

    Returns:
        The entry, where it was, and what the rules find in it. One with an error is kept nowhere.

    Raises:
        ManifestError, AudioDecodeError: The voice cannot be read.
        IntegrityError: Its reference is not what was built.
        UsageError: A checkpoint that takes no recorded voice, or whose encoder is quantized (RP501).
        WeightsMissing: The checkpoint, or an encoder in it, is not here, and neither are codes that fit.
        MachineError: The disk or the device failed.
    """
    voices = encode_voices(
        [voice], model, device=device, codec=codec, loudness=loudness, cache=cache, on_step=on_step
    )
    return next(voices)


def encode_voices(
    voices: Sequence[str | Path],
    model: str | Path,
    *,
    device: str = "auto",
    codec: str | Path | None = None,
    loudness: str | None = None,
    cache: CodeCache | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> Iterator[EncodedVoice]:
    """As ``encode_voice``, of several voices: the weights are hashed and loaded once.

    Yields:
        Each voice when it is done. All of them are read before the first is encoded.

    Raises:
        ManifestError, AudioDecodeError, IntegrityError, UsageError, WeightsMissing, MachineError: As ``encode_voice``.
    """
    from refprep.voice.code_files import store_codes
    from refprep.voice.codes import find_codes
    from refprep.voice.read import load_voice

    read = [load_voice(v) for v in voices]
    backend = load_backend(model, ModelStore.default(), codec=codec, loudness=loudness)
    encoder = backend.encoder(device=resolve_device(device))
    for one in read:
        started_s = time.perf_counter()
        on_step(str(one.folder))
        found = find_codes(one, encoder, cache=cache, on_step=on_step)
        path = None if found.errors else store_codes(one, found.entry)
        wall_s = time.perf_counter() - started_s
        yield EncodedVoice(one.folder, found.entry, found.origin, path, found.findings, wall_s)
