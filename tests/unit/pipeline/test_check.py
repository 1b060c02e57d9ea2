"""Text against scripted speech: what three witnesses say together, and what one alone may not."""

from __future__ import annotations

import pytest
from fakes import FakeAsr, FakeVoiceActivity, evenly, noise_clip, spoken, voiced_clip
from hypothesis import example, given, settings
from hypothesis import strategies as st

from refprep.pipeline.check import check_text
from refprep.pipeline.listen import Listener
from refprep.text.words import join_words, split_words
from refprep.types import Alignment, FaultKind, Origin, Span, TextCheck, Transcript, Verdict, Word

SAID = "It was the best of times it was the worst of times it was the age of wisdom"
WORD_S, START_S = 0.4, 0.5


def paced(text: str, start_s: float = START_S):
    return [(w, start_s + k * WORD_S, start_s + (k + 1) * WORD_S) for k, w in enumerate(split_words(text))]


def listen(text: str, said: str, *, language: str = "en", speech=None) -> TextCheck:
    """What the Listener says of a text, where the recogniser hears exactly what is said."""
    script = paced(said)
    end_s = script[-1][2] if script else 2.0
    spans = speech if speech is not None else [Span(START_S, end_s)]
    clip = voiced_clip(end_s + 0.5, spans, sample_rate_hz=1000, seed=len(said))
    asr = FakeAsr({clip.id: script}, language=language)
    return Listener(FakeVoiceActivity({clip.id: spans}), asr, asr).check(clip, text, language=language)


def weigh(
    text: str,
    heard: str,
    *,
    forced: dict[int, tuple[float, float]] | None = None,
    forced_p: float = 0.9,
    heard_p: float | dict[int, float] = 0.9,
    speech_end_s: float | None = None,
    last_word_end_s: float | None = None,
    end_p: float | None = None,
    start_share: float | None = None,
) -> TextCheck:
    """check_text with every witness set by hand.

    Args:
        text: Given.
        heard: What the recogniser hears, evenly paced; the aligner places the text at the same pace.
        forced: Index of a written word -> (probability, length).
        forced_p: Forced probability of the other words.
        heard_p: Probability of the heard words, or of some of them.
        speech_end_s: Where voice ends; the longer of the two texts otherwise.
        last_word_end_s: Where the aligner ends the last written word.
        end_p: Probability that the speech ends with the text.
        start_share: Probability of beginning with the text, over that of the likeliest beginning.
    """
    probability = heard_p if isinstance(heard_p, dict) else dict.fromkeys(range(99), heard_p)
    heard_words = tuple(
        Word(w.text, w.span, probability.get(k, 0.9)) for k, w in enumerate(spoken(paced(heard)))
    )
    placed = []
    for k, word in enumerate(spoken(paced(text))):
        p, length_s = (forced or {}).get(k, (forced_p, WORD_S))
        placed.append(Word(word.text, Span(word.span.start_s, word.span.start_s + length_s), p))
    if last_word_end_s is not None:
        placed[-1] = Word(
            placed[-1].text, Span(placed[-1].span.start_s, last_word_end_s), placed[-1].probability
        )
    ends = [w.span.end_s for w in (*heard_words, *placed)]
    end_s = speech_end_s if speech_end_s is not None else max(ends, default=1.0)
    return check_text(
        Transcript(text, "en"),
        Transcript(heard, "en", 1.0, heard_words, Origin.ASR, "fake"),
        Alignment(tuple(placed), "fake", end_p, start_share),
        [Span(START_S, end_s)],
        duration_s=end_s + 0.5,
    )


def only_fault(check: TextCheck):
    (fault,) = check.faults
    return fault


# --------------------------------------------------------------------------- pass


def test_a_text_that_is_what_is_said_passes():
    check = listen(SAID, SAID)
    assert check.verdict is Verdict.PASS
    assert check.faults == ()
    assert check.reason == ""
    assert check.suggested_text == SAID
    assert check.coverage.ratio == 1.0
    assert check.error_rate == 0.0
    assert check.given.origin is Origin.USER
    assert check.heard.text == SAID


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("In 1984 he moved to London town", "In nineteen eighty four he moved to London town"),
        ("In nineteen eighty-four he moved away", "In 1984 he moved away"),
        ("I think that he was there again", "I think um that he was uh there again"),
        ("IT WAS THE BEST -- OF TIMES!", "It was the best of times"),
        ("It’s “fine”, isn't it, Mr. Hale?", "It's fine isn't it mister Hale"),
    ],
)
def test_spelling_numbers_and_fillers_are_no_fault(text, said):
    check = listen(text, said)
    assert check.verdict is not Verdict.FAIL
    assert not [f for f in check.faults if f.kind is not FaultKind.OTHER_WORD]
    assert check.suggested_text == text


