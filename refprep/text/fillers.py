"""Sounds of hesitation: people do not write them down, recognisers do not hear them."""

from __future__ import annotations

from refprep.text.words import primary_language

# No word in any language that has no list of its own.
FILLERS = frozenset({"uhm", "hm", "hmm", "mm", "mhm"})
_OF_LANGUAGE: dict[str, frozenset[str]] = {
    "en": frozenset({"uh", "um", "er", "erm", "ah", "eh"}),
    # Not "um" and "er": words of German; nor "um" of Portuguese.
    "de": frozenset({"ah", "ahm", "eh", "ehm", "ohm"}),
    "fr": frozenset({"euh", "heu", "ah", "hein"}),
    "es": frozenset({"eh", "em", "ah"}),
    "it": frozenset({"ehm", "eh", "ah"}),
    "pt": frozenset({"hum", "eh", "ah"}),
    "nl": frozenset({"eh", "uh", "ehm", "ah"}),
    "zh": frozenset({"嗯", "呃"}),
    "ja": frozenset({"えー", "えっと", "あのー"}),
}


def is_filler(token: str, language: str) -> bool:
    """The folded token is a hesitation in this language, BCP 47."""
    return token in FILLERS or token in _OF_LANGUAGE.get(primary_language(language), ())
