"""Text to ids: plain pieces only. Control ids come from config.json, so no text may spell one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from refprep.errors import BackendError, TextInputError, WeightsMissing
from refprep.moss.config import GeneratorConfig


class Encodes(Protocol):
    """What is asked of the library's tokenizer."""

    def encode(self, text: str, *, add_special_tokens: bool) -> Sequence[int]:
        """Ids of a string."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class MossTokenizer:
    """Makes ids of texts.

    Attributes:
        library: The tokenizer underneath.
        control_tokens: Spellings that stand for control ids.
    """

    library: Encodes
    control_tokens: frozenset[str]

    def ids(self, text: str) -> list[int]:
        """Ids of a piece of a prompt; merges do not reach beyond it."""
        return list(self.library.encode(text, add_special_tokens=False))

    def check(self, text: str, *, where: str) -> None:
        """Refuse a text that would be read as control.

        Raises:
            TextInputError: It spells a control token.
        """
        for token in self.control_tokens:
            if token in text:
                raise TextInputError(
                    f"it holds the control token {token}", where=where, fix="Remove it: it is no speech."
                )


def load_tokenizer(folder: Path, config: GeneratorConfig) -> MossTokenizer:
    """Load the tokenizer of a checkpoint.

    Raises:
        WeightsMissing: Its files are not there.
        BackendError: They do not load, or do not fit the checkpoint.
    """
    has_parts = all((folder / name).is_file() for name in ("vocab.json", "merges.txt"))
    if not (folder / "tokenizer_config.json").is_file() or not (
        has_parts or (folder / "tokenizer.json").is_file()
    ):
        raise WeightsMissing(
            "tokenizer_config.json, or vocab.json and merges.txt, or tokenizer.json is missing",
            where=str(folder),
            fix="Download the tokenizer's files with the checkpoint.",
        )
    fix = "Take the tokenizer's files from the checkpoint's publisher again."
    # The class is named: AutoTokenizer would look for a model of the checkpoint's type, which transformers lacks.
    from transformers import Qwen2Tokenizer

    try:
        library: Any = Qwen2Tokenizer.from_pretrained(str(folder), local_files_only=True)
        control = frozenset(str(token) for token in library.added_tokens_encoder)
        header = list(library.encode("assistant\n", add_special_tokens=False))
        largest = len(library) - 1
    except Exception as error:  # the library raises anything from KeyError to its own Rust errors
        raise BackendError(f"its tokenizer does not load: {error}", where=str(folder), fix=fix) from error
    if len(header) != 2:
        raise BackendError(
            "its tokenizer splits the words of the chat frame, which are single tokens",
            where=str(folder),
            fix=fix,
        )
    if largest >= config.backbone.vocab_size:
        raise BackendError(
            f"its tokenizer has ids up to {largest}, the text embedding {config.backbone.vocab_size} rows",
            where=str(folder),
            fix=fix,
        )
    return MossTokenizer(library, control)
