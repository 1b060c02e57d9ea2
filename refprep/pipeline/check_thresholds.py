"""Where the verdict on a text turns, and the measurements behind it.

Set on the 273 labelled cases of the speech pack and, for single and paired words, on 430 more made from 78 clips of it
that those cases do not use (words cut off one end, out of the middle, or put in), with Whisper base in float32.
``refprep bench lint`` measures any labelled set.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a stretch of heard words that stand alone needs to be believed."""

    letters: float
    heard_probability: float
    voice_s: float


@dataclass(frozen=True, slots=True)
class CheckThresholds:
    """Where the verdict turns.

    Attributes:
        surplus_letters: Heard letters beyond the given ones that make a missing stretch on their own. Good texts reach
            5 (a misheard rare word); the shortest missing two words measured have 5 to 7.
        weak_surplus_letters: The same with the voice activity as second witness.
        uncovered_edge_s: Voice after the last (before the first) aligned word that supports a weak surplus.
        gap_surplus_letters: As surplus_letters, between words that agree: recognisers repeat words there.
        heard_probability: Mean probability below which the recogniser does not know what it heard.
        doubtful_probability: The same for a strong surplus that uncovered voice supports.
        sure_probability: The same for a weak surplus.
        agreement_elsewhere: Letters alike outside a missing stretch below which the recogniser, wrong about the rest of
            the clip, proves nothing about this part (true missing words 0.70 and more, noise 0.54).
        reliable_agreement: The same from which whole words that only one text has are believed on little else.
        left_out_at_edge, left_out_inside: Two whole words or more that only the recogniser has.
        left_out_word_at_edge, left_out_long_word_at_edge, left_out_word_inside: One such word. Recognisers put in short
            words of their own (good texts: up to 4 letters, 0.14 s, probability 0.89, inside; none at an edge).
        end_probability: Probability that the speech ends with the text below which words heard after it are believed
            (full texts 0.82 and more, texts without their last word 0.19 and less).
        misheard_end_probability: The same where the text's own last words are misheard as well.
        start_share: Probability of the text's beginning over that of the likeliest one, below which words heard before it
            are believed.
        misheard_start_share: The same where the text's own first words are misheard as well.
        next_share: Forced probability of the word behind a gap over what it has where the words in the gap are said,
            below which two words or more in it are believed.
        gap_heard_probability: Mean probability that those words have at least.
        unspoken_letters: Given letters beyond the heard ones that make a stretch nobody says (twice as many without
            squeezed words).
        put_in_probability: Mean forced probability below which whole words that only the text has are unspoken.
        unspoken_probability: Mean forced probability such a stretch stays below.
        lost_probability: Forced probability of each of the last words of a text that nobody says.
        wrong_similarity: Letters alike below which it is another text (other clips reach 0.23, the worst good pair
            that the recogniser understood 0.62).
        wrong_probability: Mean forced probability of another text (0.13 at most in most; good ones 0.32 and more).
        wrong_mean_probability, wrong_median_probability: The same for texts of many common words (median of the words of
            another text 0.02 at most in most; good ones 0.2 and more).
        wrong_min_words: Fewer heard words than this prove no other text.
        squeezed_similarity, squeezed_probability: The same for a text with words that got neither time nor probability
            (in no good pair with so few letters alike).
        pass_similarity, pass_probability: Either of them accounts for the speech, the second one not where the
            recogniser hears something else altogether (less than ``pass_least_similarity``).
        unexplained_s: Voice after the last aligned word that cannot pass without words (good pairs: 0.56 at most).
        other_word_probability: Forced probability of a written word that is not the spoken one.
        other_word_heard_probability: Probability of the spoken one from which it counts.
        other_word_letters, other_word_similarity: Words this long and this unlike are no slip of the recogniser.
        bridge_s: Pauses between words that count as covered.
    """

    surplus_letters: float = 6.0
    weak_surplus_letters: float = 3.0
    uncovered_edge_s: float = 0.35
    gap_surplus_letters: float = 7.0
    heard_probability: float = 0.6
    doubtful_probability: float = 0.4
    sure_probability: float = 0.75
    agreement_elsewhere: float = 0.62
    reliable_agreement: float = 0.75
    left_out_at_edge: LeftOut = LeftOut(letters=3.0, heard_probability=0.4, voice_s=0.15)
    left_out_inside: LeftOut = LeftOut(letters=3.0, heard_probability=0.65, voice_s=0.2)
    left_out_word_at_edge: LeftOut = LeftOut(letters=3.0, heard_probability=0.55, voice_s=0.18)
    left_out_long_word_at_edge: LeftOut = LeftOut(letters=3.0, heard_probability=0.33, voice_s=0.3)
    left_out_word_inside: LeftOut = LeftOut(letters=6.0, heard_probability=0.9, voice_s=0.3)
    end_probability: float = 0.3
    misheard_end_probability: float = 0.05
    start_share: float = 0.1
    misheard_start_share: float = 0.02
    next_share: float = 0.15
    gap_heard_probability: float = 0.5
    unspoken_letters: float = 4.0
    unspoken_probability: float = 0.15
    put_in_probability: float = 0.2
    lost_probability: float = 0.05
    wrong_similarity: float = 0.4
    wrong_probability: float = 0.15
    wrong_mean_probability: float = 0.3
    wrong_median_probability: float = 0.1
    wrong_min_words: int = 4
    squeezed_similarity: float = 0.3
    squeezed_probability: float = 0.2
    pass_similarity: float = 0.75
    pass_probability: float = 0.5
    pass_least_similarity: float = 0.4
    unexplained_s: float = 0.7
    other_word_probability: float = 0.05
    other_word_heard_probability: float = 0.65
    other_word_letters: int = 4
    other_word_similarity: float = 0.6
    bridge_s: float = 0.5


DEFAULT_THRESHOLDS = CheckThresholds()
