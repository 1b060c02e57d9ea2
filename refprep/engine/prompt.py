"""A request as the talker reads it: what stands at every position.

e(x) is a projected text embedding, c(i) a row of the codec embedding; pad, bos, eos are e() of the three tts tokens.

    head                    | content                                     | positions
    instruction, if any     | e(instruction ids)                          | its tokens
    role                    | e(im_start), e(assistant), e(newline)       | 3
    tags                    | pad + c(tag)                                | 4 with a language, 3 without
    speaker, if any         | pad + c(speaker) or pad + x-vector          | 1
    end of head             | bos + c(codec_pad)                          | 1

    body, no reference      | content                                     | fed later, one a frame
    text streamed           | e(X[0]) + c(codec_bos)                      | e(X[1:]), eos, then pad forever
    whole text              | e(X[j]) + c(codec_pad), eos + c(codec_pad), | pad forever
                            | pad + c(codec_bos)                          |

    body, in context        | A = e(R), e(X), eos; B = c(codec_bos), frame 1 .. frame F
    text streamed           | A[j] + B[j] over the F + 1 positions of B   | A[F + 1:], then pad forever
    whole text              | A[j] + c(codec_pad), then pad + B[j]        | pad forever

X and R are the tokens of the target and of the reference, F the reference's frames. A frame is the sum of its 16 codes'
embeddings. Where A is shorter than B, pad fills it up. The last position's logits give the first code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from refprep.engine.config import CheckpointConfig, ModelKind, TalkerConfig
from refprep.engine.talker import Talker
from refprep.engine.tokenizer import TextTokenizer
from refprep.errors import UsageError
from refprep.types import CloneMode, SpeechRequest, VoicePrompt

AUTO = "auto"


@dataclass(frozen=True, slots=True, eq=False)
class TalkerPrompt:
    """What the talker reads before the first frame and beside the following ones.

    Attributes:
        embeds: (positions, hidden), the talker's dtype.
        trailing: (steps, hidden): added to the first frames' embeddings; ``pad`` afterwards.
        pad: (hidden,).
    """

    embeds: torch.Tensor
    trailing: torch.Tensor
    pad: torch.Tensor


@dataclass(frozen=True, slots=True, eq=False)
class _Marks:
    """Rows that every prompt uses, each (1, hidden)."""

    pad: torch.Tensor
    bos: torch.Tensor
    eos: torch.Tensor
    codec_pad: torch.Tensor
    codec_bos: torch.Tensor


def build_prompt(
    request: SpeechRequest, config: CheckpointConfig, talker: Talker, tokenizer: TextTokenizer
) -> TalkerPrompt:
    """Lay out a request.

    Raises:
        UsageError: The request does not fit the checkpoint: its kind, a speaker or a language it does not have.
        TextInputError: A text is empty.
    """
    check_request(request, config)
    marks = _marks(config, talker)
    role, text = tokenizer.target(request.text)
    parts = []
    if request.instruct and request.instruct.strip() and config.takes_instruct:
        parts.append(_embed(talker, tokenizer.instruction(request.instruct)))
    parts.append(_embed(talker, role))
    parts += _tags_and_speaker(request, config, talker, marks)
    parts.append(marks.bos + marks.codec_pad)
    if request.voice is not None and request.voice.mode is CloneMode.ICL:
        body, trailing = _in_context(request, config, talker, marks, tokenizer, text)
    else:
        body, trailing = _without_reference(request, config, talker, marks, text)
    embeds = torch.cat((*parts, body))
    assert embeds.dtype is talker.dtype, "a wider embedding here widens the whole prefill and its cache"
    return TalkerPrompt(embeds, trailing, marks.pad[0])


def check_request(request: SpeechRequest, config: CheckpointConfig) -> None:
    """Refuse what the checkpoint cannot do.

    Raises:
        UsageError: Names what does not fit, and what would.
    """
    kind, voice = config.kind, request.voice
    if kind is ModelKind.BASE and voice is None:
        raise _misfit("a Base checkpoint speaks with a recorded voice, and none is given", "Give --voice.")
    if kind is not ModelKind.BASE and voice is not None:
        raise _misfit(
            f"a recorded voice is given to a {kind.value} checkpoint, which has no speaker encoder",
            "Use the Base checkpoint for it.",
        )
    if kind is ModelKind.CUSTOM_VOICE and request.speaker is None:
        raise _misfit(
            "a CustomVoice checkpoint needs a speaker's name", f"Choose of {', '.join(config.speakers)}."
        )
    if kind is not ModelKind.CUSTOM_VOICE and request.speaker is not None:
        raise _misfit(f"a {kind.value} checkpoint has no built-in speakers", "Leave the speaker out.")
    if request.speaker is not None and request.speaker.lower() not in config.talker_config.spk_id:
        raise _misfit(
            f"the speaker {request.speaker!r} is unknown", f"Choose of {', '.join(config.speakers)}."
        )
    if kind is ModelKind.BASE and request.instruct:
        raise _misfit("a Base checkpoint follows no instruction", "Leave the instruction out.")
    language = (request.language or AUTO).lower()
    if language != AUTO and language not in config.languages:
        raise _misfit(
            f"the language {request.language!r} is not supported",
            f"Choose of auto, {', '.join(config.languages)}.",
        )
    if voice is not None:
        _check_voice(voice, config.talker_config)


def _check_voice(voice: VoicePrompt, config: TalkerConfig) -> None:
    width = voice.speaker_embedding.shape
    if width != (config.hidden_size,):
        raise _misfit(
            f"the speaker embedding has shape {width}, this talker takes ({config.hidden_size},)",
            "Encode the voice with this checkpoint: `refprep encode VOICE --model M`.",
        )
    if voice.codes is None or voice.mode is CloneMode.X_VECTOR:
        return
    groups, codebook = config.num_code_groups, config.code_predictor_config.vocab_size
    shape = voice.codes.shape
    if len(shape) != 2 or shape[1] != groups or shape[0] == 0:
        raise _misfit(
            f"the reference codes have shape {shape}, this model takes (frames, {groups})",
            "They come from another codec; encode the voice with this checkpoint.",
        )
    if voice.codes.min() < 0 or voice.codes.max() >= codebook:
        raise _misfit(
            f"the reference codes reach from {voice.codes.min()} to {voice.codes.max()}, a codebook has {codebook}",
            "They come from another codec; encode the voice with this checkpoint.",
        )


def language_id(config: TalkerConfig, language: str | None, speaker: str | None) -> int | None:
    """Id of the language tag; None leaves the language to the model.

    A dialect's speaker turns Chinese, and no language at all, into the dialect.
    """
    name = (language or AUTO).lower()
    dialect = config.spk_is_dialect.get(speaker.lower(), False) if speaker else False
    if isinstance(dialect, str) and dialect and name in (AUTO, "chinese"):
        return config.codec_language_id[dialect]
    return None if name == AUTO else config.codec_language_id[name]


def is_whole_text(request: SpeechRequest, config: CheckpointConfig) -> bool:
    """Whether the whole text stands before the first frame; the published default of each kind unless asked."""
    if request.whole_text is not None:
        return request.whole_text
    return config.kind is not ModelKind.BASE


def _tags_and_speaker(
    request: SpeechRequest, config: CheckpointConfig, talker: Talker, marks: _Marks
) -> list[torch.Tensor]:
    shape = config.talker_config
    language = language_id(shape, request.language, request.speaker)
    if language is None:
        tags = [shape.codec_nothink_id, shape.codec_think_bos_id, shape.codec_think_eos_id]
    else:
        tags = [shape.codec_think_id, shape.codec_think_bos_id, language, shape.codec_think_eos_id]
    if request.speaker is not None:
        tags.append(shape.spk_id[request.speaker.lower()])
    parts = [marks.pad + _control(talker, tags)]
    if request.voice is not None:
        # The one hand-off of the float32 embedding: cast here, or the prompt and with it the cache become float32.
        vector = torch.from_numpy(request.voice.speaker_embedding.copy()).to(talker.device, talker.dtype)
        parts.append(marks.pad + vector)
    return parts


def _without_reference(
    request: SpeechRequest, config: CheckpointConfig, talker: Talker, marks: _Marks, text: Sequence[int]
) -> tuple[torch.Tensor, torch.Tensor]:
    track = torch.cat((_embed(talker, text), marks.eos))
    if is_whole_text(request, config):
        return torch.cat((track + marks.codec_pad, marks.pad + marks.codec_bos)), marks.pad
    return track[:1] + marks.codec_bos, track[1:]


def _in_context(
    request: SpeechRequest,
    config: CheckpointConfig,
    talker: Talker,
    marks: _Marks,
    tokenizer: TextTokenizer,
    text: Sequence[int],
) -> tuple[torch.Tensor, torch.Tensor]:
    voice = request.voice
    assert voice is not None
    assert voice.text is not None
    assert voice.codes is not None
    words = [*tokenizer.reference(voice.text), *text]
    track = torch.cat((_embed(talker, words), marks.eos))
    codes = torch.from_numpy(voice.codes.astype("int64")).to(talker.device)
    speech = torch.cat((marks.codec_bos, talker.embed_frames(codes)))
    if is_whole_text(request, config):
        return torch.cat((track + marks.codec_pad, marks.pad + speech)), marks.pad
    beside = len(speech)
    if len(track) > beside:
        return track[:beside] + speech, track[beside:]
    filled = torch.cat((track, marks.pad.expand(beside - len(track), -1)))
    return filled + speech, marks.pad


def _marks(config: CheckpointConfig, talker: Talker) -> _Marks:
    tokens = [config.tts_pad_token_id, config.tts_bos_token_id, config.tts_eos_token_id]
    pad, bos, eos = torch.chunk(_embed(talker, tokens), 3)
    shape = config.talker_config
    codec_pad, codec_bos = torch.chunk(_control(talker, [shape.codec_pad_id, shape.codec_bos_id]), 2)
    return _Marks(pad, bos, eos, codec_pad, codec_bos)


def _embed(talker: Talker, ids: Sequence[int]) -> torch.Tensor:
    return talker.embed_text(torch.tensor(list(ids), device=talker.device))


def _control(talker: Talker, ids: Sequence[int]) -> torch.Tensor:
    return talker.embed_control(torch.tensor(list(ids), device=talker.device))


def _misfit(what: str, fix: str) -> UsageError:
    return UsageError(what, where="the request", fix=fix)
