"""What the three witnesses say of one text and one clip, and the questions put to them.

``refprep.pipeline.check`` says who they are; ``check_thresholds`` where each answer turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from refprep.pipeline.check_thresholds import CheckThresholds, LeftOut
from refprep.pipeline.coverage import is_unspoken
from refprep.pipeline.place import place_words
from refprep.pipeline.repeats import copy_fault, repeated_words
from refprep.text.compare import Comparison, Difference
from refprep.text.normalise import fold
from refprep.text.words import is_spaceless, join_words
from refprep.types import Alignment, Coverage, FaultKind, Span, TextFault, Transcript, Word


@dataclass(frozen=True, slots=True)
class Witnesses:
    """Everything the witnesses said, and the questions put to them."""

    given: Transcript
    heard: Transcript
    alignment: Alignment
    speech: Sequence[Span]
    edges: Sequence[Span]
    duration_s: float
    words: list[str]
    comparison: Comparison
    coverage: Coverage
    limits: CheckThresholds

    # ------------------------------------------------------------------ faults

    def faults(self) -> list[TextFault]:
        """Every place where the witnesses agree that text and audio part, in no order."""
        if not self.speech:
            return [self._nothing_spoken()] if self.words else []
        if not self.words:
            return [self._nothing_written()] if self.heard.words else []
        if self._is_other_text():
            return [self._other_text()]
        found = [f for d in self._stretches() if (f := self._missing(d)) is not None]
        found += [f for d in self.comparison.extra if (f := self._unspoken(d)) is not None]
        found += [f for d in self.comparison.differences if (f := self._other_word(d)) is not None]
        told = [f.word_range for f in found if f.kind is FaultKind.UNSPOKEN]
        repeated = repeated_words(self.words, [w.text for w in self.heard.words], self.alignment.words)
        return found + [
            copy_fault(self.alignment.words, *cut)
            for cut in repeated
            if not any(first < cut[1] and cut[0] < last for first, last in told)
        ]

    def _nothing_spoken(self) -> TextFault:
        return TextFault(
            FaultKind.UNSPOKEN,
            Span(0.0, self.duration_s),
            self.given.text,
            (0, len(self.words)),
            {"speech_s": 0.0},
        )

    def _nothing_written(self) -> TextFault:
        span = Span(self.speech[0].start_s, self.speech[-1].end_s)
        return TextFault(
            FaultKind.TAIL, span, self.heard.text, (0, 0), self._evidence(0, len(self.heard.words), span)
        )

    def _is_other_text(self) -> bool:
        """Two witnesses agree: little of it is heard, and the aligner finds no place for it.

        The recogniser is believed when it is sure of several words; else words squeezed to nothing speak for themselves.
        """
        alike, forced = self.comparison.letter_similarity, self.alignment.mean_probability
        finds_no_place = forced < self.limits.wrong_probability or (
            # Words such as "of the" are likely anywhere; half of the words of another text are not.
            forced < self.limits.wrong_mean_probability
            and self.alignment.median_probability < self.limits.wrong_median_probability
        )
        is_heard_otherwise = (
            alike < self.limits.wrong_similarity
            and finds_no_place
            and self._heard_probability(0, len(self.heard.words)) >= self.limits.heard_probability
            and self.comparison.num_heard_tokens >= self.limits.wrong_min_words
        )
        is_squeezed = (
            alike < self.limits.squeezed_similarity
            and forced < self.limits.squeezed_probability
            and any(is_unspoken(w) for w in self.alignment.words)
        )
        return is_heard_otherwise or is_squeezed

    def _other_text(self) -> TextFault:
        span = Span(self.speech[0].start_s, self.speech[-1].end_s)
        evidence = {
            "letter_similarity": round(self.comparison.letter_similarity, 3),
            "forced_probability": round(self.alignment.mean_probability, 3),
            "heard_probability": round(self._heard_probability(0, len(self.heard.words)), 3),
        }
        return TextFault(FaultKind.WRONG_TEXT, span, self.heard.text, (0, len(self.words)), evidence)

    def _stretches(self) -> list[Difference]:
        """Stretches that may be missing: those with a surplus of letters, and at the edges any heard words beyond the text."""
        missing = list(self.comparison.missing)
        for d in self.comparison.differences:
            is_new = not any(m.heard[0] < d.heard[1] and d.heard[0] < m.heard[1] for m in missing)
            has_more = len(d.heard_only) > len(d.given_only)
            if is_new and has_more and self._edge(*d.heard) is not FaultKind.GAP:
                missing.append(d)
        return missing

    def _edge(self, first: int, last: int) -> FaultKind:
        """Where a stretch of heard words lies: after all words the texts share, before them, or between."""
        if not any(h >= last for _, h in self.comparison.pairs):
            return FaultKind.TAIL
        return FaultKind.HEAD if not any(h < first for _, h in self.comparison.pairs) else FaultKind.GAP

    def _missing(self, difference: Difference) -> TextFault | None:
        """Words that are spoken and not written, if the witnesses agree on them."""
        first, last = self._surplus_words(difference)
        if first == last or difference.agreement_elsewhere < self.limits.agreement_elsewhere:
            return None
        kind = self._edge(first, last)
        span = place_words(self.heard.words, first, last, self.edges)
        evidence = self._evidence(first, last, span)
        evidence["surplus_letters"] = difference.surplus_letters
        if not (
            self._has_surplus(kind, difference, first, last)
            or self._is_left_out(kind, difference, span)
            or self._is_expected(kind, difference)
        ):
            return None
        if kind is FaultKind.GAP and self._is_loop(first, last):
            return None
        exchanged = self._is_exchanged(difference)
        if exchanged:
            first, last = difference.heard
        words = self._heard_text(difference, first, last)
        return TextFault(kind, span, words, difference.given, evidence, instead=words if exchanged else "")

    def _has_surplus(self, kind: FaultKind, difference: Difference, first: int, last: int) -> bool:
        """Many letters are heard beyond those given, or some, and voice that no aligned word covers."""
        surplus, probability = difference.surplus_letters, self._heard_probability(first, last)
        if kind is FaultKind.GAP:
            return (
                surplus >= self.limits.gap_surplus_letters
                and len(difference.heard_only) >= 2
                and probability >= self.limits.heard_probability
            )
        edge_s = self.coverage.tail_gap_s if kind is FaultKind.TAIL else self.coverage.head_gap_s
        has_voice = edge_s >= self.limits.uncovered_edge_s
        if surplus >= self.limits.surplus_letters:
            return probability >= (
                self.limits.doubtful_probability if has_voice else self.limits.heard_probability
            )
        return (
            has_voice
            and surplus >= self.limits.weak_surplus_letters
            and probability >= self.limits.sure_probability
        )

    def _is_expected(self, kind: FaultKind, difference: Difference) -> bool:
        """The model, made to say the text, expects what is heard beyond it."""
        limits, is_misheard = self.limits, bool(difference.given_only)
        if is_misheard and len(difference.heard_only) <= len(difference.given_only):
            return False  # no more words than the text has there, only others
        if kind is FaultKind.TAIL:
            end = self.alignment.end_probability
            return end is not None and end < (
                limits.misheard_end_probability if is_misheard else limits.end_probability
            )
        if kind is FaultKind.HEAD:
            share = self.alignment.start_share
            return share is not None and share < (
                limits.misheard_start_share if is_misheard else limits.start_share
            )
        given, heard = difference.given[1], difference.heard[1]
        if is_misheard or _count_words(difference.heard_only) < 2 or given >= len(self.alignment.words):
            return False
        if self._heard_probability(*difference.heard) < limits.gap_heard_probability:
            return False
        behind = self.alignment.words[given].probability
        return behind < limits.next_share * self._heard_probability(heard, heard + 1)

    def _is_left_out(self, kind: FaultKind, difference: Difference, span: Span) -> bool:
        """Whole words are heard between words that agree, by a recogniser that is right about the rest of the clip."""
        if difference.given_only or difference.agreement_elsewhere < self.limits.reliable_agreement:
            return False
        count, probability = _count_words(difference.heard_only), self._heard_probability(*difference.heard)
        voice_s = sum(s.overlap_s(span) for s in self.speech)
        limits = self.limits
        enough: tuple[LeftOut, ...] = ()
        if kind is FaultKind.GAP:
            enough = (limits.left_out_inside if count >= 2 else limits.left_out_word_inside,)
        elif count >= 2:
            enough = (limits.left_out_at_edge,)
        elif count >= 1:
            enough = (limits.left_out_word_at_edge, limits.left_out_long_word_at_edge)
        return any(
            difference.surplus_letters >= least.letters
            and probability >= least.heard_probability
            and voice_s >= least.voice_s
            for least in enough
        )

    def _is_exchanged(self, difference: Difference) -> bool:
        """The written words of a missing stretch are not spoken either: others stand in their place."""
        placed = self.alignment.words[slice(*difference.given)]
        if not placed or not difference.given_only:
            return False
        return sum(w.probability for w in placed) / len(placed) < self.limits.unspoken_probability

    def _is_loop(self, first: int, last: int) -> bool:
        """The recogniser repeats the word beside the stretch: it does that in pauses and over hesitations."""
        said = {fold(self.heard.words[k].text) for k in range(first, last)}
        beside = {fold(self.heard.words[k].text) for k in (first - 1, last) if 0 <= k < len(self.heard.words)}
        return len(said) == 1 and said <= beside

    def _surplus_words(self, difference: Difference) -> tuple[int, int]:
        """The heard words of a difference that nothing in the text stands for."""
        first, last = difference.heard
        if difference.given[0] == difference.given[1] or not difference.given_only:
            return first, last
        if self._edge(first, last) is FaultKind.HEAD:
            # Here the misheard words close the stretch.
            end, letters = first, 0
            while end < last and letters < difference.surplus_letters:
                letters += sum(ch.isalnum() for ch in self.heard.words[end].text)
                end += 1
            return first, end
        # Where a misheard word opens the stretch, the words after it are the missing ones: those behind the place where
        # the aligner puts it, unless it is stretched over them; then as many as make up the surplus of letters.
        placed = self.alignment.words[difference.given[1] - 1 : difference.given[1]]
        if placed and not is_unspoken(placed[0]):
            behind = next((k for k in range(first, last) if self._middle_s(k) > placed[0].span.end_s), last)
            letters = sum(ch.isalnum() for k in range(behind, last) for ch in self.heard.words[k].text)
            if behind > first and letters >= difference.surplus_letters / 2:
                return behind, last
        letters = 0
        start = last
        while start > first and letters < difference.surplus_letters:
            start -= 1
            letters += sum(ch.isalnum() for ch in self.heard.words[start].text)
        return start, last

    def _middle_s(self, index: int) -> float:
        span = self.heard.words[index].span
        return (span.start_s + span.end_s) / 2

    def _unspoken(self, difference: Difference) -> TextFault | None:
        """Words that are written and not spoken, if the witnesses agree on them."""
        if self.heard.words and not self.comparison.pairs:
            return None  # text and recogniser share no word: which of them errs is not for this rule to say
        first, last = difference.given
        h_first, h_last = difference.heard
        if last - first == 1 and h_last - h_first == 1:
            return None  # one word in another's place is OTHER_WORD
        placed = self.alignment.words[first:last]
        if not placed:
            return None
        probability = sum(w.probability for w in placed) / len(placed)
        squeezed = sum(is_unspoken(w) for w in placed)
        is_clear = squeezed >= 2 or (
            probability < self.limits.unspoken_probability
            and (squeezed == len(placed) or -difference.surplus_letters >= self.limits.unspoken_letters * 2)
            and self._heard_probability(0, len(self.heard.words)) >= self.limits.heard_probability
        )
        # Whole words that only the text has, beside a recogniser that is right about the rest of the clip.
        is_put_in = (
            not difference.heard_only
            and difference.agreement_elsewhere >= self.limits.reliable_agreement
            and (squeezed or _count_words(difference.given_only) >= 2)
            and probability < self.limits.put_in_probability
        )
        if not (is_clear or is_put_in):
            lost = self._lost_tail(difference)
            if lost is None:
                return None
            first, h_first = lost, h_last
            placed = self.alignment.words[first:last]
            probability = sum(w.probability for w in placed) / len(placed)
        span = Span(min(w.span.start_s for w in placed), max(w.span.end_s for w in placed))
        evidence: dict[str, float | str] = {
            "forced_probability": round(probability, 3),
            "words_of_no_length": float(squeezed),
            "surplus_letters": difference.surplus_letters,
        }
        instead = join_words(w.text for w in self.heard.words[h_first:h_last])
        unspoken = join_words(self.words[first:last])
        return TextFault(FaultKind.UNSPOKEN, span, unspoken, (first, last), evidence, instead)

    def _lost_tail(self, difference: Difference) -> int | None:
        """First of the last two or more words of the text that get no probability, one of them no time either.

        They may follow a misheard word, so that the recogniser alone cannot tell them from it.
        """
        first, last = difference.given
        if last != len(self.words) or len(self.alignment.words) != last:
            return None
        start = last
        while start > first and self.alignment.words[start - 1].probability < self.limits.lost_probability:
            start -= 1
        tail = self.alignment.words[start:last]
        return start if len(tail) >= 2 and any(is_unspoken(w) for w in tail) else None

    def _other_word(self, difference: Difference) -> TextFault | None:
        """A written word in whose place another one is clearly spoken."""
        (first, last), (h_first, h_last) = difference.given, difference.heard
        if (
            last - first != 1
            or h_last - h_first != 1
            or not (difference.given_only and difference.heard_only)
        ):
            return None
        written, spoken = self.words[first], self.heard.words[h_first]
        probability = self.alignment.words[first].probability if first < len(self.alignment.words) else 1.0
        is_number = all(any(ch.isdigit() for ch in w) for w in (written, spoken.text))
        if not is_number and (
            # Recognisers trade short words and near spellings; those are not worth a finding.
            min(len(fold(written)), len(fold(spoken.text))) < self.limits.other_word_letters
            or difference.similarity >= self.limits.other_word_similarity
            or probability >= self.limits.other_word_probability
        ):
            return None
        if spoken.probability < self.limits.other_word_heard_probability:
            return None
        evidence: dict[str, float | str] = {
            "written": written,
            "forced_probability": round(probability, 3),
            "heard_probability": round(spoken.probability, 3),
        }
        return TextFault(FaultKind.OTHER_WORD, spoken.span, spoken.text, (first, last), evidence)

    # ------------------------------------------------------------------ doubt

    def doubt(self) -> str:
        """Why a text without faults cannot pass; empty when it can."""
        if not self.speech or not self.words:
            return ""
        heard = self._heard_probability(0, len(self.heard.words))
        forced = self.alignment.mean_probability
        similarity = self.comparison.letter_similarity
        if not self.heard.words:
            return "there is voice, but the recogniser hears no words; a larger model or a cleaner take would decide"
        if self.coverage.tail_gap_s > self.limits.unexplained_s:
            return (
                f"{self.coverage.tail_gap_s:.2f} s of voice follow the last word and the recogniser hears no words in "
                "them; listen to the end, or decide with a larger model"
            )
        if similarity >= self.limits.pass_similarity:
            return ""
        if forced >= self.limits.pass_probability and similarity >= self.limits.pass_least_similarity:
            return ""
        if heard < self.limits.heard_probability:
            return (
                f"the recogniser does not understand the audio (mean probability {heard:.2f}); a larger model or a "
                "cleaner take would decide"
            )
        return (
            f"recogniser and text agree on only {similarity:.0%} of the letters, yet the text fits the audio better than "
            f"another would (probability {forced:.2f}); a larger model would decide"
        )

    # ------------------------------------------------------------------ parts

    def _heard_probability(self, first: int, last: int) -> float:
        words: tuple[Word, ...] = self.heard.words[first:last]
        return sum(w.probability for w in words) / len(words) if words else 0.0

    def _heard_text(self, difference: Difference, first: int, last: int) -> str:
        partly = {h for _, h in self.comparison.pairs if first <= h < last}
        if partly and difference.given[0] == difference.given[1] and last - first <= len(partly):
            return " ".join(difference.heard_only)  # part of one written word, such as 9-0-21-0
        return join_words(self.heard.words[k].text for k in range(first, last))

    def _evidence(self, first: int, last: int, span: Span) -> dict[str, float | str]:
        uncovered_s = sum(u.overlap_s(span) for u in self.coverage.uncovered)
        expected = {
            "start_share": self.alignment.start_share if first == 0 else None,
            "end_probability": self.alignment.end_probability if last == len(self.heard.words) else None,
        }
        return {
            "heard_words": float(last - first),
            "heard_probability": round(self._heard_probability(first, last), 3),
            "uncovered_voice_s": round(uncovered_s, 3),
            **{name: round(value, 3) for name, value in expected.items() if value is not None},
        }


def _count_words(tokens: Sequence[str]) -> float:
    """Words; a character of a script without spaces is half a word, on the average of Chinese and Japanese."""
    return sum(0.5 if is_spaceless(token[0]) else 1.0 for token in tokens)
