"""Signs that are read aloud, by language; English where a language has none of its own."""

from __future__ import annotations

# The sign, and the ways to say it after or between words.
_SIGNS: dict[str, dict[str, tuple[str, ...]]] = {
    "en": {"&": ("and",), "%": ("percent", "per cent"), "‰": ("per mille", "per mill"), "+": ("plus",), "=": ("equals", "is"), "@": ("at",), "°": ("degrees", "degree"), "×": ("times", "by"), "÷": ("divided by",), "#": ("number", "hashtag", "hash", "pound"), "§": ("section", "paragraph"), "<": ("less than",), ">": ("greater than", "more than"), "~": ("about",), "±": ("plus or minus", "plus minus"), "²": ("squared",), "³": ("cubed",)},
    "de": {"&": ("und",), "%": ("prozent",), "‰": ("promille",), "+": ("plus", "und"), "=": ("gleich", "ist gleich"), "@": ("at", "ät"), "°": ("grad",), "×": ("mal",), "÷": ("geteilt durch",), "#": ("nummer", "hashtag", "raute"), "§": ("paragraf", "paragraph"), "<": ("kleiner als",), ">": ("größer als",), "~": ("etwa", "circa"), "±": ("plus minus",), "²": ("quadrat", "zum quadrat"), "³": ("hoch drei",)},
    "fr": {"&": ("et",), "%": ("pour cent", "pourcent"), "‰": ("pour mille",), "+": ("plus",), "=": ("égale", "égal"), "@": ("arobase", "at"), "°": ("degrés", "degré"), "×": ("fois", "par"), "÷": ("divisé par",), "#": ("numéro", "hashtag", "dièse"), "§": ("paragraphe",), "<": ("inférieur à",), ">": ("supérieur à",), "~": ("environ",), "±": ("plus ou moins",), "²": ("carré", "au carré"), "³": ("cube", "au cube")},
    "es": {"&": ("y", "et"), "%": ("por ciento", "porciento"), "‰": ("por mil",), "+": ("más",), "=": ("igual", "igual a", "es igual a"), "@": ("arroba",), "°": ("grados", "grado"), "×": ("por",), "÷": ("dividido por", "entre"), "#": ("número", "hashtag", "almohadilla"), "§": ("párrafo", "sección"), "<": ("menor que",), ">": ("mayor que",), "~": ("aproximadamente",), "±": ("más menos", "más o menos"), "²": ("cuadrado", "al cuadrado"), "³": ("cúbico", "al cubo")},
    "it": {"&": ("e",), "%": ("per cento", "percento"), "‰": ("per mille",), "+": ("più",), "=": ("uguale", "uguale a", "è uguale a"), "@": ("chiocciola", "at"), "°": ("gradi", "grado"), "×": ("per",), "÷": ("diviso",), "#": ("numero", "hashtag", "cancelletto"), "§": ("paragrafo",), "<": ("minore di",), ">": ("maggiore di",), "~": ("circa",), "±": ("più o meno",), "²": ("quadrato", "al quadrato"), "³": ("cubo", "al cubo")},
    "pt": {"&": ("e",), "%": ("por cento",), "‰": ("por mil",), "+": ("mais",), "=": ("igual", "igual a", "é igual a"), "@": ("arroba",), "°": ("graus", "grau"), "×": ("vezes", "por"), "÷": ("dividido por",), "#": ("número", "hashtag", "cardinal"), "§": ("parágrafo",), "<": ("menor que", "menor do que"), ">": ("maior que", "maior do que"), "~": ("cerca de",), "±": ("mais ou menos",), "²": ("quadrado", "ao quadrado"), "³": ("cúbico", "ao cubo")},
    "nl": {"&": ("en",), "%": ("procent",), "+": ("plus",), "=": ("is", "is gelijk aan"), "°": ("graden", "graad"), "×": ("keer", "maal")},
    "sv": {"&": ("och",), "%": ("procent",), "+": ("plus",), "=": ("lika med",), "°": ("grader", "grad")},
    "da": {"&": ("og",), "%": ("procent",), "+": ("plus",), "°": ("grader", "grad")},
    "no": {"&": ("og",), "%": ("prosent",), "+": ("pluss",), "°": ("grader", "grad")},
    "pl": {"&": ("i",), "%": ("procent", "procenta", "procentów"), "+": ("plus",), "°": ("stopni", "stopnie", "stopień")},
    "ru": {"&": ("и",), "%": ("процент", "процента", "процентов"), "+": ("плюс",), "°": ("градусов", "градуса", "градус")},
    "ko": {"&": ("앤드",), "%": ("퍼센트", "프로"), "+": ("더하기", "플러스"), "°": ("도",)},
    "zh": {"&": ("和", "与"), "+": ("加",), "=": ("等于",), "°": ("度",), "×": ("乘", "乘以"), "÷": ("除以",), "<": ("小于",), ">": ("大于",), "±": ("正负",), "#": ("号", "井号"), "@": ("艾特",)},
    "ja": {"&": ("アンド", "と"), "%": ("パーセント",), "+": ("たす", "プラス"), "=": ("は", "イコール"), "°": ("度", "ど"), "×": ("かける",), "÷": ("割る", "わる"), "#": ("シャープ",), "@": ("アットマーク",)},
}  # fmt: skip
# A dash before a number, a dash between two, and the point inside a web address.
MINUS = {
    "en": ("minus", "negative"), "de": ("minus",), "fr": ("moins",), "es": ("menos",), "it": ("meno",), "pt": ("menos",),
    "nl": ("min",), "sv": ("minus",), "ru": ("минус",), "pl": ("minus",), "ko": ("마이너스",), "zh": ("负", "零下"),
    "ja": ("マイナス", "氷点下"),
}  # fmt: skip
UNTIL = {
    "en": ("to", "through", "dash", "minus"), "de": ("bis", "zu", "minus"), "fr": ("à", "moins"), "es": ("a", "al", "menos"),
    "it": ("a", "al", "meno"), "pt": ("a", "ao", "menos"), "nl": ("tot",), "sv": ("till",), "zh": ("到", "至", "减"),
    "ja": ("から", "対", "ひく"), "ru": ("до",), "pl": ("do",), "ko": ("에서",),
}  # fmt: skip
DOT = {
    "en": "dot", "de": "punkt", "fr": "point", "es": "punto", "it": "punto", "pt": "ponto", "nl": "punt", "zh": "点", "ja": "ドット",
}  # fmt: skip
SLASH = {
    "en": "slash", "de": "schrägstrich", "fr": "slash", "es": "barra", "it": "barra", "pt": "barra", "zh": "斜杠", "ja": "スラッシュ",
}  # fmt: skip


def sign_texts(sign: str, code: str) -> tuple[str, ...]:
    """Ways to say a sign; empty if it is none that is read."""
    own = _SIGNS.get(code, {}).get(sign)
    return own if own is not None else _SIGNS["en"].get(sign, ())
