"""What spellings of one sound share: British and American, simplified and traditional, hiragana and katakana."""

from __future__ import annotations

import functools
import re

from refprep.text.readings.japanese import hiragana
from refprep.text.words import is_spaceless, primary_language

# Endings that Britain and America spell differently. Every pair leads to one key; no two words of English meet in it.
# transformers' Whisper normaliser knows the same words from a table that comes with the weights of a model; loading
# it takes seconds, and the table is not in the package.
_OUR = (
    "arbour|ardour|armour|behaviour|candour|clamour|colour|demeanour|endeavour|favour|fervour|flavour|glamour|harbour|honour|humour"
    "|labour|misdemeanour|neighbour|odour|parlour|rancour|rigour|rumour|saviour|savour|splendour|succour|tumour|valour|vapour|vigour"
)
_RE = "cent|theat|met|lit|fib|calib|lust|somb|spect|sab|och|meag|kilomet|centimet|millimet"
_BRITISH: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), american)
    for pattern, american in (
        (rf"(?<![a-z])((?:dis|mis|un|be)?)({_OUR.replace('our', '(?=our)')})our", r"\1\2or"),
        (rf"^({_RE})re(s|d)?$", r"\1er\2"),
        (r"^(\w{3,})is(e|ed|es|er|ers|ing|ation|ations)$", r"\1iz\2"),
        (r"^(\w{3,})ys(e|ed|es|er|ers|ing)$", r"\1yz\2"),
        (r"^(\w{2,}[aeiou])ll(ed|ing|er|ers)$", r"\1l\2"),
        (r"^(\w{3,})ogue(s?)$", r"\1og\2"),
        (r"^(def|off|lic|pret)ence(s?)$", r"\1ense\2"),
    )
)
_PAIRS = {
    "grey": "gray", "greys": "grays", "licence": "license", "practise": "practice", "practised": "practiced", "tyre": "tire", "tyres": "tires",
    "plough": "plow", "ploughed": "plowed", "cheque": "check", "cheques": "checks", "programme": "program", "programmes": "programs",
    "pyjamas": "pajamas", "mould": "mold", "moustache": "mustache", "sceptical": "skeptical", "sceptic": "skeptic", "jewellery": "jewelry", "aluminium": "aluminum",
    "storey": "story", "storeys": "stories", "towards": "toward", "whilst": "while", "skilful": "skillful", "fulfil": "fulfill", "enrol": "enroll",
    "instal": "install", "judgement": "judgment", "ageing": "aging", "aeroplane": "airplane", "okay": "ok", "kerb": "curb", "draught": "draft", "gaol": "jail",
    "encyclopaedia": "encyclopedia", "manoeuvre": "maneuver", "mum": "mom", "maths": "math", "cosy": "cozy", "catalogue": "catalog",
}  # fmt: skip


@functools.lru_cache(maxsize=65_536)
def sound_key(token: str, language: str) -> str:
    """What two spellings of one sound share.

    Chinese characters give toneless pinyin when pypinyin is there, kana give hiragana, British English gives American
    spelling, Russian yo gives ye; any other token is its own key.
    """
    code = primary_language(language)
    if code == "en":
        return _american(token)
    if code == "zh" and token and is_spaceless(token[0]):
        return _pinyin(token)
    if code == "ru":
        return token.replace("\u0451", "\u0435")
    return hiragana(token)


def _american(token: str) -> str:
    if token in _PAIRS:
        return _PAIRS[token]
    for pattern, american in _BRITISH:
        token = pattern.sub(american, token)
    return token


@functools.cache
def _pinyin(token: str) -> str:
    try:
        from pypinyin import lazy_pinyin
    except ImportError:
        return token  # the zh extra is not installed
    return "".join(lazy_pinyin(token))


def forget() -> None:
    """Look for pypinyin anew: for tests, and after installing it into a running process."""
    _pinyin.cache_clear()
    sound_key.cache_clear()
