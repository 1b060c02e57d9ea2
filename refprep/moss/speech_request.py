"""What any synthesizer is asked -> what a MOSS-TTS generator is asked; codes without a float32 provenance end here."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from refprep.errors import UsageError
from refprep.moss.codec import CODEC_NAME
from refprep.moss.config import GeneratorConfig
from refprep.moss.request import MossRequest, check_codes
from refprep.types import CloneMode, MossSampling, SpeechRequest, VoicePrompt

_MODES = (CloneMode.CLONE, CloneMode.CONTINUATION, CloneMode.BOTH)
_AUTO = "auto"
_ENCODE = "Encode the voice for this model: `refprep encode VOICE --model M`."


def moss_request(request: SpeechRequest, config: GeneratorConfig) -> MossRequest:
    """The request as the generator takes it; the modes themselves are checked there.

    Raises:
        UsageError: A field that MOSS-TTS would drop, or codes that may not be spoken with.
    """
    if request.speaker is not None:
        raise _misfit("MOSS-TTS has no built-in speakers", "Leave the speaker out.")
    if request.whole_text is False:
        raise _misfit("MOSS-TTS reads the whole text before it speaks", "Leave out --streamed-text.")
    if not isinstance(request.sampling, MossSampling):
        raise _misfit(
            "this sampling is that of Qwen3-TTS",
            "Use MossSampling; the synthesizer's own is the publisher's.",
        )
    voice = request.voice
    codes = None if voice is None else voice_codes(voice, config)
    is_continued = voice is not None and voice.mode is not CloneMode.CLONE
    return MossRequest(
        text=request.text,
        reference=codes if voice is not None and voice.mode is not CloneMode.CONTINUATION else None,
        prefix=codes if is_continued else None,
        prefix_text=voice.text if voice is not None and is_continued else None,
        language=None if (request.language or _AUTO).lower() == _AUTO else request.language,
        instruction=request.instruct,
        tokens=request.tokens,
        sampling=request.sampling,
        seed=request.seed,
        max_frames=request.max_frames,
    )


def voice_codes(voice: VoicePrompt, config: GeneratorConfig) -> npt.NDArray[np.int32]:
    """Codes of a voice, as many codebooks as the generator has: the first ones of a residual codec are a code by themselves.

    Raises:
        UsageError: A mode of another engine; no codes; codes of unknown origin, a rounded encoder, another codec, shape, type
            or range.
    """
    if voice.mode not in _MODES:
        raise _misfit(
            f"the mode {voice.mode} is one of Qwen3-TTS", f"Use one of {', '.join(map(str, _MODES))}."
        )
    codes, key = voice.codes, voice.key
    if not isinstance(codes, np.ndarray):
        check_codes(codes, config, what="the voice")
    assert codes is not None
    if key is None:
        raise _misfit(
            "the voice's codes do not say what made them", f"Give the key that they have. {_ENCODE}"
        )
    if key.encoder_dtype != "float32":
        raise _misfit(
            f"RP501 quantized-reference-encoder: the codes were made by an encoder in {key.encoder_dtype}, which is another "
            "voice",
            "Encode the voice in float32; `refprep audit` measures what a rounded encoder does to it.",
        )
    if key.codec != CODEC_NAME:
        raise _misfit(f"the codes are of the codec {key.codec}, this model's is {CODEC_NAME}", _ENCODE)
    if codes.ndim != 2 or codes.shape[1] != key.num_codebooks or key.num_codebooks < config.n_vq:
        raise _misfit(
            f"the codes have shape {codes.shape}, their key says {key.num_codebooks} codebooks, this model takes {config.n_vq}",
            _ENCODE,
        )
    own = codes[:, : config.n_vq]
    check_codes(own, config, what="the voice")
    return own.astype(np.int32)


def _misfit(what: str, fix: str) -> UsageError:
    return UsageError(what, where="the request", fix=fix)
