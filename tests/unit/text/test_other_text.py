"""What people call another text, however close it is."""

from __future__ import annotations

import pytest

from refprep.text.compare import compare
from refprep.text.words import split_words

OTHER: dict[str, list[tuple[str, str]]] = {
    "en": [
        ("fifteen", "fifty"),
        ("15", "fifty"),
        ("$5", "5 euros"),
        ("$5", "£5"),
        ("$5", "five"),
        ("5%", "five"),
        ("5 km", "5 miles"),
        ("5kg", "five"),
        ("10:30", "10:13"),
        ("10:30 am", "10:30 pm"),
        ("May 3", "May 4"),
        ("May 3", "June 3"),
        ("in 1984", "in 1985"),
        ("1.5", "15"),
        ("-5", "5"),
        ("3rd", "three"),
        ("3 men", "third men"),
        ("it's", "it"),
        ("can't", "can"),
        ("won't", "will"),
        ("no problem", "number problem"),
        ("the gen is", "the general is"),
        ("am I", "a.m. i s"),
        ("two in a row", "two inches a row"),
        ("here and there", "here there"),
        ("rock & roll", "rock roll"),
        ("hour", "or"),
        ("surprise", "surplus"),
        ("a cat", "cat"),
        ("the sun. rose", "the Sunday rose"),
        ("may I", "fifth I"),
        ("5", "5th"),
        ("an hour", "our"),
        ("4 for", "for"),
        ("50 dollars", "15 dollars"),
        ("$20-30", "twenty to thirty"),
        ("", "word"),
        ("BBC", "BBD"),
        ("USA", "USB"),
        ("$3.5 million", "three point five dollars"),
        ("10 000", "ten"),
        ("0.5", "five"),
        ("Henry VIII", "Henry the Seventh"),
        ("1/2", "one third"),
        ("1.000", "one thousand"),
        ("mail", "male"),
    ],
    "de": [
        ("fünfzehn", "fünfzig"),
        ("neue", "neu"),
        ("um acht", "acht"),
        ("er kommt", "kommt"),
        ("1,5", "fünfzehn"),
        ("1.000", "eins"),
        ("ihr", "herr"),
        ("so gut", "sogenannte gut"),
        ("am 3. Mai", "am vierten Mai"),
    ],
    "fr": [("deux", "douze"), ("5 €", "cinq dollars"), ("le 1er mai", "le mai"), ("60", "soixante-dix"), ("l'homme", "homme")],
    "es": [("el mar", "el marzo"), ("seis", "siete"), ("60", "setenta"), ("es", "eso"), ("8:30", "ocho")],
    "it": [("mar", "marzo"), ("sei", "sette"), ("on", "onorevole"), ("1.000", "uno")],
    "pt": [("um homem", "homem"), ("60", "setenta"), ("R$5", "cinco euros")],
    "zh": [("四", "十"), ("2005年", "2006年"), ("50%", "五十"), ("两个人", "三个人"), ("我去", "我不去")],
    "ja": [("はし", "はじ"), ("二人", "三人"), ("2005年", "2006年"), ("行く", "行かない")],
    "ru": [("дом", "том")],
    "xx": [("7", "8"), ("70", "7")],
}  # fmt: skip


@pytest.mark.parametrize(
    ("language", "one", "other"), [(language, *pair) for language, pairs in OTHER.items() for pair in pairs]
)
def test_another_text(language: str, one: str, other: str) -> None:
    left, right = split_words(one), split_words(other)
    assert compare(left, right, language).distance > 0
    assert compare(right, left, language).distance > 0
