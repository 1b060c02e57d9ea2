"""In which script, and in which language, is a text written? Told from its letters and its commonest words alone."""

from __future__ import annotations

import unicodedata
from collections import Counter

from refprep.text.words import primary_language, split_words

# First word of the Unicode name of a letter -> script; what is not listed is a script of its own name.
_SCRIPTS = {"CJK": "Han", "HIRAGANA": "kana", "KATAKANA": "kana", "HALFWIDTH": "kana", "FULLWIDTH": "Latin"}

# Languages that are not written in Latin letters, with every script that is usual in them.
_WRITTEN_IN: dict[str, frozenset[str]] = {
    **dict.fromkeys(("ru", "uk", "be", "bg", "mk", "ba", "tt", "tg", "mn"), frozenset({"Cyrillic"})),
    **dict.fromkeys(("sr", "kk", "uz", "bs", "az", "tk"), frozenset({"Cyrillic", "Latin"})),
    **dict.fromkeys(("ar", "fa", "ur", "ps", "ug"), frozenset({"Arabic"})),
    "sd": frozenset({"Arabic", "Devanagari"}),
    **dict.fromkeys(("he", "yi"), frozenset({"Hebrew"})),
    **dict.fromkeys(("hi", "mr", "ne", "sa"), frozenset({"Devanagari"})),
    **dict.fromkeys(("zh", "yue", "cmn", "wuu"), frozenset({"Han", "Bopomofo"})),
    "ja": frozenset({"Han", "kana"}),
    "ko": frozenset({"Hangul", "Han"}),
    "el": frozenset({"Greek"}),
    "th": frozenset({"Thai"}),
    "lo": frozenset({"Lao"}),
    "km": frozenset({"Khmer"}),
    "my": frozenset({"Myanmar"}),
    "ka": frozenset({"Georgian"}),
    "hy": frozenset({"Armenian"}),
    "am": frozenset({"Ethiopic"}),
    **dict.fromkeys(("bn", "as"), frozenset({"Bengali"})),
    "ta": frozenset({"Tamil"}),
    "te": frozenset({"Telugu"}),
    "kn": frozenset({"Kannada"}),
    "ml": frozenset({"Malayalam"}),
    "gu": frozenset({"Gujarati"}),
    "pa": frozenset({"Gurmukhi", "Arabic"}),
    "si": frozenset({"Sinhala"}),
    "bo": frozenset({"Tibetan"}),
}
_LATIN = frozenset({"Latin"})

# The commonest words of a language, mostly such as no other one listed here has.
_COMMON_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": "the and of to in is that it was for with as his he be not by but have you are this had her which from at "
        "or were there been they would she my their what when will who an if we",
        "de": "der die das und ist nicht ich sie es ein eine den dem des zu mit sich auf war auch wie so im dass für von "
        "er als noch nach aber bei oder wir haben hat wird sind nur einen einem einer über wenn",
        "fr": "le la les de des et est un une que qui dans pour pas il elle ne sur se au avec ce son plus par mais nous "
        "vous je du été cette ou sont aux ses leur comme même",
        "es": "el la los las de y que en un una es por con no se su para del al lo como más pero sus le ha me si sin "
        "sobre este ya entre cuando todo esta era muy fue había",
        "it": "il la le di e che un una non per si con del della è i gli da sono come più ma al nel alla dei ha anche "
        "questo lo se ci suo era quando delle mi",
        "pt": "o a os as de e que em um uma não do da para com se no na por mais dos como mas foi ao ele das à seu sua "
        "ou quando muito há nos já está eu também",
        "nl": "de het een en van ik te dat die in is niet zijn op aan met voor er maar om hem dan zou wat mijn haar ze "
        "hij naar ook uit zich heeft had werd waren door deze bij",
        "sv": "och att det i en jag hon som han på den med var sig för så till är men ett om hade de av icke mig du "
        "henne då sin nu har inte hans honom skulle från vi också",
        "da": "og i jeg det at en den til er som på de med han af for ikke der var mig sig men et har om vi min havde "
        "ham hun nu over da fra du ud sin dem os op",
        "no": "og i jeg det at en et den til er som på de med han av ikke der så var meg seg men har om vi min hadde hun "
        "nå over da fra du ut sin dem oss opp",
        "pl": "i w na z się nie do to że jest o jak a po co tak za od jego ale przez dla był przy czy już tylko być było "
        "która które który tym są jej może",
        "cs": "a se v na je že to s z do i o k by ale jako za jsem jeho po podle si od jen také byl byla bylo který "
        "která které než aby když už jsou ve",
        "hu": "a az és hogy nem is egy meg de ez azt volt csak már mint ki ha még el vagy van mert minden úgy pedig "
        "lesz olyan most aki ami ezt nagyon mind",
        "tr": "ve bir bu da de için ile çok ne o gibi daha var ama kadar sonra olarak olan ben her değil mi ki en "
        "şey diye bana onu benim",
        "fi": "ja on ei se että hän oli en mutta ole niin kuin olen minä mitä sitä mikä joka myös kun tämä sen vain "
        "nyt jos hänen olisi ovat minun",
        "ro": "și de la a în nu că o pe cu este un din mai sunt care pentru se ce au fost dar lui sau fi prin după ca "
        "era această ei el",
        "id": "yang dan di ini itu dengan untuk tidak dari dalam akan pada adalah saya ke juga ada kita mereka bisa "
        "sudah atau karena oleh anda kami",
    }.items()
}
_NAMES = {
    "ar": "Arabic",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "fi": "Finnish",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "hu": "Hungarian",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sv": "Swedish",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "zh": "Chinese",
}
_CODES = {name.lower(): code for code, name in _NAMES.items()}
_MIN_HITS = 3
_MIN_SHARE = 0.25
_MIN_LEAD = 1.5  # times the share of the runner-up

