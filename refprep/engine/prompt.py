"""A request as the talker reads it: what stands at every position.

e(x) is a projected text embedding, c(i) a row of the codec embedding; pad, bos, eos are e() of the three tts tokens.

    head                    | content                                     | positions
    instruction, if any     | e(instruction ids)                          | its tokens
    role                    | e(im_start), e(assistant), e(newline)       | 3
    tags                    | pad + c(tag)                                | 4 with a language, 3 without
    speaker, if any         | pad + c(speaker) or pad + x-vector          | 1
    end of head             | bos + c(codec_pad)                          | 1

    body                    | A = e(R), e(X), eos; B = c(codec_bos), frame 1 .. frame F
    text streamed           | A[j] + B[j] over the F + 1 positions of B   | fed later: A[F + 1:], then pad forever
    whole text              | A[j] + c(codec_pad), then pad + B[j]        | fed later: pad forever

X and R are the tokens of the target and of the reference, F the reference's frames. A frame is the sum of its 16 codes'
embeddings. Where A is shorter than B, pad fills it up. Without a reference in context R is empty and F is 0: B is one
position. The last position's logits give the first code.

What a prompt begins with does not depend on its target, and is the same in every request of a voice:

    shared positions        | without a reference | in context
    text streamed           | head                | head + min(R, F + 1), but not the last position: it gives the first code
    whole text              | head                | head + R
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from refprep.engine.config import CheckpointConfig, ModelKind, TalkerConfig
from refprep.engine.prefix_cache import Prefix, PrefixCache
from refprep.engine.talker import Talker
from refprep.engine.tokenizer import TextTokenizer
from refprep.errors import UsageError
from refprep.types import CloneMode, SamplingParams, SpeechRequest, VoicePrompt

AUTO = "auto"

MIN_SHARED = 16
"""Shared positions from which on they are read in a pass of their own, and kept.

