"""Clip, text, reference -> the words of the reference that stand at an edge of the clip.

Three witnesses: the recogniser hears words there that the text lacks and the reference has; the model, made to say them
with the text, finds that likelier than the text alone; and the sound is that of the reference, frame by frame. A text that
itself begins (ends) with such words explains them, unless they are said twice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from refprep.pipeline.align import align_text
from refprep.pipeline.transcribe import MAX_INTERVAL_S
from refprep.protocols import Aligner
from refprep.scoring.cut import find_cut
from refprep.scoring.echo import Echo, cepstra, find_echo
from refprep.scoring.match import Match, best_match, is_beginning, is_ending, letters
from refprep.scoring.target import ScoreTarget
from refprep.text.compare import Comparison
from refprep.text.words import join_words
from refprep.types import Alignment, Clip, LeakedWords, OutputEdge, Span, Transcript, Word

_REACH_S = 4.0  # longest leak that the sound alone is searched for
_MOST_WORDS = 4  # longest leak that the model is asked about without anybody hearing it
_LEAST_PROBABILITY = 1e-4
# The model is asked about leaked words only where it doubts that the text begins, or ends, there.
_SURE_START = 0.9
_SURE_END = 0.6
# Natural logarithms of how much likelier leaked words make what is heard. A text that the model would not begin with gets
# likelier by any word before it: the word has to be likely, too.
_LIKELY = 1.5
_LIKELY_WORD = 0.3
_NOT_UNLIKELY = -6.0
_HEARD = 0.8
_HEARD_LETTERS = 4
# Copies measure 0.0 (frames fall alike) to 0.6 (they fall between each other). Of 172 edges of clips against others of their
# reader none reaches the gain of the second pair (13.4 at most), nor the distance of the first with its gain (0.56 at least).
_COPY, _COPY_GAIN = 0.5, 6.0
_LONG_COPY, _LONG_COPY_GAIN = 0.8, 20.0
_ALIKE = 0.8
_ALIKE_GAIN = 10.0
_EARLY_S, _LATE_S = 0.12, 0.25  # around the end of an echo, or of an aligned word
_FADING_S = 0.4


@dataclass(frozen=True, slots=True)
class _Case:
    """One edge of one clip, and everything known of it."""

    edge: OutputEdge
    clip: Clip
    speech: tuple[Span, ...]
    edged: tuple[Span, ...]
    text: Sequence[str]
    heard: Transcript
    beyond: Sequence[Word]
    target: ScoreTarget
    aligner: Aligner
    language: str

    @property
    def is_head(self) -> bool:
        return self.edge is OutputEdge.HEAD

    def align(self, words: Sequence[str]) -> Alignment:
        """The text with words before (after) it, forced onto the clip."""
        said = [*words, *self.text] if self.is_head else [*self.text, *words]
        return align_text(
            self.clip, join_words(said), self.speech, self.aligner, heard=self.heard, language=self.language
        )

    def doubt(self, words: Sequence[str] = ()) -> float:
        """Probability that the speech begins (ends) with these words and the text; 1.0 where the model cannot tell."""
        if not self.is_head and self.clip.duration_s > MAX_INTERVAL_S:
            return 1.0  # the model hears one window, from the start
        said = [*words, *self.text] if self.is_head else [*self.text, *words]
        ask = self.aligner.start_share if self.is_head else self.aligner.end_probability
        found = ask(self.clip, join_words(said), language=self.language)
        return 1.0 if found is None else found


@dataclass(frozen=True, slots=True)
class _Candidate:
    """Words of the reference that may stand at the edge."""

    words: tuple[str, ...]
    likelihood: float
    alignment: Alignment
    is_heard: bool

    def placed(self, edge: OutputEdge) -> tuple[Word, ...]:
        """The leaked words in the audio."""
        words, count = self.alignment.words, len(self.words)
        return words[:count] if edge is OutputEdge.HEAD else words[-count:]

    def word_probability(self, edge: OutputEdge) -> float:
        """Mean over the leaked words."""
        placed = self.placed(edge)
        return sum(w.probability for w in placed) / len(placed)


@dataclass(frozen=True, slots=True)
class _Plain:
    """Logarithms of how likely the text alone is, and the end behind it."""

    words: float
    end: float


def find_leaks(
    clip: Clip,
    speech: Sequence[Span],
    edged: Sequence[Span],
    text: Sequence[str],
    heard: Transcript,
    comparison: Comparison,
    target: ScoreTarget,
    aligner: Aligner,
    *,
    language: str,
) -> tuple[LeakedWords, ...]:
    """Find words of the reference at the head and at the tail.

    Args:
        clip: The output.
        speech: Its voice activity; not empty.
        edged: The same, cut at short pauses.
        text: Words it was to say.
        heard: Free transcription.
        comparison: Of the text and what is heard.
        target: The voice and its reference.
        aligner: Forces text onto audio.
        language: BCP 47.

    Returns:
        At most one for each edge, the head first.
    """
    first = min((h for _, h in comparison.pairs), default=0)
    last = max((h for _, h in comparison.pairs), default=len(heard.words) - 1) + 1
    found = []
    for edge, beyond in ((OutputEdge.HEAD, heard.words[:first]), (OutputEdge.TAIL, heard.words[last:])):
        case = _Case(edge, clip, tuple(speech), tuple(edged), text, heard, beyond, target, aligner, language)
        leak = _find(case)
        if leak is not None:
            found.append(leak)
    return tuple(found)


def _find(case: _Case) -> LeakedWords | None:
    echo = _echo(case)
    copied = _echoed_words(case, echo) if echo is not None else ()
    match = _heard_match(case)
    reference = tuple(w.text for w in case.target.words)
    heard = reference[match.first : match.last] if match is not None else ()
    if copied and " ".join(copied) in " ".join(heard):
        copied = heard  # the aligner may put half of a word outside of the echo
    # Where everything heard is the text's, nobody guesses: a name it would not begin with costs the model more than any
    # word before the name.
    if not heard and not copied and not case.beyond:
        return None
    share = case.doubt()
    if not heard and not copied and share >= (_SURE_START if case.is_head else _SURE_END):
        return None
    plain = _Plain(_log_probability(case.align(()).words), 0.0 if case.is_head else _log(share))
    # The better a witness, the earlier its words are asked about: every question costs a pass of the model.
    if echo is not None and copied:
        candidate = _candidate(case, copied, plain)
        is_sure = is_copy(echo) or candidate.likelihood >= _NOT_UNLIKELY
        if is_sure and not _is_explained(case, candidate):
            return _leak_of(case, candidate, echo)
    if heard:
        candidate = _candidate(case, heard, plain, is_heard=True)
        if candidate.likelihood >= _NOT_UNLIKELY and not _is_explained(case, candidate):
            return _leak_of(case, candidate, None)
    if not case.beyond or share >= (_SURE_START if case.is_head else _SURE_END):
        return None
    guesses = [_candidate(case, phrase, plain) for phrase in _guesses(case, reference)]
    best = max(guesses, key=lambda c: c.likelihood)
    is_likely = best.likelihood >= _LIKELY and best.word_probability(case.edge) >= _LIKELY_WORD
    return _leak_of(case, best, None) if is_likely and not _is_explained(case, best) else None


# ---------------------------------------------------------------- the three witnesses


def _echo(case: _Case) -> Echo | None:
    sound = cepstra(case.clip.samples, case.clip.sample_rate_hz)
    start_s, end_s = case.edged[0].start_s, case.edged[-1].end_s
    if case.is_head:
        found = find_echo(sound.cut(start_s, min(end_s, start_s + _REACH_S)), case.target.sound)
    else:
        found = find_echo(
            sound.cut(max(start_s, end_s - _REACH_S), end_s).reversed(), case.target.sound.reversed()
        )
    return found if found is not None and (is_copy(found) or _is_alike(found)) else None


def is_copy(echo: Echo) -> bool:
    """No clip sounds so by chance: the witness needs no other."""
    is_long = echo.distance <= _LONG_COPY and echo.gain >= _LONG_COPY_GAIN
    return is_long or (echo.distance <= _COPY and echo.gain >= _COPY_GAIN)


def _is_alike(echo: Echo) -> bool:
    return echo.distance <= _ALIKE and echo.gain >= _ALIKE_GAIN


def _echoed_words(case: _Case, echo: Echo) -> tuple[str, ...]:
    """Words of the reference of which half and more lies in the echo; the nearest one where it is none's half."""
    source = echo.source
    if not case.is_head:
        whole_s = case.target.sound.frames.shape[0] * 0.01
        source = Span(max(0.0, whole_s - source.end_s), max(0.0, whole_s - source.start_s))
    words = case.target.words
    inside = [w.text for w in words if w.span.overlap_s(source) >= 0.5 * max(w.span.duration_s, 0.02)]
    if inside:
        return tuple(inside)
    most = max(words, key=lambda w: w.span.overlap_s(source))
    return (most.text,) if most.span.overlap_s(source) > 0.0 else ()


