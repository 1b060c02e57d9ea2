"""Servers with OpenAI's speech endpoint and fields for a reference: vLLM-Omni, SGLang-Omni.

Both take ``POST /v1/audio/speech`` with ``input``, ``ref_audio`` (a data URL, among others) and ``ref_text``. The audio
goes along as a data URL of the exported wav's bytes: a path would have to be allowed by the server. Both also store
voices (``POST /v1/audio/voices``, multipart): there a consent is required, so that form is written only for a voice
whose consent is stated.
"""

from __future__ import annotations

import base64

from refprep.export.exporter import Excerpt, Exporter, Layout, Sidecars, json_text
from refprep.export.languages import qwen_language
from refprep.linter.profiles import EngineProfile, TextUse

_AUDIO = "reference.wav"
# SGLang-Omni states 10 MiB for inline audio, vLLM-Omni 10 MB for an upload.
_MAX_BYTES = 10_000_000


def _vllm_omni(excerpt: Excerpt) -> Sidecars:
    """Body of ``POST /v1/audio/speech`` for voice cloning (``task_type`` Base).

    Fields: vllm-project/vllm-omni ``docs/serving/speech_api.md``. Its server code refuses references of less than 1 s
    and more than 30 s. Which model runs is not known here: MOSS-TTS models ignore ``ref_text``.
    """
    return _speech(
        excerpt,
        {
            "input": "",
            "task_type": "Base",
            "language": qwen_language(excerpt.source.reference.language),
            "ref_audio": _data_url(excerpt),
            "ref_text": excerpt.text,
        },
        "vllm-omni",
    )


def _sglang_omni(excerpt: Excerpt) -> Sidecars:
    """Body of ``POST /v1/audio/speech``; ``ref_audio`` and ``ref_text`` stand for ``references[0]``.

    Fields: sgl-project/sglang-omni ``sglang_omni/serve/protocol.py`` and ``docs/basic_usage/tts.md``. Newer versions
    want ``model`` and ``voice`` in every request: ``voice`` is written, ``model`` names what the server serves and has
    to be filled in there. The limit of 1-30 s is stated for uploads and kept for inline audio, too.
    """
    return _speech(
        excerpt,
        {
            "input": "",
            "voice": "default",
            "language": qwen_language(excerpt.source.reference.language),
            "ref_audio": _data_url(excerpt),
            "ref_text": excerpt.text,
        },
        "sglang-omni",
    )


def _speech(excerpt: Excerpt, body: dict[str, str], engine: str) -> Sidecars:
    texts = {"request.json": json_text(body)}
    use = "POST request.json to /v1/audio/speech, its input filled in"
    if excerpt.source.has_consent(excerpt.audio.clips):
        form = {
            "name": excerpt.source.name,
            "audio_sample": excerpt.audio.name,
            "consent": "; ".join(excerpt.source.stated("consent", excerpt.audio.clips)),
            "ref_text": excerpt.text,
        }
        texts["voice_form.json"] = json_text(form)
        use += "; or store the voice: the form fields of voice_form.json to /v1/audio/voices"
    size = excerpt.audio.path.stat().st_size
    warnings = [f"{engine}: models without in-context cloning (MOSS-TTS) ignore ref_text"]
    if size > _MAX_BYTES:
        warnings.append(f"{engine} takes 10 MB of audio; {excerpt.audio.name} has {size / 1e6:.1f} MB")
    return Sidecars(texts, use=use, warnings=tuple(warnings))


def _data_url(excerpt: Excerpt) -> str:
    return "data:audio/wav;base64," + base64.b64encode(excerpt.audio.path.read_bytes()).decode("ascii")


EXPORTERS = tuple(
    Exporter(
        "wav, body of POST /v1/audio/speech with the audio inside",
        # Limits of the servers, not of the models they serve: `refprep lint --profile` names those.
        EngineProfile(name, TextUse.OPTIONAL, min_s=1.0, max_s=30.0),
        Layout.JOINED,
        _AUDIO,
        describe,
    )
    for name, describe in (("vllm-omni", _vllm_omni), ("sglang-omni", _sglang_omni))
)
