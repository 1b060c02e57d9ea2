"""Engines that read one wav and its text: F5-TTS, GPT-SoVITS, CosyVoice, Qwen3-TTS, MOSS-TTS, OmniVoice, mlx-audio.

The place of the text that the engine is to speak is left empty, to be filled in: no sentence of ours gets spoken in
somebody's voice by mistake. Paths are relative to the export's folder.
"""

from __future__ import annotations

import json

from refprep.errors import NoReferenceError
from refprep.export.exporter import Excerpt, Exporter, Layout, Sidecars, json_text
from refprep.export.languages import gpt_sovits_language, qwen_language
from refprep.linter.profiles import PROFILES
from refprep.text.language import language_name
from refprep.text.words import primary_language

_AUDIO, _TEXT = "reference.wav", "reference.txt"
_COSYVOICE3_SYSTEM = "You are a helpful assistant.<|endofprompt|>"


def _f5_tts(excerpt: Excerpt) -> Sidecars:
    """TOML as ``f5-tts_infer-cli -c`` reads it.

    Keys and their defaults: SWivid/F5-TTS ``infer/infer_cli.py`` and ``infer/examples/basic/basic.toml``; the newest
    version was read only through copies of it. ``gen_file`` and ``remove_silence`` are there because older versions
    require every key. The CLI trims the silence at both ends and appends 50 ms (``preprocess_ref_audio_text``).
    """
    values: dict[str, str | bool] = {
        "model": "F5TTS_v1_Base",
        "ref_audio": excerpt.audio.name,
        "ref_text": excerpt.text,
        "gen_text": "",
        "gen_file": "",
        "remove_silence": False,
        "output_dir": "output",
    }
    toml = "".join(f"{key} = {_toml_value(value)}\n" for key, value in values.items())
    tail = excerpt.source.reference.tail_policy
    return Sidecars(
        {"f5-tts.toml": toml, _TEXT: excerpt.text + "\n"},
        use='f5-tts_infer-cli -c f5-tts.toml --gen_text "..."',
        warnings=(f"f5-tts trims the silence at both ends itself: the tail ({tail}) is not kept",)
        if len(excerpt.source.silences[-1])
        else (),
    )


def _gpt_sovits(excerpt: Excerpt) -> Sidecars:
    """Body of ``POST /tts`` of ``api_v2.py``, and a line of the annotation list ``wav|speaker|language|text``.

    Fields: RVC-Boss/GPT-SoVITS ``api_v2.py``; list: its README. The reference is refused outside of 3-10 s. The server
    opens ``ref_audio_path`` itself, from where it runs.
    """
    source = excerpt.source
    language = source.reference.language
    code = gpt_sovits_language(language)
    body = {
        "text": "",
        "text_lang": code,
        "ref_audio_path": excerpt.audio.name,
        "prompt_text": excerpt.text,
        "prompt_lang": code,
    }
    listed = primary_language(language) if code == "auto" else code
    cells = (excerpt.audio.name, source.speaker, listed, excerpt.text)
    if any("|" in cell for cell in cells):
        raise NoReferenceError(
            "its text or speaker id holds a |, which parts the columns of a .list",
            where=str(source.folder),
            fix="Build the voice again without that sign.",
        )
    warnings: tuple[str, ...] = ()
    if code == "auto":
        spoken = language_name(language) if language else "unknown"
        warnings = (
            f"gpt-sovits reads zh, en, ja, ko and yue, and the voice's language is {spoken}: auto is written, and it guesses",
        )
    return Sidecars(
        {
            "request.json": json_text(body),
            "reference.list": "|".join(cells) + "\n",
            _TEXT: excerpt.text + "\n",
        },
        use="POST request.json to /tts of api_v2.py, its text filled in, ref_audio_path as the server sees the file",
        warnings=warnings,
    )


def _cosyvoice(excerpt: Excerpt) -> Sidecars:
    """Arguments of ``inference_zero_shot(tts_text, prompt_text, prompt_wav)``, for CosyVoice 1 and 2, and for 3.

    Names: FunAudioLLM/CosyVoice ``cosyvoice/cli/cosyvoice.py`` (versions before CosyVoice3 call the last one
    ``prompt_speech_16k`` and take samples). CosyVoice3 asserts that ``<|endofprompt|>`` stands in the prompt text; what
    stands before it is the system text of its own example. More than 30 s and less than 16 kHz are refused.
    """
    call = {"tts_text": "", "prompt_text": excerpt.text, "prompt_wav": excerpt.audio.name}
    return Sidecars(
        {
            "zero_shot.json": json_text(call),
            "zero_shot_cosyvoice3.json": json_text(
                {**call, "prompt_text": _COSYVOICE3_SYSTEM + excerpt.text}
            ),
            "prompt.txt": excerpt.text + "\n",
        },
        use="cosyvoice.inference_zero_shot(**json.load(...)), of zero_shot_cosyvoice3.json for CosyVoice3",
    )