# --------------------------------------------------------------------------- fail


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        (SAID.removesuffix(" it was the age of wisdom"), FaultKind.TAIL, "it was the age of wisdom"),
        (SAID.removesuffix(" of wisdom"), FaultKind.TAIL, "of wisdom"),
        ("it was the worst of times it was the age of wisdom", FaultKind.HEAD, "It was the best of times"),
        (SAID.replace(" it was the worst of times", ""), FaultKind.GAP, "it was the worst of times"),
        (SAID + " thank you for listening", FaultKind.UNSPOKEN, "thank you for listening"),
    ],
)
def test_what_is_missing_or_too_much_is_found_and_mended(text, kind, words):
    check = listen(text, SAID)
    assert check.verdict is Verdict.FAIL
    fault = only_fault(check)
    assert fault.kind is kind
    assert check.suggested_text.split() == SAID.split()
    if kind is FaultKind.GAP:
        assert len(fault.words.split()) == len(words.split())
    else:
        assert fault.words == words


def test_the_tail_is_placed_and_measured():
    check = listen("It was the best of times it was the worst of times", SAID)
    fault = only_fault(check)
    last_end_s = START_S + 12 * WORD_S
    assert fault.span.start_s == pytest.approx(last_end_s)
    assert fault.span.end_s == pytest.approx(START_S + 18 * WORD_S)
    assert fault.word_range == (12, 12)
    assert fault.evidence["heard_words"] == 6.0
    assert fault.evidence["heard_probability"] == pytest.approx(0.9)
    assert fault.evidence["uncovered_voice_s"] == pytest.approx(6 * WORD_S, abs=1e-3)
    assert fault.evidence["surplus_letters"] == len("itwastheageofwisdom")
    assert check.coverage.ratio == pytest.approx(12 / 18, abs=1e-6)
    assert check.error_rate == pytest.approx(6 / 18)


def test_the_head_is_placed():
    fault = only_fault(listen("it was the worst of times it was the age of wisdom", SAID))
    assert fault.span.start_s == pytest.approx(START_S)
    assert fault.span.end_s == pytest.approx(START_S + 6 * WORD_S)
    assert fault.word_range == (0, 0)


def test_head_and_tail_can_both_be_missing():
    check = listen("it was the worst of times", "In those days it was the worst of times for everybody")
    assert [f.kind for f in check.faults] == [FaultKind.HEAD, FaultKind.TAIL]
    assert check.suggested_text == "In those days it was the worst of times for everybody"


def test_unspoken_words_have_their_range_and_evidence():
    check = listen(SAID + " thank you for listening", SAID)
    fault = only_fault(check)
    assert fault.word_range == (18, 22)
    assert fault.evidence["words_of_no_length"] == 4.0
    assert fault.evidence["forced_probability"] == pytest.approx(0.01)
    assert check.coverage.unspoken == (18, 19, 20, 21)


def test_another_text():
    check = listen(
        "Printing, in the only sense with which we are at present concerned, differs from most",
        "She had your dark suit in greasy wash water all year and never said",
    )
    assert check.verdict is Verdict.FAIL
    fault = only_fault(check)
    assert fault.kind is FaultKind.WRONG_TEXT
    assert fault.words == check.suggested_text == check.heard.text
    assert fault.evidence["letter_similarity"] < 0.4
    assert fault.word_range == (0, 15)


def test_three_heard_words_prove_no_other_text_unless_the_aligner_finds_no_place():
    text = "Printing, in the only sense"
    stretched = weigh(text, "she had your", forced=dict.fromkeys(range(5), (0.01, 0.3)))
    assert not any(f.kind is FaultKind.WRONG_TEXT for f in stretched.faults)
    squeezed = weigh(text, "she had your", forced={**dict.fromkeys(range(5), (0.01, 0.3)), 4: (0.01, 0.0)})
    assert only_fault(squeezed).kind is FaultKind.WRONG_TEXT


def test_an_other_word_is_a_warning_and_the_verdict_stays():
    check = listen(SAID.replace("wisdom", "elephants"), SAID)
    fault = only_fault(check)
    assert fault.kind is FaultKind.OTHER_WORD
    assert check.verdict is Verdict.PASS
    assert (fault.words, fault.evidence["written"]) == ("wisdom", "elephants")
    assert fault.word_range == (17, 18)
    assert check.suggested_text == SAID


