r"""A request as rows of ids: text in column 0, codes beside it.

    rows  (length, 1 + n_vq) int32; the pad code in every code column of a row without audio

    user turn          <user_inst>, the labelled lines of ``LABELS``, "- Text:", the text, </user_inst>
    reference (Delay)  "[S1]:" and a line of audio_start, frames + n_vq - 1 user slots (codes delayed), audio_end
    reference (Local)  a line of audio_start, frames user slots, audio_end
    assistant header   im_start, "assistant\n"; Local: audio_start
    prefix (Delay)     audio_start, frames generation slots with the first ``frames`` delayed rows: codebook k lacks the
                       last k frames, and writes them anew
    prefix (Local)     frames generation slots

Delay renders a turn as one string, so merges reach across lines; Local tokenises the text by itself, and an empty field
is None to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refprep.errors import TextInputError
from refprep.moss.config import DelayConfig, GeneratorConfig, LocalConfig
from refprep.moss.normalize import normalize_text
from refprep.moss.pattern import delayed
from refprep.moss.request import MossRequest, check_request
from refprep.moss.tokenizer import MossTokenizer

LABELS = (
    ("Instruction", "instruction"),
    ("Tokens", "tokens"),
    ("Quality", "quality"),
    ("Sound Event", "sound_event"),
    ("Ambient Sound", "ambient_sound"),
    ("Language", "language"),
)

_OPEN = "<user_inst>\n- Reference(s):\n"
_CLOSE = "\n</user_inst>"


@dataclass(frozen=True, slots=True, eq=False)
class MossPrompt:
    """Rows, and what of them is audio to go on from.

    Attributes:
        rows: (length, 1 + n_vq) int32.
        prefix_frames: Frames of the prefix; the last so many rows hold them.
    """

    rows: npt.NDArray[np.int32]
    prefix_frames: int

    def __len__(self) -> int:
        """Rows."""
        return len(self.rows)


def build_prompt(request: MossRequest, config: GeneratorConfig, tokenizer: MossTokenizer) -> MossPrompt:
    """Lay out a request.

    Raises:
        UsageError: As ``check_request``.
        TextInputError: A text is empty, or spells a control token.
    """
    check_request(request, config)
    for name in ("text", "prefix_text", *(field for _, field in LABELS)):
        value = getattr(request, name)
        if isinstance(value, str):
            tokenizer.check(value, where=f"the request's {name}")
    if isinstance(config, DelayConfig):
        return _delay(request, config, tokenizer)
    return _local(request, config, tokenizer)


def _delay(request: MossRequest, config: DelayConfig, tokenizer: MossTokenizer) -> MossPrompt:
    ids = config.ids
    if not normalize_text(request.text):
        raise TextInputError(
            "nothing is left of it once markup and marks are taken away",
            where="the text to speak",
            fix="Give at least one word.",
        )
    lines = "".join(f"\n- {label}:\n{getattr(request, name)}" for label, name in LABELS)
    text = f"{lines}\n- Text:\n{normalize_text(request.spoken_text)}{_CLOSE}"
    rows = _Rows(config)
    rows.text([ids.im_start_token_id])
    if request.reference is None:
        rows.text(tokenizer.ids(f"user\n{_OPEN}None{text}"))
    else:
        rows.text(tokenizer.ids(f"user\n{_OPEN}[S1]:\n"))
        rows.block(delayed(request.reference, config.pad_code))
        rows.text(tokenizer.ids(text))
    rows.text([ids.im_end_token_id, *tokenizer.ids("\n")])
    rows.text([ids.im_start_token_id, *tokenizer.ids("assistant\n")])
    frames = 0
    if request.prefix is not None:
        frames = len(request.prefix)
        rows.text([ids.audio_start_token_id])
        rows.audio(ids.audio_assistant_gen_slot_token_id, delayed(request.prefix, config.pad_code)[:frames])
    return MossPrompt(rows.joined(), frames)


def _local(request: MossRequest, config: LocalConfig, tokenizer: MossTokenizer) -> MossPrompt:
    ids = config.ids
    lines = "".join(f"\n- {label}:\n{_stripped(getattr(request, name))}" for label, name in LABELS)
    rows = _Rows(config)
    rows.text([ids.im_start_token_id, *tokenizer.ids("user\n"), *tokenizer.ids(_OPEN)])
    if request.reference is None:
        rows.text(tokenizer.ids("None"))
    else:
        rows.block(request.reference.astype(np.int32))
    rows.text(tokenizer.ids(f"{lines}\n- Text:\n"))
    rows.text([*tokenizer.ids(request.spoken_text), *tokenizer.ids(_CLOSE), ids.im_end_token_id])
    rows.text([*tokenizer.ids("\n"), ids.im_start_token_id, *tokenizer.ids("assistant\n")])
    rows.text([ids.audio_start_token_id])
    frames = 0
    if request.prefix is not None:
        frames = len(request.prefix)
        rows.audio(ids.audio_assistant_slot_token_id, request.prefix.astype(np.int32))
    return MossPrompt(rows.joined(), frames)


def _stripped(value: object) -> str:
    return str(value).strip() or "None"


class _Rows:
    """Collects rows."""

    def __init__(self, config: GeneratorConfig) -> None:
        self._config = config
        self._parts: list[npt.NDArray[np.int32]] = []

    def text(self, ids: list[int]) -> None:
        """Rows without audio."""
        part = np.full((len(ids), 1 + self._config.n_vq), self._config.pad_code, np.int32)
        part[:, 0] = ids
        self._parts.append(part)

    def audio(self, slot: int, codes: npt.NDArray[np.int32]) -> None:
        """Rows with codes, each under a slot id."""
        self._parts.append(np.concatenate((np.full((len(codes), 1), slot, np.int32), codes), axis=1))

    def block(self, codes: npt.NDArray[np.int32]) -> None:
        """Codes in the user's turn, with their marks."""
        ids = self._config.ids
        self.text([ids.audio_start_token_id])
        self.audio(ids.audio_user_slot_token_id, codes)
        self.text([ids.audio_end_token_id])

    def joined(self) -> npt.NDArray[np.int32]:
        return np.concatenate(self._parts)
