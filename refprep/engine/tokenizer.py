r"""Text to ids: the chat strings that the model was trained on, and what of them is fed.

    string                                                                     fed
    <|im_start|>assistant\n{text}<|im_end|>\n<|im_start|>assistant\n            ids[:3] as role, ids[3:-5] as text
    <|im_start|>assistant\n{reference text}<|im_end|>\n                         ids[3:-2]
    <|im_start|>user\n{instruction}<|im_end|>\n                                all ids

The tokenizer is Qwen2's byte-level BPE with its own splitting pattern. The published wrapper swaps that pattern for
Mistral's when it loads a folder (``fix_mistral_regex``), but not when it loads by hub name; ids are those of the hub name.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from refprep.engine.config import CheckpointConfig
from refprep.errors import BackendError, TextInputError, WeightsMissing

_ROLE_TOKENS, _TAIL_TOKENS, _END_TOKENS = 3, 5, 2


class Encodes(Protocol):
    """What is asked of the library's tokenizer."""

    def encode(self, text: str) -> Sequence[int]:
        """Ids of a string; special tokens in it are parsed."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class TextTokenizer:
    """Makes ids of texts.

    Attributes:
        library: The tokenizer underneath.
        control_tokens: Spellings that stand for control ids: no text may hold one.
    """

    library: Encodes
    control_tokens: frozenset[str]

    def target(self, text: str) -> tuple[list[int], list[int]]:
        """Ids of the role, and of the text to speak.

        Raises:
            TextInputError: The text is empty or holds a control token.
        """
        clean = self._clean(text, where="the text to speak")
        ids = list(self.library.encode(f"<|im_start|>assistant\n{clean}<|im_end|>\n<|im_start|>assistant\n"))
        return ids[:_ROLE_TOKENS], ids[_ROLE_TOKENS:-_TAIL_TOKENS]

    def reference(self, text: str) -> list[int]:
        """Ids of the words of a reference.

        Raises:
            TextInputError: The text is empty or holds a control token.
        """
        clean = self._clean(text, where="the reference's text")
        return list(self.library.encode(f"<|im_start|>assistant\n{clean}<|im_end|>\n"))[
            _ROLE_TOKENS:-_END_TOKENS
        ]

    def instruction(self, text: str) -> list[int]:
        """Ids of an instruction, its frame included.

        Raises:
            TextInputError: It is empty or holds a control token.
        """
        clean = self._clean(text, where="the instruction")
        return list(self.library.encode(f"<|im_start|>user\n{clean}<|im_end|>\n"))

    def _clean(self, text: str, *, where: str) -> str:
        """NFC, without space at the edges: a newline there would merge with the frame's own."""
        clean = unicodedata.normalize("NFC", text).strip()
        if not clean:
            raise TextInputError("it is empty", where=where, fix="Give at least one word.")
        for token in self.control_tokens:
            if token in clean:
                raise TextInputError(
                    f"it holds the control token {token}", where=where, fix="Remove it: it is no speech."
                )
        return clean


def load_tokenizer(folder: Path, config: CheckpointConfig) -> TextTokenizer:
    """Load the tokenizer of a checkpoint from vocab.json, merges.txt and tokenizer_config.json.

    Raises:
        WeightsMissing: One of the files is not there.
        BackendError: They do not fit each other or the checkpoint.
    """
    for name in ("vocab.json", "merges.txt", "tokenizer_config.json"):
        if not (folder / name).is_file():
            raise WeightsMissing(
                f"{name} is missing",
                where=str(folder),
                fix="Download the tokenizer's files with the checkpoint.",
            )
    fix = "Take the tokenizer's files from the checkpoint's publisher again."
    # The class is named: AutoTokenizer would look for a model of the checkpoint's type, which transformers lacks.
    from transformers import Qwen2Tokenizer

    try:
        library: Any = Qwen2Tokenizer.from_pretrained(str(folder), local_files_only=True)
        control = frozenset(str(token) for token in library.added_tokens_encoder)
        frame = list(library.encode("<|im_start|>assistant\n<|im_end|>\n<|im_start|>assistant\n"))
        user = list(library.encode("<|im_start|>user\n"))
        largest = max(len(library), *frame, *user)
    except Exception as error:  # the library raises anything from KeyError to its own Rust errors
        raise BackendError(f"its tokenizer does not load: {error}", where=str(folder), fix=fix) from error
    if len(frame) != _ROLE_TOKENS + _TAIL_TOKENS or len(user) != _ROLE_TOKENS:
        raise BackendError(
            "its tokenizer splits the words of the chat frame, which are single tokens",
            where=str(folder),
            fix=fix,
        )
    if largest > config.talker_config.text_vocab_size:
        raise BackendError(
            f"its tokenizer has ids up to {largest}, the text embedding {config.talker_config.text_vocab_size} rows",
            where=str(folder),
            fix=fix,
        )
    return TextTokenizer(library, control)