def _heard_match(case: _Case) -> Match | None:
    """Words of the reference in what is heard beyond the text; a misheard word of the text may stand between."""
    texts = [w.text for w in case.beyond]
    reference = [w.text for w in case.target.words]
    best: Match | None = None
    for size in range(len(texts), 0, -1):
        part = texts[:size] if case.is_head else texts[len(texts) - size :]
        found = best_match(part, reference, case.language)
        if found is None or found.similarity < _HEARD:
            continue
        is_edge = found.last == len(reference) or found.first == 0
        # A short word is found anywhere; at the end of the reference it says something.
        if len(letters(part, case.language)) < _HEARD_LETTERS and not is_edge:
            continue
        if best is None or found.similarity > best.similarity + 0.1:
            best = found
    return best


def _guesses(case: _Case, reference: tuple[str, ...]) -> list[tuple[str, ...]]:
    """What may have leaked though nobody hears it: the last words of the reference; behind the text, the first ones, too."""
    most = min(_MOST_WORDS, len(reference))
    phrases = [reference[-n:] for n in range(1, most + 1)]
    if not case.is_head:
        phrases += [reference[:n] for n in range(1, most + 1)]
    return list(dict.fromkeys(phrases))


def _candidate(case: _Case, words: tuple[str, ...], plain: _Plain, *, is_heard: bool = False) -> _Candidate:
    alignment = case.align(words)
    likelihood = _log_probability(alignment.words) - plain.words
    if not case.is_head:
        likelihood += _log(case.doubt(words)) - plain.end
    return _Candidate(words, likelihood, alignment, is_heard)