def _qwen3_tts(excerpt: Excerpt) -> Sidecars:
    """Arguments of ``Qwen3TTSModel.generate_voice_clone`` in in-context mode.

    Names: QwenLM/Qwen3-TTS ``examples/test_model_12hz_base.py``. Languages: ten names and ``Auto``.
    """
    call = {
        "text": "",
        "language": qwen_language(excerpt.source.reference.language),
        "ref_audio": excerpt.audio.name,
        "ref_text": excerpt.text,
        "x_vector_only_mode": False,
    }
    return Sidecars(
        {"voice_clone.json": json_text(call), _TEXT: excerpt.text + "\n"},
        use="Qwen3TTSModel.generate_voice_clone(**json.load(...)) of voice_clone.json",
    )


def _moss_tts(excerpt: Excerpt) -> Sidecars:
    """Arguments of the processor's ``build_user_message`` for cloning.

    Names: the processing code in OpenMOSS/MOSS-TTS. Cloning takes one clip and no text; continuation puts the
    reference's text before the new one, so it lies beside the audio.
    """
    return Sidecars(
        {
            "user_message.json": json_text({"text": "", "reference": [excerpt.audio.name]}),
            _TEXT: excerpt.text + "\n",
        },
        use="processor.build_user_message(**json.load(...)) of user_message.json",
        warnings=("moss-tts does not use the text when it clones, only when it continues",),
    )


def _omnivoice(excerpt: Excerpt) -> Sidecars:
    """Arguments of ``OmniVoice.generate``; the same names are options of ``omnivoice-infer``.

    Names: k2-fsa/OmniVoice ``omnivoice/cli/infer.py`` and README. More than 20 s are refused when a text is given.
    """
    call = {"text": "", "ref_audio": excerpt.audio.name, "ref_text": excerpt.text}
    return Sidecars(
        {"generate.json": json_text(call), _TEXT: excerpt.text + "\n"},
        use='omnivoice-infer --model k2-fsa/OmniVoice --ref_audio reference.wav --ref_text "$(cat reference.txt)" --text "..." --output out.wav',
    )


def _mlx_audio(excerpt: Excerpt) -> Sidecars:
    """Arguments of ``mlx_audio.tts.generate.generate_audio``, which are the options of its command line, too.

    Names: Blaizzy/mlx-audio ``mlx_audio/tts/generate.py``. Without ``ref_text`` it transcribes; early versions refuse
    another rate than 24 kHz, later ones resample. Its server takes the same two fields, the audio as a path it can open.
    """
    call = {"text": "", "ref_audio": excerpt.audio.name, "ref_text": excerpt.text}
    return Sidecars(
        {"generate.json": json_text(call), _TEXT: excerpt.text + "\n"},
        use='python -m mlx_audio.tts.generate --model MODEL --ref_audio reference.wav --ref_text "$(cat reference.txt)" --text "..."',
    )


def _toml_value(value: str | bool) -> str:
    """A TOML value: JSON's escapes are TOML's, only that TOML escapes DEL, too."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


EXPORTERS = (
    Exporter("wav, text, TOML of f5-tts_infer-cli", PROFILES["f5-tts"], Layout.JOINED, _AUDIO, _f5_tts),
    Exporter(
        "wav, body of POST /tts, a line wav|speaker|lang|text",
        PROFILES["gpt-sovits"],
        Layout.JOINED,
        _AUDIO,
        _gpt_sovits,
    ),
    Exporter(
        "prompt wav and text, arguments of inference_zero_shot",
        PROFILES["cosyvoice"],
        Layout.JOINED,
        "prompt.wav",
        _cosyvoice,
    ),
    Exporter(
        "wav, text, arguments of generate_voice_clone",
        PROFILES["qwen3-tts"],
        Layout.JOINED,
        _AUDIO,
        _qwen3_tts,
    ),
    Exporter(
        "wav, text, arguments of build_user_message", PROFILES["moss-tts"], Layout.JOINED, _AUDIO, _moss_tts
    ),
    Exporter("wav, text, arguments of generate", PROFILES["omnivoice"], Layout.JOINED, _AUDIO, _omnivoice),
    Exporter(
        "wav, text, arguments of generate_audio", PROFILES["mlx-audio"], Layout.JOINED, _AUDIO, _mlx_audio
    ),
)
