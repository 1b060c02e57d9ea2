"""A tiny MOSS-TTS checkpoint with its codec below it, and voices for it as values."""

from __future__ import annotations

import shutil
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

import numpy as np
from codes_kit import KEY
from moss_codec_kit import tiny_codec
from moss_kit import _home, tiny_generator

from refprep.backends.moss_tts import CODEC_FOLDER, MossBackend
from refprep.moss.request import MOSS_GREEDY
from refprep.types import CacheKey, CloneMode, SpeechRequest, SynthesisSettings, VoicePrompt

MOSS_KEY = replace(
    KEY, codec="moss-audio-tokenizer", speaker_weights_sha256="", num_codebooks=32, codebook_size=1024
)


@cache
def tiny_moss() -> Path:
    """The folder of the recorded Delay generator with the recorded codec; tests copy it before they change it."""
    folder = _home() / "with-codec"
    shutil.copytree(tiny_generator("delay"), folder)
    shutil.copytree(tiny_codec(), folder / CODEC_FOLDER)
    return folder


@cache
def synthesizer(precision: str | None = None, *, rows_together: bool = False):
    settings = SynthesisSettings("cpu", "float32", decoder_precision=precision, rows_together=rows_together)
    return MossBackend(tiny_moss()).synthesizer(settings)


def moss_voice(mode: CloneMode = CloneMode.CLONE, frames: int = 20, **changes: object) -> VoicePrompt:
    """A sound voice, or one with changes."""
    codes = np.random.default_rng(3).integers(0, 1024, (frames, 32)).astype(np.int32)
    whole = VoicePrompt(mode, None, "The words of it.", codes, MOSS_KEY)
    return replace(whole, **changes)  # type: ignore[arg-type]


def moss_request(text: str = "Hello world", **changes: object) -> SpeechRequest:
    """A greedy request, which ends by itself or at 40 frames."""
    whole = SpeechRequest(text, voice=moss_voice(), sampling=MOSS_GREEDY, max_frames=40)
    return replace(whole, **changes)  # type: ignore[arg-type]


def key_with(**changes: object) -> CacheKey:
    return CacheKey(**{**asdict(MOSS_KEY), **changes})  # type: ignore[arg-type]
