"""TextCheck -> what is wrong with the words of an output: repeated, reordered, missing, inserted, replaced.

The check (``refprep.pipeline.check``) says which stretches the three witnesses agree on. What a stretch is, the text says: words
it has elsewhere and that are not said there were moved, words that are said there as well are said twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rapidfuzz.distance import Indel

from refprep.pipeline.coverage import is_unspoken
from refprep.pipeline.place import place_words
from refprep.pipeline.transcribe import MAX_INTERVAL_S
from refprep.protocols import Aligner
from refprep.scoring.match import best_match, letters
from refprep.text.compare import Comparison, Difference, compare
from refprep.text.words import is_spaceless, join_words, split_words
from refprep.types import (
    Clip,
    FaultKind,
    OutputWords,
    Span,
    TextCheck,
    TextFault,
    TextScore,
    WordsFault,
)

_MOVED = 0.65  # letters alike: a recogniser hears a clause otherwise at another place
_MOVED_LETTERS = 8
_REPEATED = 0.7
_REPEATED_LETTERS = 5
_BEYOND = 0.6
_EDGE_S = 1.0  # of what begins or ends within it of the speech, the place is head or tail
_SPOKEN_KINDS = (FaultKind.HEAD, FaultKind.TAIL, FaultKind.GAP)
# A word cut off: the model does not expect it, and expects the end (the beginning) without it. A text may go on after any
# word, so that few are sure to end: where the recogniser does not hear the word either, it is enough that the end is much
# likelier than the word. Figures: RP605.
_LOST_PROBABILITY = 0.4
_SURE = 0.5
_LIKELIER = 5.0
_NOT_UNLIKELY = 0.05


@dataclass(slots=True)
class _Gatherer:
    """The faults of one output, and which words of it they account for."""

    check: TextCheck
    language: str
    words: list[str]
    comparison: Comparison
    faults: list[OutputWords] = field(default_factory=list)
    said: set[int] = field(default_factory=set)
    moved: set[int] = field(default_factory=set)
    lacking: set[int] = field(default_factory=set)

    def place(self, span: Span) -> str:
        speech = self.check.coverage.speech
        if not speech:
            return "middle"
        if span.start_s <= speech[0].start_s + _EDGE_S and span.end_s < speech[-1].end_s:
            return "head"
        return "tail" if span.end_s >= speech[-1].end_s - _EDGE_S else "middle"

    def add(
        self,
        fault: WordsFault,
        words: str,
        span: Span,
        *,
        evidence: dict[str, float | str] | None = None,
        instead: str = "",
    ) -> None:
        if any(
            f.fault is fault and f.span.overlap_s(span) > 0.5 * span.duration_s > 0.0 for f in self.faults
        ):
            return
        self.faults.append(OutputWords(fault, words, span, self.place(span), evidence or {}, instead))


def score_text(check: TextCheck, clip: Clip, aligner: Aligner, *, language: str) -> TextScore:
    """Name what is wrong with the words of an output.

    Args:
        check: Of the output against the text it was to say.
        clip: The same audio.
        aligner: Asked about the first and the last word where the recogniser does not hear them.
        language: BCP 47.
    """
    words = split_words(check.given.text)
    heard = [w.text for w in check.heard.words]
    comparison = compare(words, heard, language)
    found = _Gatherer(check, language, words, comparison)
    for difference in comparison.missing:
        _judge_said(found, difference)
    for fault in check.faults:
        _judge_fault(found, fault)
    _judge_edges(found, clip, aligner)
    return TextScore(
        check=check,
        error_rate=comparison.distance / max(1, comparison.num_given_tokens),
        is_in_characters=any(is_spaceless(ch) for ch in check.given.text),
        faults=tuple(sorted(found.faults, key=lambda f: f.span)),
    )


def _judge_said(found: _Gatherer, difference: Difference) -> None:
    """Words that are heard beyond the text: moved or repeated, if the text has them."""
    first, last = difference.heard
    part = [w.text for w in found.check.heard.words[first:last]]
    if first >= last or not found.check.coverage.speech:
        return
    span = place_words(found.check.heard.words, first, last, found.check.coverage.speech)
    said = letters(part, found.language)
    # Of a stretch that stands for other words of the text, only the surplus was said beyond it.
    if difference.surplus_letters < _BEYOND * len(said) and not is_spaceless(said[:1] or "a"):
        return
    kind = _of_the_text(found, part)
    if kind is not None:
        found.said.update(range(first, last))
        found.add(kind, join_words(part), span, evidence={"heard": join_words(part)})


def _of_the_text(found: _Gatherer, part: Sequence[str]) -> WordsFault | None:
    said = letters(part, found.language)
    for lack in found.comparison.extra:
        there = letters(found.words[slice(*lack.given)], found.language)
        similarity = Indel.normalized_similarity(said, there)
        if min(len(said), len(there)) >= _letters(said, _MOVED_LETTERS) and similarity >= _MOVED:
            found.moved.update(range(*lack.given))
            return WordsFault.REORDERED
    match = best_match(part, found.words, found.language)
    if match is not None and len(said) >= _letters(said, _REPEATED_LETTERS) and match.similarity >= _REPEATED:
        return WordsFault.REPEATED
    return None


def _letters(said: str, count: int) -> int:
    """A character of a script without spaces is a syllable."""
    return max(2, count // 3) if said and is_spaceless(said[0]) else count


def _judge_fault(found: _Gatherer, fault: TextFault) -> None:
    """What the witnesses agree on."""
    if fault.kind in _SPOKEN_KINDS:
        inside = {
            k
            for k, w in enumerate(found.check.heard.words)
            if w.span.overlap_s(fault.span) > 0.5 * w.span.duration_s
        }
        if inside and len(inside & found.said) * 2 >= len(inside):
            return
        kind = _of_the_text(found, split_words(fault.words)) or WordsFault.INSERTED
        found.add(kind, fault.words, fault.span, evidence=dict(fault.evidence))
    elif fault.kind is FaultKind.UNSPOKEN:
        concerned = set(range(*fault.word_range))
        if len(concerned & found.moved) * 2 >= len(concerned):
            return
        found.lacking |= concerned
        kind = WordsFault.REPLACED if fault.instead else WordsFault.MISSING
        found.add(kind, fault.words, fault.span, evidence=dict(fault.evidence), instead=fault.instead)
    elif fault.kind is FaultKind.OTHER_WORD:
        written = str(fault.evidence.get("written", ""))
        found.add(
            WordsFault.REPLACED, written, fault.span, evidence=dict(fault.evidence), instead=fault.words
        )
    else:
        found.add(
            WordsFault.REPLACED,
            found.check.given.text,
            fault.span,
            evidence=dict(fault.evidence),
            instead=fault.words,
        )


def _judge_edges(found: _Gatherer, clip: Clip, aligner: Aligner) -> None:
    """A first or last word that the model finds no trace of: it expects the speech to begin, or end, without it."""
    placed, words = found.check.alignment.words, found.words
    if len(words) < 2 or len(placed) != len(words) or not found.check.coverage.speech:
        return
    if any(f.fault in (WordsFault.REORDERED, WordsFault.REPEATED) for f in found.faults):
        return  # the alignment of a text that is not said in order says nothing
    known = {g for g, _ in found.comparison.pairs}
    for index, rest, ask in (
        (len(words) - 1, words[:-1], aligner.end_probability),
        (0, words[1:], aligner.start_share),
    ):
        word = placed[index]
        # A word that the recogniser hears may be its guess; with a length it is none.
        if index in found.lacking or word.probability >= _LOST_PROBABILITY:
            continue
        if index in known and not is_unspoken(word):
            continue
        if index and clip.duration_s > MAX_INTERVAL_S:
            continue  # the model hears one window, from the start
        share = ask(clip, join_words(rest), language=found.language)
        if share is not None and _is_lost(share, word.probability, is_end=index > 0, is_heard=index in known):
            found.add(
                WordsFault.MISSING,
                words[index],
                word.span,
                evidence={
                    "forced_probability": round(word.probability, 3),
                    "without_it": round(share, 3),
                },
            )


def _is_lost(share: float, probability: float, *, is_end: bool, is_heard: bool) -> bool:
    """The speech ends, or begins, without the word rather than with it."""
    if share >= _SURE:
        return True
    # The share of a beginning is not its probability: it cannot be held against that of a word.
    return is_end and not is_heard and share >= max(_NOT_UNLIKELY, _LIKELIER * probability)