@pytest.mark.parametrize("written", ["elephant", "elephants", "rhinoceroses"])
def test_a_longer_word_in_anothers_place_is_one_fault_and_mended(written):
    """One substitution, however long the written word is: the words beside it stay."""
    check = listen(SAID.replace("worst", written), SAID)
    assert [(f.kind, f.word_range) for f in check.faults] == [(FaultKind.OTHER_WORD, (9, 10))]
    assert check.suggested_text == SAID


@pytest.mark.parametrize(("written", "heard"), [("the", "a"), ("color", "colour"), ("wise", "ties")])
def test_a_slip_of_the_recogniser_is_no_other_word(written, heard):
    text, said = f"{SAID} and {written} men", f"{SAID} and {heard} men"
    forced = {19: (0.2, WORD_S)} if written == "wise" else {19: (0.01, WORD_S)}
    assert weigh(text, said, forced=forced).faults == ()


def test_two_different_numbers_are_an_other_word():
    fault = only_fault(weigh("He was born in 1465 in the town", "He was born in 1455 in the town"))
    assert fault.kind is FaultKind.OTHER_WORD
    assert (fault.evidence["written"], fault.words) == ("1465", "1455")


def test_a_doubtful_heard_word_is_no_other_word():
    text = SAID.replace("wisdom", "elephants")
    assert weigh(text, SAID, forced={17: (0.01, WORD_S)}, heard_p={17: 0.64}).faults == ()
    assert weigh(text, SAID, forced={17: (0.01, WORD_S)}, heard_p={17: 0.66}).faults != ()


def test_an_empty_text_lacks_everything():
    check = listen("", SAID)
    fault = only_fault(check)
    assert check.verdict is Verdict.FAIL
    assert (fault.kind, fault.words, fault.word_range) == (FaultKind.TAIL, SAID, (0, 0))
    assert check.suggested_text == SAID
    assert check.coverage.ratio == 0.0
    assert check.alignment.words == ()


def test_a_text_over_silence_is_unspoken():
    check = listen("Nobody says this", "", speech=[])
    fault = only_fault(check)
    assert check.verdict is Verdict.FAIL
    assert (fault.kind, fault.words, fault.word_range) == (FaultKind.UNSPOKEN, "Nobody says this", (0, 3))
    assert fault.span == Span(0.0, 2.5)
    assert check.suggested_text == ""


def test_nothing_written_and_nothing_said_agree():
    check = listen("", "", speech=[])
    assert (check.verdict, check.faults, check.suggested_text) == (Verdict.PASS, (), "")


# --------------------------------------------------------------------------- undecided


def test_voice_without_heard_words_is_undecided():
    check = weigh("Something is said here", "")
    assert check.verdict is Verdict.UNDECIDED
    assert "hears no words" in check.reason
    assert check.faults == ()
    assert check.suggested_text == "Something is said here"


@pytest.mark.parametrize(("more_s", "verdict"), [(0.65, Verdict.PASS), (0.75, Verdict.UNDECIDED)])
def test_voice_after_the_last_word_cannot_pass_without_words(more_s, verdict):
    end_s = START_S + 18 * WORD_S
    check = weigh(SAID, SAID, speech_end_s=end_s + more_s)
    assert check.verdict is verdict
    assert ("0.75 s of voice follow the last word" in check.reason) == (verdict is Verdict.UNDECIDED)


# Shares about half of its letters with what is heard: no text of another clip, and no agreement.
HALF_ALIKE = "It was a beast of crimes and has a thirst for limes he saw at stage four kingdoms"


def test_a_recogniser_that_does_not_understand_decides_nothing():
    check = weigh(HALF_ALIKE, SAID, forced_p=0.3, heard_p=0.45)
    assert check.verdict is Verdict.UNDECIDED
    assert "does not understand the audio (mean probability 0.45)" in check.reason


def test_two_sure_witnesses_that_disagree_decide_nothing():
    check = weigh(
        "Six spoons of fresh snow peas", "Sticks put on a fret now please", forced_p=0.3, heard_p=0.9
    )
    if check.faults:  # pragma: no cover - the sentence above must not be a fault of its own
        pytest.fail(f"{check.faults}")
    assert check.verdict is Verdict.UNDECIDED
    assert "agree on only" in check.reason
    assert "(probability 0.30)" in check.reason


