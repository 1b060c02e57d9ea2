"""Engines that take the clips one by one: fish-speech, XTTS."""

from __future__ import annotations

from refprep.export.exporter import Excerpt, Exporter, Layout, Sidecars, json_text
from refprep.export.languages import xtts_language
from refprep.linter.profiles import PROFILES
from refprep.text.language import language_name


def _fish_speech(excerpt: Excerpt) -> Sidecars:
    """``references/ID/`` with a ``.lab`` file beside every clip.

    Read in fishaudio/fish-speech ``fish_speech/inference_engine/reference_loader.py``: it looks for the folder where the
    server runs, takes every audio file below it, in no stated order, and the text of the same name.
    """
    texts = {file.name.removesuffix(".wav") + ".lab": file.text + "\n" for file in excerpt.files}
    name = excerpt.source.name
    return Sidecars(
        texts, use=f'copy references/ to where the server runs, and send "reference_id": "{name}" to /v1/tts'
    )


def _xtts(excerpt: Excerpt) -> Sidecars:
    """Several wavs: the list ``speaker_wav`` of Coqui's ``TTS.tts_to_file``.

    Read in a copy of ``TTS/tts/models/xtts.py``: every file is cut to ``max_ref_len`` and its embedding averaged; the
    latents see the first ``gpt_cond_len`` of all files laid behind each other. By default these are 10 and 12 s.
    """
    profile, source = PROFILES["xtts"], excerpt.source
    rate_hz, language = source.reference.sample_rate_hz, source.reference.language
    code = xtts_language(language)
    total_s = sum(f.num_samples for f in excerpt.files) / rate_hz
    warnings = [
        f"{what} of xtts uses only the first {part_s:g} s of {file.name} ({file.num_samples / rate_hz:.2f} s)"
        for what, part_s in profile.parts
        for file in excerpt.files
        if file.num_samples / rate_hz > part_s
    ]
    if profile.kept_s is not None and total_s > profile.kept_s:
        warnings.append(
            f"the latents of xtts use only the first {profile.kept_s:g} s of all files ({total_s:.2f} s)"
        )
    if not code:
        spoken = language_name(language) if language else "unknown"
        warnings.append(
            f"the voice's language is {spoken}, which xtts has no code for: language is left empty"
        )
    call = {"text": "", "speaker_wav": [f.name for f in excerpt.files], "language": code}
    return Sidecars(
        {"xtts.json": json_text(call)},
        use='TTS("tts_models/multilingual/multi-dataset/xtts_v2").tts_to_file(**json.load(...)) of xtts.json',
        warnings=tuple(warnings),
    )


EXPORTERS = (
    Exporter(
        "references/ID/ with a wav and a .lab file a clip",
        PROFILES["fish-speech"],
        Layout.CLIPS,
        "references/{voice}/{number:04d}.wav",
        _fish_speech,
    ),
    Exporter(
        "a wav a clip, their list as speaker_wav",
        PROFILES["xtts"],
        Layout.CLIPS,
        "wavs/{number:04d}.wav",
        _xtts,
    ),
)