_MIN_FOREIGN_SHARE = 0.75
_MIN_LETTERS = 3

# Languages that a recogniser takes for one another, and whose speakers may do so, too.
_CLOSE = (
    {"no", "nb", "nn", "da", "sv"},
    {"hr", "sr", "bs", "sl", "sh", "mk", "bg"},
    {"es", "gl", "ca", "pt", "oc", "it"},
    {"cs", "sk"},
    {"uk", "ru", "be"},
    {"hi", "ur", "pa"},
    {"nl", "af", "de", "lb", "yi"},
    {"zh", "yue", "cmn", "wuu"},
    {"id", "ms", "jw", "su"},
    {"fil", "tl"},
    {"fi", "et"},
    {"az", "tr", "tk", "uz", "kk", "tt", "ba"},
    {"is", "fo"},
    {"en", "cy"},
)


def are_close(one: str, two: str) -> bool:
    """Two BCP 47 tags name one language, or two that speech alone hardly tells apart."""
    first, second = primary_language(one), primary_language(two)
    return first == second or any(first in group and second in group for group in _CLOSE)


def language_name(language: str) -> str:
    """``Swedish (sv)`` for a language that is listed by name, else its tag."""
    name = _NAMES.get(primary_language(language))
    return f"{name} ({language})" if name else language


def english_name(language: str) -> str:
    """``Swedish`` for sv and sv-SE; what is no tag of a listed language comes back as it is."""
    return _NAMES.get(primary_language(language), language)


def language_code(name: str) -> str:
    """``sv`` for Swedish, in any case; a tag, and what is no listed language, comes back as it is."""
    return _CODES.get(name.strip().lower(), name)


def script_of(character: str) -> str:
    """Script of a letter, such as ``Latin``, ``Cyrillic``, ``Han``, ``kana``; empty for what is no letter."""
    if not character.isalpha():
        return ""
    first = unicodedata.name(character, "").partition(" ")[0].partition("-")[0]
    return _SCRIPTS.get(first, first.capitalize())


def foreign_script(text: str, language: str) -> str:
    """The script of most of a text, where the language is not written in it.

    Words are counted and not letters: three words of Chinese and one long brand name are Chinese.

    Args:
        text: As written.
        language: BCP 47. A script subtag (``sr-Latn``, ``zh-Latn``) says that the text is meant to be so.

    Returns:
        Empty where the script fits, or there are too few letters to tell.
    """
    if not language or any(
        len(part) == 4 and part.isalpha() for part in language.replace("_", "-").split("-")
    ):
        return ""
    usual = _WRITTEN_IN.get(primary_language(language), _LATIN)
    words = [Counter(filter(None, map(script_of, word))) for word in split_words(text)]
    scripts = Counter(found.most_common(1)[0][0] for found in words if found)
    foreign = Counter({script: n for script, n in scripts.items() if script not in usual})
    num_letters = sum(found[script] for found in words for script in foreign)
    if not foreign or num_letters < _MIN_LETTERS or foreign.total() < _MIN_FOREIGN_SHARE * scripts.total():
        return ""
    return foreign.most_common(1)[0][0]


def guess_language(text: str) -> str:
    """Language of a text by its commonest words; empty where they do not tell.

    It knows some languages in Latin letters. Short texts, names, and languages that share their common words give no
    answer rather than a wrong one.
    """
    words = [word for raw in split_words(text) if (word := _bare(raw))]
    hits = {language: sum(word in common for word in words) for language, common in _COMMON_WORDS.items()}
    first = max(hits, key=lambda language: hits[language])
    rival = max(n for language, n in hits.items() if not are_close(language, first))
    if hits[first] < max(_MIN_HITS, _MIN_SHARE * len(words), _MIN_LEAD * rival):
        return ""
    return first


def _bare(word: str) -> str:
    return "".join(ch for ch in word.casefold() if ch.isalpha())
