"""A byte-level tokenizer that knows a few words, with its control tokens where the checkpoint has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

END_OF_TEXT, IM_START, IM_END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
TTS_PAD, TTS_BOS, TTS_EOS = "<tts_pad>", "<tts_text_bos>", "<tts_text_eod>"
CONTROL_TOKENS = (END_OF_TEXT, IM_START, IM_END, TTS_PAD, TTS_BOS, TTS_EOS)

REAL_ROWS = 151_936
"""Rows of the real text embedding; fewer rows hold no real ids."""

_REAL_IDS = dict(zip(CONTROL_TOKENS, (151643, 151644, 151645, 151671, 151672, 151673), strict=True))
_REAL_FIRST, _REAL_END = 151643, 151674
_REAL_WORDS = {"assistant": 77091, "user": 872}
_WORDS = ("assistant", "user", " the", " and", "ing", " of", "Hello", " world", "iPhone")
_FIRST_TOY_ID = 480


@dataclass(frozen=True, slots=True)
class ToyTokenizer:
    """Contents of vocab.json and merges.txt, and the ids that config.json names.

    Attributes:
        vocab: Id of every symbol.
        merges: Pairs of symbols, the most urgent first.
        control: Ids of the control tokens.
        assistant_id: Of the word "assistant", where ids are the real ones.
    """

    vocab: Mapping[str, int]
    merges: tuple[tuple[str, str], ...]
    control: Mapping[str, int]
    assistant_id: int | None

    @property
    def merges_text(self) -> str:
        """merges.txt."""
        return "#version: 0.2\n" + "".join(f"{left} {right}\n" for left, right in self.merges)


def toy_tokenizer(rows: int) -> ToyTokenizer:
    """A tokenizer for a text embedding of so many rows: real ids where they fit, small ones elsewhere."""
    symbols = _byte_symbols()
    is_real = rows >= REAL_ROWS
    # The real vocabulary counts the bytes in the order of their symbols, so that the newline is 198.
    order = sorted(range(256), key=lambda b: ord(symbols[b])) if is_real else range(256)
    vocab = {symbols[byte]: number for number, byte in enumerate(order)}
    pinned = {"".join(symbols[b] for b in w.encode()): n for w, n in _REAL_WORDS.items()} if is_real else {}
    merges: list[tuple[str, str]] = []
    for word in _WORDS:
        left, *rest = [symbols[b] for b in word.encode()]
        for right in rest:
            if (left, right) not in merges:
                merges.append((left, right))
                vocab.setdefault(left + right, pinned.get(left + right, len(vocab)))
            left += right
    control = {t: _FIRST_TOY_ID + i for i, t in enumerate(CONTROL_TOKENS)}
    if is_real:
        # Readers count added tokens on from the size of the vocabulary, whatever ids they are given: leave no gap.
        vocab |= {f"<unused {n}>": n for n in sorted(set(range(_REAL_FIRST)) - set(vocab.values()))}
        names = {n: token for token, n in _REAL_IDS.items()}
        control = {names.get(n, f"<|unused {n}|>"): n for n in range(_REAL_FIRST, _REAL_END)}
    assert len(set(vocab.values())) == len(vocab)
    return ToyTokenizer(vocab, tuple(merges), control, _REAL_WORDS["assistant"] if is_real else None)


def _byte_symbols() -> dict[int, str]:
    """A printable character for every byte: its own where it has one, the next one from 256 on elsewhere."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in set(printable)]
    return {b: chr(b) for b in printable} | {b: chr(256 + i) for i, b in enumerate(others)}
