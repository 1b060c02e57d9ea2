"""Words run together in speech and writing: "it's", "gonna", "'em", "geht's"."""

from __future__ import annotations

# An ending after a stem, and what both can stand for; {0} is the stem. The first that fits is taken.
_ENDINGS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "en": (
        ("won't", ("will not",)), ("can't", ("cannot", "can not")), ("shan't", ("shall not",)), ("ain't", ("is not", "are not", "am not", "has not", "have not")), ("let's", ("let us",)),
        ("n't", ("{0} not",)), ("'re", ("{0} are",)), ("'ll", ("{0} will", "{0} shall")), ("'ve", ("{0} have",)), ("'m", ("{0} am",)), ("'d", ("{0} would", "{0} had")), ("'s", ("{0} is", "{0} has")), ("in'", ("{0}ing",)),
    ),
    "de": (("'s", ("{0} es",)), ("'ne", ("{0} eine",)), ("'n", ("{0} ein", "{0} einen"))),
    "nl": (("'s", ("{0} is",)), ("'t", ("{0} het",))),
}  # fmt: skip
_WHOLE: dict[str, dict[str, tuple[str, ...]]] = {
    "en": {
        "gonna": ("going to",), "wanna": ("want to", "want a"), "gotta": ("got to", "have got to", "got a"), "kinda": ("kind of",), "sorta": ("sort of",), "lemme": ("let me",), "gimme": ("give me",), "dunno": ("don't know", "do not know"),
        "outta": ("out of",), "hafta": ("have to",), "oughta": ("ought to",), "coulda": ("could have",), "shoulda": ("should have",), "woulda": ("would have",), "musta": ("must have",), "gotcha": ("got you",), "cannot": ("can not", "can't"), "alright": ("all right",),
        "'em": ("them",), "'cause": ("because",), "cuz": ("because",), "'til": ("until", "till"), "'tis": ("it is",), "'twas": ("it was",), "'bout": ("about",), "y'all": ("you all",), "ma'am": ("madam",), "o'": ("of",), "'n'": ("and",), "ya": ("you",), "w/o": ("without",), "w/": ("with",), "c/o": ("care of",), "cos": ("because",),
    },
    "de": {"'s": ("es", "das"), "'n": ("ein", "einen"), "'ne": ("eine",), "'nen": ("einen",), "'nem": ("einem",), "nix": ("nichts",), "ok": ("okay",)},
    "fr": {"t'es": ("tu es",), "t'as": ("tu as",), "ya": ("il y a",)},
    "es": {"pa'": ("para",)},
    "it": {"po'": ("poco",)},
    "pt": {"pra": ("para",), "pro": ("para o",), "tá": ("está",), "tô": ("estou",), "né": ("não é",)},
    "nl": {"'t": ("het",), "'n": ("een",), "'s": ("des",), "m'n": ("mijn",), "z'n": ("zijn",), "d'r": ("haar",)},
}  # fmt: skip


def contraction_texts(written: str, code: str) -> list[str]:
    """What a contraction is in full; empty for any other word. Case does not count."""
    lowered = written.casefold()
    found = list(_WHOLE.get(code, {}).get(lowered, ()))
    for ending, fulls in _ENDINGS.get(code, ()):
        if lowered.endswith(ending) and (len(lowered) > len(ending) or "{0}" not in fulls[0]):
            stem = lowered.removesuffix(ending)
            found += [full.format(stem) for full in fulls]
            break
    return found