def test_a_well_placed_text_passes_though_the_recogniser_mishears():
    check = weigh("Six spoons of fresh snow peas", "Sticks put on a fret now please", forced_p=0.6)
    assert check.verdict is Verdict.PASS


# --------------------------------------------------------------------------- one witness alone


def test_heard_words_that_the_recogniser_doubts_are_no_missing_tail():
    said = SAID + " thanks everybody"
    probability = {18: 0.3, 19: 0.3}
    end_s = START_S + 18 * WORD_S
    assert weigh(SAID, said, heard_p=probability, speech_end_s=end_s).verdict is Verdict.PASS
    assert weigh(SAID, said, speech_end_s=end_s).verdict is Verdict.FAIL  # a strong surplus it is sure of


def test_voice_supports_a_strong_surplus_that_the_recogniser_half_doubts():
    said, end_s = SAID + " thanks everybody", START_S + 18 * WORD_S
    doubtful = {18: 0.5, 19: 0.5}
    assert weigh(SAID, said, heard_p=doubtful, speech_end_s=end_s).verdict is Verdict.PASS
    assert weigh(SAID, said, heard_p=doubtful, speech_end_s=end_s + 0.8).verdict is Verdict.FAIL


def test_a_low_forced_probability_alone_is_no_unspoken_word():
    check = weigh(SAID, SAID, forced=dict.fromkeys((8, 9), (0.01, 0.0)))
    assert check.faults == ()
    assert check.verdict is Verdict.PASS


def test_unheard_words_that_the_aligner_finds_are_no_fault():
    assert weigh(SAID + " indeed always", SAID).faults == ()


def test_one_squeezed_word_beside_a_spoken_one_is_no_fault():
    assert weigh(SAID + " indeed always", SAID, forced={18: (0.01, 0.0)}).faults == ()
    both = weigh(SAID + " indeed always", SAID, forced=dict.fromkeys((18, 19), (0.01, 0.0)))
    assert only_fault(both).kind is FaultKind.UNSPOKEN


def test_a_text_that_shares_no_word_with_the_recogniser_is_not_called_unspoken():
    text = "Printing in the only sense concerned"
    assert weigh(text, "yes sir", forced=dict.fromkeys(range(6), (0.01, 0.3))).faults == ()


def test_lost_last_words_are_found_behind_a_misheard_one():
    """ "helstone to him" beside "Houston": the recogniser alone cannot tell them apart."""
    text, said = (
        "accusing people of being shoppy at helstone to him",
        "accusing people of being shoppy at houston",
    )
    check = weigh(text, said, forced={6: (0.3, 0.4), 7: (0.0, 0.6), 8: (0.0, 0.0)})
    fault = only_fault(check)
    assert (fault.kind, fault.words) == (FaultKind.UNSPOKEN, "to him")
    assert check.suggested_text == "accusing people of being shoppy at helstone"


def test_a_misheard_word_before_a_missing_tail_stays_as_it_was_written():
    text, more = SAID.replace("wisdom", "wisdum"), " and everything else besides"
    assert weigh(text, SAID + more).suggested_text == text + more


def test_uncovered_voice_alone_is_no_fault():
    assert weigh(SAID, SAID, speech_end_s=START_S + 18 * WORD_S + 0.6).faults == ()


def test_a_last_word_left_out_needs_voice_and_a_sure_recogniser():
    said, end_s = SAID + " rain", START_S + 19 * WORD_S
    stretched = weigh(
        SAID, said, speech_end_s=end_s, last_word_end_s=end_s
    )  # the aligner covers it with "wisdom"
    for check in (stretched, weigh(SAID, said, speech_end_s=end_s)):
        assert only_fault(check).kind is FaultKind.TAIL
        assert check.suggested_text == said
    before_it_s = START_S + 18 * WORD_S + 0.1
    assert weigh(SAID, said, speech_end_s=before_it_s).faults == ()
    assert weigh(SAID, said, speech_end_s=end_s, heard_p={18: 0.3}).faults == ()


@pytest.mark.parametrize("last", ["I", "so", "me", "rain"])
@pytest.mark.parametrize(
    ("end_p", "found"), [(0.01, True), (0.29, True), (0.31, False), (0.9, False), (None, False)]
)
def test_a_short_last_word_is_believed_where_the_model_does_not_end_with_the_text(last, end_p, found):
    check = weigh(SAID, f"{SAID} {last}", speech_end_s=START_S + 18 * WORD_S, end_p=end_p, heard_p={18: 0.2})
    assert [f.kind for f in check.faults] == ([FaultKind.TAIL] if found else [])
    if found:
        assert only_fault(check).evidence["end_probability"] == end_p
        assert check.suggested_text == f"{SAID} {last}"