def _log_probability(words: Sequence[Word]) -> float:
    return sum(_log(w.probability) for w in words)


def _log(probability: float) -> float:
    return math.log(max(probability, _LEAST_PROBABILITY))


def _is_explained(case: _Case, candidate: _Candidate) -> bool:
    """The text itself begins (ends) with the words, and they are said no second time."""
    if case.is_head:
        is_same = is_beginning(candidate.words, case.text, case.language)
    else:
        is_same = is_ending(candidate.words, case.text, case.language)
    return is_same and not (candidate.is_heard and candidate.likelihood >= _LIKELY)


# ---------------------------------------------------------------- where


def _leak_of(case: _Case, candidate: _Candidate, echo: Echo | None) -> LeakedWords:
    placed, count = candidate.alignment.words, len(candidate.words)
    if echo is not None:
        around, near_s = _around_echo(case, echo)
    elif case.is_head:
        around, near_s = _between(placed[count - 1 : count + 1])
    else:
        around, near_s = _between(placed[-count - 1 : len(placed) - count + 1])
    cut_s = find_cut(case.clip, case.edged, around, near_s=near_s)
    start_s, end_s = case.edged[0].start_s, case.edged[-1].end_s
    span = Span(min(start_s, cut_s), cut_s) if case.is_head else Span(cut_s, max(cut_s, end_s))
    evidence: dict[str, float | str] = {
        "log_likelihood_gain": round(candidate.likelihood, 2),
        "forced_probability": round(candidate.word_probability(case.edge), 3),
    }
    if case.beyond:
        evidence["heard"] = join_words(w.text for w in case.beyond)
    if echo is not None:
        evidence |= {"echo_distance": round(echo.distance, 3), "echo_gain": round(echo.gain, 1)}
    return LeakedWords(case.edge, join_words(candidate.words), span, cut_s, evidence)


def _around_echo(case: _Case, echo: Echo) -> tuple[Span, float]:
    """An echo fades before the last word does: where that ends the reference, it goes on for as long as the reference does."""
    left_s = case.target.speech_end_s - echo.source.end_s if case.is_head else 0.0
    reach_s = echo.span.end_s + (left_s if 0.0 < left_s <= _FADING_S else 0.0)
    if case.is_head:
        near_s = case.edged[0].start_s + reach_s
        return Span(max(0.0, near_s - _EARLY_S), near_s + _LATE_S), near_s
    near_s = max(0.0, case.edged[-1].end_s - reach_s)
    return Span(max(0.0, near_s - _LATE_S), near_s + _EARLY_S), near_s


def _between(words: Sequence[Word]) -> tuple[Span, float]:
    """From the middle of one word to the middle of the next, and where the aligner parts them."""
    before, after = words[0].span, words[-1].span
    # Long words have closures of their own.
    low_s = max((before.start_s + before.end_s) / 2, before.end_s - _LATE_S)
    high_s = max(low_s, min((after.start_s + after.end_s) / 2, after.start_s + _LATE_S))
    return Span(low_s, high_s), min(max(before.end_s, low_s), high_s)