A pass reads all weights, however few its positions, and matrix units work on 16 rows at a time: below, the rest's pass
takes them along for nothing. The head of a voice without a reference has 8 or 9."""

_NOTHING, _SPEAKER = -1, -2


@dataclass(frozen=True, slots=True, eq=False)
class PromptPlan:
    """A prompt in ids, laid out on the host: one of ``text`` and one of ``control`` a position, summed.

    Attributes:
        text: Text ids, one a position.
        control: Control ids, or nothing, or the speaker embedding; the positions after them hold the frames.
        vector: (hidden,) float32 speaker embedding; None without a recorded voice.
        codes: (frames, 16) int32; no frames without a reference in context.
        later: Text ids that are fed beside the first frames.
        pad: Text id that is fed beside the following ones.
        shared: Positions at the start that do not depend on the target; see the module's table.
    """

    text: tuple[int, ...]
    control: tuple[int, ...]
    vector: npt.NDArray[np.float32] | None
    codes: npt.NDArray[np.int32]
    later: tuple[int, ...]
    pad: int
    shared: int

    @property
    def num_positions(self) -> int:
        """Of the whole prompt."""
        return len(self.text)

    @property
    def num_later(self) -> int:
        """Steps of text that are fed beside the frames."""
        return len(self.later)

    @property
    def split(self) -> int:
        """Positions that are read in a pass of their own; 0 where they are too few for it."""
        return self.shared if self.shared >= MIN_SHARED else 0

    def frames(self, start: int, end: int) -> npt.NDArray[np.int32]:
        """Codes of the frames that stand from a position to another."""
        before = len(self.control)
        return self.codes[max(start - before, 0) : max(end - before, 0)]

    def key(self) -> bytes:
        """Digest of all that stands at the first ``split`` positions."""
        end = self.split
        parts: list[npt.NDArray[np.generic]] = [
            np.asarray(self.text[:end], np.int64),
            np.asarray(self.control[:end], np.int64),
            self.frames(0, end),
        ]
        if self.vector is not None:
            parts.append(self.vector)
        digest = hashlib.sha256()
        for part in parts:
            digest.update(f"{part.dtype.str}{part.shape}".encode())
            digest.update(part.tobytes())
        return digest.digest()


@dataclass(frozen=True, slots=True, eq=False)
class TalkerPrompt:
    """What the talker reads before the first frame and beside the following ones.

    Attributes:
        embeds: (positions, hidden), the talker's dtype; without those that ``prefix`` stands for.
        trailing: (steps, hidden): added to the first frames' embeddings; ``pad`` afterwards.
        pad: (hidden,).
        split: Positions at the start that are read in a pass of their own, or come from a cache.
        key: Of those positions; empty where there are none.
        prefix: Their keys and values, if a cache had them.
    """

    embeds: torch.Tensor
    trailing: torch.Tensor
    pad: torch.Tensor
    split: int = 0
    key: bytes = b""
    prefix: Prefix | None = None

    @property
    def num_positions(self) -> int:
        """Of the whole prompt."""
        return len(self.embeds) + (0 if self.prefix is None else self.split)


def plan_prompt(request: SpeechRequest, config: CheckpointConfig, tokenizer: TextTokenizer) -> PromptPlan:
    """Lay out a request; nothing happens on the device.

    Raises:
        UsageError: The request does not fit the checkpoint: its kind, a speaker or a language it does not have.
        TextInputError: A text is empty.
    """
    check_request(request, config)
    shape, pad = config.talker_config, config.tts_pad_token_id
    role, target = tokenizer.target(request.text)
    instruction, reference = [], []
    if request.instruct and request.instruct.strip() and config.takes_instruct:
        instruction = tokenizer.instruction(request.instruct)
    codes = np.zeros((0, shape.num_code_groups), np.int32)
    if (voice := request.voice) is not None and voice.mode is CloneMode.ICL:
        assert voice.text is not None
        assert voice.codes is not None
        reference, codes = tokenizer.reference(voice.text), voice.codes.astype(np.int32)
    tags = _tags(request, shape)
    text = [*instruction, *role, *[pad] * len(tags), config.tts_bos_token_id]
    control = [_NOTHING] * (len(instruction) + len(role)) + [*tags, shape.codec_pad_id]
    shared = len(text)
    track = [*reference, *target, config.tts_eos_token_id]
    beside = 1 + len(codes)
    if is_whole_text(request, config):
        text += track + [pad] * beside
        control += [shape.codec_pad_id] * len(track)
        later = []
        shared += len(reference)
    else:
        text += track[:beside] + [pad] * (beside - len(track))
        later = track[beside:]
        shared += min(len(reference), beside)
    return PromptPlan(
        text=tuple(text),
        control=(*control, shape.codec_bos_id),
        vector=None if voice is None else voice.speaker_embedding,
        codes=codes,
        later=tuple(later or [pad]),
        pad=pad,
        shared=min(shared, len(text) - 1),
    )


def embed_prompt(plan: PromptPlan, talker: Talker, prefix_cache: PrefixCache | None = None) -> TalkerPrompt:
    """Embed a plan.

    The shared positions and the rest are embedded apart, so that the rest is the same to the bit whether or not a
    cache has the shared ones; if it has, they are not embedded.
    """
    split = plan.split
    key = plan.key() if split else b""
    prefix = prefix_cache.get(key) if split and prefix_cache is not None else None
    later = (*plan.later, plan.pad)
    embeds, words = _embed(plan, talker, split, plan.num_positions, later)
    if split and prefix is None:
        embeds = torch.cat((_embed(plan, talker, 0, split)[0], embeds))
    assert embeds.dtype is talker.dtype, "a wider embedding here widens the whole prefill and its cache"
    return TalkerPrompt(embeds, words[:-1], words[-1], split, key, prefix)


def build_prompt(
    request: SpeechRequest, config: CheckpointConfig, talker: Talker, tokenizer: TextTokenizer
) -> TalkerPrompt:
    """Lay out a request and embed all of it.

    Raises:
        UsageError: As ``plan_prompt``.
        TextInputError: As ``plan_prompt``.
    """
    return embed_prompt(plan_prompt(request, config, tokenizer), talker)


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
    if not isinstance(request.sampling, SamplingParams):
        raise _misfit(
            "this sampling is that of MOSS-TTS", "Use SamplingParams, or leave it to the checkpoint."
        )
    if request.tokens is not None:
        raise _misfit("Qwen3-TTS takes no wanted length", "Leave the number of tokens out.")
    if voice is not None:
        _check_voice(voice, config)


def _check_voice(voice: VoicePrompt, checkpoint: CheckpointConfig) -> None:
    config = checkpoint.talker_config
    if voice.mode not in (CloneMode.ICL, CloneMode.X_VECTOR) or voice.speaker_embedding is None:
        raise _misfit(
            f"the mode {voice.mode} is one of MOSS-TTS", f"Use {CloneMode.ICL} or {CloneMode.X_VECTOR}."
        )
    if voice.key is not None and voice.key.encoder_dtype != "float32":
        raise _misfit(
            f"RP501 quantized-reference-encoder: the codes were made by an encoder in {voice.key.encoder_dtype}, "
            "which is another voice",
            "Encode the voice in float32: `refprep encode VOICE --model M`.",
        )
    if voice.key is not None and voice.key.codec != checkpoint.tokenizer_type:
        raise _misfit(
            f"the codes are of the codec {voice.key.codec}, this model's is {checkpoint.tokenizer_type}",
            "Encode the voice with this checkpoint: `refprep encode VOICE --model M`.",
        )
    width = voice.speaker_embedding.shape
    if width != (config.hidden_size,):
        raise _misfit(
            f"the speaker embedding has shape {width}, this talker takes ({config.hidden_size},)",
            "Encode the voice with this checkpoint: `refprep encode VOICE --model M`.",
        )
    if voice.codes is None or voice.mode is CloneMode.X_VECTOR:
        return
    given: object = voice.codes  # whatever its type says
    if not isinstance(given, np.ndarray) or not np.issubdtype(given.dtype, np.integer):
        kind = given.dtype if isinstance(given, np.ndarray) else type(given).__name__
        raise _misfit(
            f"the reference codes are {kind}, not integers: a prompt takes codes, it reads no audio",
            "Encode the voice with this checkpoint: `refprep encode VOICE --model M`.",
        )
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


def _tags(request: SpeechRequest, shape: TalkerConfig) -> list[int]:
    """Control ids between the role and the end of the head; the last may stand for the speaker embedding."""
    language = language_id(shape, request.language, request.speaker)
    if language is None:
        tags = [shape.codec_nothink_id, shape.codec_think_bos_id, shape.codec_think_eos_id]
    else:
        tags = [shape.codec_think_id, shape.codec_think_bos_id, language, shape.codec_think_eos_id]
    if request.speaker is not None:
        tags.append(shape.spk_id[request.speaker.lower()])
    if request.voice is not None:
        tags.append(_SPEAKER)
    return tags


def _embed(
    plan: PromptPlan, talker: Talker, start: int, end: int, later: Sequence[int] = ()
) -> tuple[torch.Tensor, torch.Tensor]:
    """(end - start, hidden) of some positions, and (later, hidden) of text ids.

    All ids go to the device in one copy, and every word is projected once, however often it stands there: pad often.
    """
    control, codes = plan.control[start:end], plan.frames(start, end)
    ids = [*plan.text[start:end], *later]
    words = {word: row for row, word in enumerate(dict.fromkeys(ids))}
    tracks = (
        np.array(list(words), np.int64),
        np.array([words[word] for word in ids], np.int64),
        np.array([max(one, 0) for one in control], np.int64),
        codes.reshape(-1).astype(np.int64),
    )
    packed = _sent(np.concatenate(tracks), talker.device)
    unique, rows, control_ids, frames = torch.split(packed, [len(track) for track in tracks])
    text = talker.embed_text(unique)[rows]
    speech = torch.cat((talker.embed_control(control_ids), talker.embed_frames(frames.view(codes.shape))))
    speech[: control.count(_NOTHING)] = 0
    if _SPEAKER in control:
        assert plan.vector is not None
        # The one hand-off of the float32 embedding: cast here, or the prompt and with it the cache become float32.
        speech[control.index(_SPEAKER)] = _sent(plan.vector.copy(), talker.device).to(talker.dtype)
    return text[: end - start] + speech, text[end - start :]


def _sent(array: npt.NDArray[np.generic], device: torch.device) -> torch.Tensor:
    """An array on the device. From pageable memory the host would wait for all that a GPU still does."""
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)


def _misfit(what: str, fix: str) -> UsageError:
    return UsageError(what, where="the request", fix=fix)
