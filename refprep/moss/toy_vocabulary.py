"""A byte-level tokenizer for random generators: some of its merges cross the lines of a prompt, as real ones do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from refprep.engine.random_checkpoint.toy_tokenizer import REAL_ROWS, toy_tokenizer

_WORDS = (
    *(
        "assistant",
        "user",
        "None",
        "Text",
        "Language",
        " the",
        " and",
        "ing",
        " of",
        "Hello",
        " world",
        "Hola",
    ),
    *(":\n", ".\n", ">\n", "!\n", "?\n", "\n-", "]:\n", "):\n"),
)
_TOY_IDS = {
    "<|endoftext|>": 480,
    "<|im_start|>": 481,
    "<|im_end|>": 482,
    "<|audio_start|>": 483,
    "<|audio_end|>": 484,
    "<|audio_user_slot|>": 485,
    "<|audio_gen_slot|>": 486,
    "<|audio_delay_slot|>": 487,
    "<|local_audio_start|>": 488,
    "<|local_audio_end|>": 489,
}
_REAL_KEYS = {
    "pad_token_id": 151643,
    "im_start_token_id": 151644,
    "im_end_token_id": 151645,
    "audio_user_slot_token_id": 151654,
    "audio_assistant_gen_slot_token_id": 151656,
}


@dataclass(frozen=True, slots=True)
class ToyVocabulary:
    """Contents of vocab.json and merges.txt, and ids.

    Attributes:
        vocab: Id of every symbol.
        merges: Pairs of symbols, the most urgent first.
        control: Ids of the control tokens by spelling.
        newline: Id of the newline.
        keys: Ids that config.json names and that both kinds share.
        marks: audio_start and audio_end of Delay, then of Local.
        delay_slot: Of Delay.
    """

    vocab: Mapping[str, int]
    merges: tuple[tuple[str, str], ...]
    control: Mapping[str, int]
    newline: int
    keys: Mapping[str, int]
    marks: tuple[tuple[int, int], tuple[int, int]]
    delay_slot: int

    @property
    def merges_text(self) -> str:
        """merges.txt."""
        return "#version: 0.2\n" + "".join(f"{left} {right}\n" for left, right in self.merges)


def toy_vocabulary(rows: int) -> ToyVocabulary:
    """For a text embedding of so many rows: real ids where they fit, small ones elsewhere."""
    if rows >= REAL_ROWS:
        real = toy_tokenizer(rows)
        marks = ((151652, 151653), (151669, 151670))
        return ToyVocabulary(real.vocab, real.merges, real.control, 198, _REAL_KEYS, marks, 151662)
    symbols = _byte_symbols()
    vocab = {symbols[byte]: byte for byte in range(256)}
    merges: list[tuple[str, str]] = []
    for word in _WORDS:
        left, *rest = [symbols[b] for b in word.encode()]
        for right in rest:
            if (left, right) not in merges:
                merges.append((left, right))
                vocab.setdefault(left + right, len(vocab))
            left += right
    # Readers count added tokens on from the size of the vocabulary: fill it with pairs that no text has.
    for byte in range(min(_TOY_IDS.values()) - len(vocab)):
        merges.append((symbols[0], symbols[byte]))
        vocab[symbols[0] + symbols[byte]] = len(vocab)
    assert len(vocab) == min(_TOY_IDS.values())
    keys = {key: _TOY_IDS[token] for key, token in zip(_REAL_KEYS, _TOKENS, strict=True)}
    return ToyVocabulary(vocab, tuple(merges), _TOY_IDS, 10, keys, ((483, 484), (488, 489)), 487)


_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|audio_user_slot|>", "<|audio_gen_slot|>")


def _byte_symbols() -> dict[int, str]:
    """A printable character for every byte: its own where it has one, the next one from 256 on elsewhere."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in set(printable)]
    return {b: chr(b) for b in printable} | {b: chr(256 + i) for i, b in enumerate(others)}
