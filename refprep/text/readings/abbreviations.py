"""Abbreviations and the words they stand for, by language, without their points."""

# ruff: noqa: RUF001 - Cyrillic is meant
from __future__ import annotations

_ABBREVIATIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "en": {
        "mr": ("mister",), "mrs": ("missus", "misses", "missis"), "ms": ("miz", "miss"), "dr": ("doctor", "drive"), "drs": ("doctors",),
        "st": ("saint", "street"), "prof": ("professor",), "capt": ("captain",), "col": ("colonel",), "maj": ("major",),
        "gen": ("general",), "lt": ("lieutenant",), "sgt": ("sergeant",), "cpl": ("corporal",), "rev": ("reverend",), "hon": ("honorable", "honourable"), "sen": ("senator",), "gov": ("governor",),
        "jr": ("junior",), "sr": ("senior",), "esq": ("esquire",), "messrs": ("messieurs",), "etc": ("et cetera", "etcetera"), "vs": ("versus",),
        "mt": ("mount",), "ave": ("avenue",), "blvd": ("boulevard",), "rd": ("road",), "apt": ("apartment",), "dept": ("department",), "govt": ("government",), "eg": ("for example", "for instance"),
        "ie": ("that is",), "approx": ("approximately",), "ok": ("okay",), "okay": ("o k",), "inc": ("incorporated",), "ltd": ("limited",), "corp": ("corporation",), "bros": ("brothers",), "co": ("company",),
        "vol": ("volume",), "ch": ("chapter",), "pp": ("pages",), "ed": ("edition", "editor"), "est": ("established",), "tel": ("telephone",), "ad": ("anno domini",), "am": ("a m",), "pm": ("p m",),
        "wwi": ("world war one", "world war i", "w w one"), "wwii": ("world war two", "world war ii", "w w two"), "ww2": ("world war two",), "ww1": ("world war one",), "tv": ("television",), "univ": ("university",),
        "nos": ("numbers",), "usd": ("us dollars", "dollars"), "eur": ("euros", "euro"), "gbp": ("pounds",), "till": ("until",), "thru": ("through",), "tonite": ("tonight",), "fahrenheit": ("f",), "xmas": ("christmas",),
    },
    "de": {
        "dr": ("doktor",), "hr": ("herr",), "hrn": ("herrn",), "fr": ("frau",), "prof": ("professor",), "str": ("strasse",), "dipl": ("diplom",), "ing": ("ingenieur",),
        "usw": ("und so weiter",), "zb": ("zum beispiel",), "bzw": ("beziehungsweise",), "ca": ("circa", "zirka"), "usf": ("und so fort",), "etc": ("et cetera",),
        "st": ("sankt",), "nr": ("nummer",), "ua": ("unter anderem", "und andere"), "dh": ("das heisst",), "evtl": ("eventuell",), "ggf": ("gegebenenfalls",), "vgl": ("vergleiche",),
        "inkl": ("inklusive",), "exkl": ("exklusive",), "max": ("maximal",), "mind": ("mindestens",), "sog": ("sogenannte", "sogenannten"), "zt": ("zum teil",), "ia": ("im allgemeinen",), "od": ("oder",), "tel": ("telefon",),
        "mio": ("millionen", "million"), "mrd": ("milliarden", "milliarde"), "jh": ("jahrhundert",), "abs": ("absatz",), "bd": ("band",), "vchr": ("vor christus",), "nchr": ("nach christus",), "ok": ("okay",), "eur": ("euro",),
        "ii": ("zweite", "zweiter", "zweiten", "zwei"),
    },
    "fr": {
        "m": ("monsieur",), "mm": ("messieurs",), "mme": ("madame",), "mmes": ("mesdames",), "mlle": ("mademoiselle",), "dr": ("docteur",), "pr": ("professeur",), "st": ("saint",), "ste": ("sainte",), "mgr": ("monseigneur",),
        "etc": ("et cetera",), "cad": ("c'est à dire",), "ex": ("exemple",), "av": ("avenue", "avant"), "bd": ("boulevard",), "env": ("environ",), "tel": ("téléphone",), "vs": ("versus",), "ok": ("okay",), "eur": ("euros",), "svp": ("s'il vous plaît",),
    },
    "es": {
        "sr": ("señor",), "sra": ("señora",), "srta": ("señorita",), "sres": ("señores",), "dr": ("doctor",), "dra": ("doctora",), "d": ("don",), "dña": ("doña",), "dna": ("doña",), "ud": ("usted",), "uds": ("ustedes",), "vd": ("usted",), "prof": ("profesor",), "ing": ("ingeniero",), "lic": ("licenciado",),
        "etc": ("etcétera", "et cetera"), "pej": ("por ejemplo",), "av": ("avenida",), "avda": ("avenida",), "núm": ("número",), "num": ("número",), "pág": ("página",), "pag": ("página",), "tel": ("teléfono",), "ok": ("okey", "okay"), "eeuu": ("estados unidos",), "aprox": ("aproximadamente",), "eur": ("euros",), "sto": ("santo",), "sta": ("santa",),
    },
    "it": {
        "sig": ("signor", "signore"), "sigra": ("signora",), "sigrina": ("signorina",), "dott": ("dottor", "dottore"), "dottssa": ("dottoressa",), "dr": ("dottor", "dottore"), "prof": ("professor", "professore"), "profssa": ("professoressa",), "avv": ("avvocato",), "ing": ("ingegner", "ingegnere"), "on": ("onorevole",),
        "ecc": ("eccetera",), "es": ("esempio",), "pag": ("pagina",), "num": ("numero",), "tel": ("telefono",), "ca": ("circa",), "sec": ("secolo",), "ss": ("santi", "santissima"), "eur": ("euro",), "ok": ("okay",),
    },
    "pt": {
        "sr": ("senhor",), "sra": ("senhora",), "srta": ("senhorita",), "dr": ("doutor",), "dra": ("doutora",), "prof": ("professor",), "profa": ("professora",), "eng": ("engenheiro",), "d": ("dona", "dom"), "etc": ("etcétera", "et cetera"), "pex": ("por exemplo",), "av": ("avenida",), "núm": ("número",), "num": ("número",), "pág": ("página",), "pag": ("página",), "tel": ("telefone",), "ok": ("okay",), "sto": ("santo",), "sta": ("santa",), "eua": ("estados unidos",), "vc": ("você",), "aprox": ("aproximadamente",),
    },
    "nl": {"dhr": ("de heer",), "mevr": ("mevrouw",), "mw": ("mevrouw",), "dr": ("dokter", "doctor"), "bijv": ("bijvoorbeeld",), "bv": ("bijvoorbeeld",), "enz": ("enzovoort", "enzovoorts"), "nr": ("nummer",), "ca": ("circa",), "prof": ("professor",), "nl": ("namelijk",), "dwz": ("dat wil zeggen",), "oa": ("onder andere",)},
    "sv": {"dr": ("doktor",), "tex": ("till exempel",), "osv": ("och så vidare",), "bla": ("bland annat",), "dvs": ("det vill säga",), "kl": ("klockan",), "nr": ("nummer",), "ca": ("cirka",), "kr": ("kronor",), "mm": ("med mera",)},
    "ru": {"тд": ("так далее",), "тп": ("тому подобное",), "тк": ("так как",), "те": ("то есть",), "др": ("другие", "другое"), "г": ("год", "года", "году", "город"), "руб": ("рублей", "рубля", "рубль")},
    "pl": {"np": ("na przykład",), "itd": ("i tak dalej",), "itp": ("i tym podobne",), "tzn": ("to znaczy",), "dr": ("doktor",), "prof": ("profesor",), "ul": ("ulica", "ulicy"), "nr": ("numer",), "zł": ("złotych", "złote", "złoty")},
}  # fmt: skip
# Short forms that are words too: they stand for the long one only with a point or before a number.
_WITH_POINT = {
    "en": frozenset({"gen", "hon", "col", "maj", "rev", "sen", "co", "ed", "est", "ch", "ad", "am", "nos", "st", "ave", "apt", "inc", "tel", "ie", "ms"}),
    "de": frozenset({"fr", "ca", "ua", "max", "mind", "abs", "st", "od", "ia", "zt", "ing", "str", "ii"}),
    "fr": frozenset({"m", "ex", "av", "pr", "st"}),
    "es": frozenset({"d", "av", "ing", "sta", "sto", "tel"}),
    "it": frozenset({"es", "on", "sec", "ss", "ca"}),
    "pt": frozenset({"d", "av", "eng"}),
    "nl": frozenset({"nl", "bv"}),
    "sv": frozenset({"bla", "mm"}),
    "ru": frozenset({"те", "г"}),
}  # fmt: skip
# Written before a number alone: "No. 5".
_NUMBER = {
    "en": {"no": "number", "nos": "numbers", "n°": "number"}, "de": {"nr": "nummer", "no": "nummer"}, "fr": {"no": "numéro", "n°": "numéro", "n": "numéro"},
    "es": {"no": "número", "n°": "número", "nº": "número"}, "it": {"n": "numero", "n°": "numero", "nº": "numero"}, "pt": {"n°": "número", "nº": "número", "no": "número"},
}  # fmt: skip


def abbreviation_texts(folded: str, written: str, code: str) -> tuple[str, ...]:
    """What an abbreviation stands for.

    Args:
        folded: Letters alone.
        written: With its points, without other punctuation.
        code: Primary language.
    """
    if folded in _WITH_POINT.get(code, ()) and "." not in written:
        return ()
    return _ABBREVIATIONS.get(code, {}).get(folded, ())


def number_noun(written: str, code: str) -> str:
    """The word for number where "No." or "n°" is written before one; else empty."""
    plain = written.casefold()
    known = _NUMBER.get(code, {})
    # "no" without its point is a word.
    if plain.rstrip(".") in ("no", "n", "nos") and not plain.endswith("."):
        return ""
    return known.get(plain.rstrip("."), "")