@pytest.mark.parametrize("first", ["I", "so", "at"])
@pytest.mark.parametrize(
    ("share", "found"), [(0.001, True), (0.09, True), (0.11, False), (0.8, False), (None, False)]
)
def test_a_short_first_word_is_believed_where_the_model_would_not_begin_with_the_text(first, share, found):
    check = weigh(
        SAID, f"{first} {SAID}", start_share=share, heard_p={0: 0.3}, speech_end_s=START_S + 19 * WORD_S
    )
    assert [f.kind for f in check.faults] == ([FaultKind.HEAD] if found else [])
    if found:
        assert only_fault(check).evidence["start_share"] == share
        assert check.suggested_text == f"{first} {SAID}"


@pytest.mark.parametrize(("share", "found"), [(0.01, True), (0.05, False)])
def test_a_first_word_is_found_before_a_misheard_one(share, found):
    check = weigh(
        "said the unit " + SAID, "then set the unit " + SAID, start_share=share, heard_p={0: 0.6, 1: 0.2}
    )
    assert [f.words for f in check.faults] == (["then"] if found else [])


@pytest.mark.parametrize(("end_p", "found"), [(0.01, True), (0.1, False)])
def test_a_last_word_is_found_behind_a_misheard_one(end_p, found):
    check = weigh(SAID + " quoth makan", SAID + " quote mac on the", end_p=end_p, heard_p={19: 0.3, 20: 0.3})
    assert [f.kind for f in check.faults] == ([FaultKind.TAIL] if found else [])


def test_as_many_words_as_the_text_has_are_none_too_many():
    assert weigh("nuzhat " + SAID, "Usad " + SAID, start_share=0.001, heard_p={0: 0.3}).faults == ()
    assert weigh(SAID + " makan", SAID + " Macon", end_p=0.001, heard_p={18: 0.3}).faults == ()


@pytest.mark.parametrize(("behind_p", "found"), [(0.05, True), (0.3, False)])
def test_two_words_in_a_gap_are_believed_where_the_model_expects_them(behind_p, found):
    said = SAID.replace("times it was the worst", "times and so it was the worst")
    check = weigh(SAID, said, forced={6: (behind_p, WORD_S)}, heard_p={6: 0.5, 7: 0.5})
    assert [f.words for f in check.faults] == (["and so"] if found else [])


def test_a_stretched_last_word_does_not_hide_a_strong_surplus():
    said, end_s = SAID + " and foolishness", START_S + 20 * WORD_S
    check = weigh(SAID, said, speech_end_s=end_s, last_word_end_s=end_s)
    assert only_fault(check).kind is FaultKind.TAIL
    assert check.coverage.ratio < 1.0  # the missing words are covered by nothing


def test_a_loop_in_a_gap_is_the_recognisers():
    text = "and then the morning rain fell"
    assert weigh(text, "and then the the the the the morning rain fell").faults == ()
    check = weigh(text, "and then the bright and windy morning rain fell")
    assert only_fault(check).kind is FaultKind.GAP
    assert check.suggested_text == "and then the bright and windy morning rain fell"


def test_one_word_in_the_middle_must_be_long_and_sure():
    """Recognisers put in short words of their own: "that", "who"."""
    text = "and then the morning rain fell"
    assert weigh(text, "and then the grey morning rain fell").faults == ()
    said = "and then the tremendous morning rain fell"
    assert only_fault(weigh(text, said)).kind is FaultKind.GAP
    assert weigh(text, said, heard_p={3: 0.8}).faults == ()


def test_a_recogniser_that_errs_elsewhere_proves_nothing_here():
    """From a noisy clip: what it heard at the end was as wrong as the rest."""
    text = "we also need a small plastic snake and a big toy frog for the kids"
    said = "and we also know its the small past that it made but its a big toy from when it started working"
    check = weigh(text, said, heard_p=dict.fromkeys(range(21), 0.8))
    assert not any(f.kind in (FaultKind.TAIL, FaultKind.HEAD, FaultKind.GAP) for f in check.faults)


