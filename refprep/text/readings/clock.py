"""Times of day: "10:30", "8h30", "5pm", "10.05 am"; by the figures, and as people tell the time."""

from __future__ import annotations

import re

from refprep.text.readings.numbers import cardinals

_CLOCK = re.compile(r"(\d{1,2})([:.hH点時])(\d{2})?(?::(\d{2}))?(?:uhr|Uhr|h|分)?([ap]\.?m\.?|[AP]\.?M\.?)?")
_HOUR = re.compile(r"(\d{1,2})([ap]\.?m\.?|[AP]\.?M\.?)")
# After the hour; the first is what stands alone when there are no minutes.
_HOURS = {"de": "uhr", "fr": "heures", "nl": "uur", "es": "horas", "it": "ore", "pt": "horas", "en": "hours"}
_MINUTES = {"de": "minuten", "fr": "minutes", "es": "minutos", "it": "minuti", "pt": "minutos"}
_AND = {"es": "y", "it": "e", "pt": "e", "fr": "", "de": "", "nl": "", "en": ""}


def clock_texts(core: str, code: str) -> list[str]:
    """Ways to say a time of day; empty for anything else."""
    match = _HOUR.fullmatch(core)
    if match and 1 <= int(match.group(1)) <= 12:
        return [
            f"{h} {half}" for h in cardinals(int(match.group(1)), code) for half in _halves(match.group(2))
        ]
    match = _CLOCK.fullmatch(core)
    if match is None:
        return []
    hour, minute = int(match.group(1)), int(match.group(3) or 0)
    if hour > 24 or minute > 59 or (match.group(2) in ":." and not match.group(3)):
        return []
    if match.group(2) in "hH" and code == "en":
        return []
    if match.group(4):
        parts = [cardinals(int(p), code)[0] for p in (match.group(1), match.group(3) or "0", match.group(4))]
        return [" ".join(parts)]
    told = tell_time(hour, minute, code)
    if match.group(2) == "." and not match.group(5):
        told = [
            t for t in told if t not in _as_told(hour, minute, code)
        ]  # 1.50 is a price before it is ten to two
    if match.group(5):
        return [f"{text} {half}" for text in told for half in _halves(match.group(5))]
    return told


def _halves(written: str) -> tuple[str, str]:
    half = written.replace(".", "").lower()
    return half, f"{half[0]} {half[1]}"


def tell_time(hour: int, minute: int, code: str) -> list[str]:
    """Ways to say an hour and a minute, the figures first."""
    if code == "zh":
        return _chinese(hour, minute)
    if code == "ja":
        return _japanese(hour, minute)
    hours, minutes = cardinals(hour, code), cardinals(minute, code)
    noun = _HOURS.get(code, "")
    found: list[str] = []
    if not minute:
        found += [*hours, *(f"{h} {noun}" for h in hours if noun)]
        if code == "en":
            found = [hours[0], f"{hours[0]} o'clock", f"{hours[0]} hundred", f"{hours[0]} hundred hours"]
        elif code == "fr":
            found += [f"{h} heure" for h in hours if hour == 1]
        elif code in ("es", "it", "pt"):
            found += [
                f"{h} en punto" if code == "es" else f"{h} em ponto" if code == "pt" else f"{h} in punto"
                for h in hours
            ]
    else:
        heads = [*hours, *(f"{h} {noun}" for h in hours if noun and code != "en")]
        if code == "fr" and hour == 1:
            heads.append("une heure")
        link = _AND.get(code, "")
        found += [f"{head} {m}" for head in heads for m in minutes]
        if code in _MINUTES:
            found += [
                f"{head}{e} {m} {_MINUTES[code]}"
                for head in heads
                for m in minutes
                for e in ("", f" {link}" if link else "")
            ]
        if link:
            found += [f"{head} {link} {m}" for head in heads for m in minutes]
    if minute and minute < 10:
        nought = "oh" if code == "en" else cardinals(0, code)[0]
        found += [f"{h} {nought} {m}" for h in hours for m in minutes[:1]]
    if code == "en" and minute % 10 == 0 and minute:
        found += [f"{hours[0]} {minutes[0]} hours"]
    if hour == 0:
        found += (
            {"en": ["midnight"], "fr": ["minuit"], "de": ["mitternacht"]}.get(code, []) if not minute else []
        )
    return [*found, *_as_told(hour, minute, code)]


def _as_told(hour: int, minute: int, code: str) -> list[str]:
    """Half past, quarter to: by the clock of twelve hours, under the names each language has for them."""
    at = [cardinals(h, code) for h in (hour % 12 or 12, (hour + 1) % 12 or 12)]
    now, then = ([t for h in ({at[0], cardinals(hour, code)}) for t in h], at[1])
    if code == "fr":
        now = [f"{h} heures" for h in now] + (["une heure"] if hour % 12 == 1 else [])
        then = tuple([f"{h} heures" for h in then] + (["une heure"] if (hour + 1) % 12 == 1 else []))
    past: dict[str, dict[int, tuple[str, ...]]] = {
        "en": {15: ("quarter past {0}", "a quarter past {0}"), 30: ("half past {0}", "half {0}"), 45: ("quarter to {1}", "a quarter to {1}")},
        "de": {15: ("viertel nach {0}", "viertel {1}"), 30: ("halb {1}",), 45: ("viertel vor {1}", "dreiviertel {1}")},
        "fr": {15: ("{0} et quart",), 30: ("{0} et demie", "{0} et demi"), 45: ("{1} moins le quart",)},
        "es": {15: ("{0} y cuarto",), 30: ("{0} y media",), 45: ("{1} menos cuarto",)},
        "it": {15: ("{0} e un quarto",), 30: ("{0} e mezza", "{0} e mezzo"), 45: ("{1} meno un quarto", "{0} e tre quarti")},
        "pt": {15: ("{0} e quinze",), 30: ("{0} e meia",), 45: ("{1} menos quinze", "quinze para as {1}")},
        "nl": {15: ("kwart over {0}",), 30: ("half {1}",), 45: ("kwart voor {1}",)},
    }  # fmt: skip
    found = [p.format(n, t) for p in past.get(code, {}).get(minute, ()) for n in now for t in then]
    if code == "en" and minute and minute % 5 == 0 and minute != 30:
        number = cardinals(minute if minute < 30 else 60 - minute, code)[0]
        found += [f"{number} past {n}" for n in now] if minute < 30 else [f"{number} to {t}" for t in then]
    return found


def _chinese(hour: int, minute: int) -> list[str]:
    hours, minutes = cardinals(hour, "zh"), cardinals(minute, "zh")
    found = (
        [f"{h}点" for h in hours]
        if not minute
        else [f"{h}点{m}{end}" for h in hours for m in minutes for end in ("", "分")]
    )
    if not minute:
        found += [f"{h}点整" for h in hours]
    if 0 < minute < 10:
        found += [f"{h}点零{m}{end}" for h in hours for m in minutes for end in ("", "分")]
    named = {15: "一刻", 30: "半", 45: "三刻"}
    return found + [f"{h}点{named[minute]}" for h in hours if minute in named]


def _japanese(hour: int, minute: int) -> list[str]:
    hours, minutes = cardinals(hour, "ja"), cardinals(minute, "ja")
    if not minute:
        return [f"{h}時" for h in hours]
    found = [f"{h}時{m}分" for h in hours for m in minutes]
    return found + [f"{h}時半" for h in hours if minute == 30]
