"""Engines that take one wav and no text: IndexTTS 2, chatterbox, chatterbox-turbo."""

from __future__ import annotations

from refprep.export.exporter import Excerpt, Exporter, Layout, Sidecars
from refprep.linter.profiles import PROFILES

_AUDIO = "reference.wav"


def _index_tts(excerpt: Excerpt) -> Sidecars:
    """A wav: ``IndexTTS2.infer(spk_audio_prompt=...)``.

    Read in ``indextts/infer_v2.py``: it loads the first 15 s and resamples to 22.05 and 16 kHz.
    """
    return Sidecars(
        {}, use=f'IndexTTS2.infer(spk_audio_prompt="{excerpt.audio.name}", text="...", output_path="out.wav")'
    )


def _chatterbox(excerpt: Excerpt) -> Sidecars:
    """A wav: ``generate(text, audio_prompt_path=...)``.

    Read in resemble-ai/chatterbox ``src/chatterbox/tts.py``: 6 s condition the language model and 10 s the decoder. Its
    voice encoder reads all of the file; what it could gain from more than the profile's length is not measured.
    """
    return Sidecars({}, use=f'ChatterboxTTS.generate("...", audio_prompt_path="{excerpt.audio.name}")')


def _chatterbox_turbo(excerpt: Excerpt) -> Sidecars:
    """As chatterbox; the lengths are those of its profile, the call was not read in the turbo model's own file."""
    return Sidecars({}, use=f'ChatterboxTurboTTS.generate("...", audio_prompt_path="{excerpt.audio.name}")')


EXPORTERS = (
    Exporter("wav", PROFILES["index-tts"], Layout.JOINED, _AUDIO, _index_tts),
    Exporter("wav", PROFILES["chatterbox"], Layout.JOINED, _AUDIO, _chatterbox),
    Exporter("wav", PROFILES["chatterbox-turbo"], Layout.JOINED, _AUDIO, _chatterbox_turbo),
)