def test_a_gap_needs_a_recogniser_that_is_sure():
    text, said = "and then the morning rain fell", "and then the bright and windy morning rain fell"
    assert weigh(text, said, heard_p=dict.fromkeys((3, 4, 5), 0.55)).faults == ()
    assert weigh(text, said, heard_p=dict.fromkeys((3, 4, 5), 0.65)).faults != ()


def test_a_recogniser_that_is_wrong_about_the_rest_proves_no_missing_words():
    text, more = "the zebra ran the mile", " and everything else besides"
    check = weigh(text, "the couch sat the mile" + more)
    assert not [f for f in check.faults if f.kind is FaultKind.TAIL]
    assert [f.kind for f in weigh(text, text + more).faults] == [FaultKind.TAIL]


def test_language_of_the_text_is_the_heard_one_when_it_states_none():
    check = listen("Es war die beste Zeit", "Es war die beste Zeit", language="de")
    assert (check.given.language, check.heard.language) == ("de", "de")


# --------------------------------------------------------------------------- properties

DISTINCT = "anchor butter candle dragon engine falcon garden hammer island jungle kettle ladder magnet needle".split()


@settings(deadline=None, max_examples=60)
@given(num_words=st.integers(4, 14), data=st.data())
def test_a_cut_tail_or_head_is_always_found_and_mended(num_words, data):
    words = DISTINCT[:num_words]
    keep = data.draw(st.integers(2, num_words - 2))
    said = join_words(words)
    for text, kind in ((words[:keep], FaultKind.TAIL), (words[-keep:], FaultKind.HEAD)):
        check = listen(join_words(text), said)
        assert check.verdict is Verdict.FAIL
        assert only_fault(check).kind is kind
        assert check.suggested_text == said


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.sampled_from(DISTINCT), min_size=1, max_size=20),
    st.lists(st.sampled_from(DISTINCT), max_size=20),
)
def test_every_check_keeps_its_promises(said, text):
    check = listen(join_words(text), join_words(said))
    failed = [f for f in check.faults if f.kind is not FaultKind.OTHER_WORD]
    assert (check.verdict is Verdict.FAIL) == bool(failed)
    assert (check.verdict is Verdict.UNDECIDED) == bool(check.reason)
    spans = [(f.span.start_s, f.span.end_s) for f in check.faults]
    assert spans == sorted(spans)
    assert len(check.alignment.words) == len(text)
    for fault in check.faults:
        assert 0 <= fault.word_range[0] <= fault.word_range[1] <= len(text)
    if not check.faults:
        assert check.suggested_text == join_words(text)


STRANGE = st.lists(
    st.sampled_from(["nobody", "whatever", "zeppelin", "quiver", "extraordinarily"]), max_size=4
)


def assert_mended(text: list[str], said: list[str]) -> None:
    """The mended text no longer fails."""
    check = listen(join_words(text), join_words(said))
    if check.verdict is Verdict.FAIL:
        assert listen(check.suggested_text, join_words(said)).verdict is not Verdict.FAIL


@settings(deadline=None, max_examples=80)
@given(said=st.permutations(DISTINCT), first=st.integers(0, 13), length=st.integers(1, 13), extra=STRANGE)
def test_the_suggestion_passes_where_words_were_left_out_or_put_in(said, first, length, extra):
    assert_mended([*said[:first], *said[first + length :]], said)
    assert_mended([*said[:first], *extra, *said[first:]], said)


@example(said=list(DISTINCT), first=0, length=4, extra=["nobody"] * 4)
@settings(deadline=None, max_examples=80)
@given(said=st.permutations(DISTINCT), first=st.integers(0, 13), length=st.integers(1, 4), extra=STRANGE)
def test_the_suggestion_passes_where_words_were_exchanged(said, first, length, extra):
    assert_mended([*said[:first], *extra, *said[first + length :]], said)


@pytest.mark.parametrize("text", ["word " * 200_000, "x" * 1_000_000, "(" * 1_000_000])
def test_a_text_of_a_megabyte_is_refused_at_once(text):
    listener = Listener(FakeVoiceActivity(default=[Span(0.0, 2.0)]), asr := FakeAsr(), asr)
    clip = noise_clip(2.0)
    asr.scripts = {clip.id: evenly("yes indeed", 0.0)}
    check = listener.check(clip, text)
    assert (check.verdict, only_fault(check).kind) == (Verdict.FAIL, FaultKind.WRONG_TEXT)
    assert check.suggested_text == "yes indeed"
    assert (
        listener.check(clip, "yes indeed " + "word " * 60).verdict is Verdict.FAIL
    )  # few enough to be aligned
