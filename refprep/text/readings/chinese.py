"""Chinese numerals (num2words has none): to 10^16, digit by digit, 两 beside 二."""

from __future__ import annotations

_DIGITS = "零一二三四五六七八九"
_PLACES = ("", "十", "百", "千")
_MYRIADS = ("", "万", "亿", "万亿")
_BEYOND = 10**16


def cardinals(value: int) -> tuple[str, ...]:
    """二百, 两百: as counted; digit by digit from 10^16 on."""
    if value >= _BEYOND:
        return digit_by_digit(str(value))
    plain = _cardinal(value)
    # 二 before a hundred and beyond is 两 in speech, at the head or anywhere; a lone 2 counts things as 两.
    spoken = plain
    for place in ("百", "千", "万", "亿"):
        spoken = spoken.replace(f"二{place}", f"两{place}")
    if value == 2:
        spoken = "两"
    found = [plain, spoken]
    if plain.startswith("二") and spoken != plain:
        found.append("两" + plain[1:])
    if plain.startswith("十"):
        found.append(f"一{plain}")
    return tuple(dict.fromkeys(found))


def digit_by_digit(digits: str) -> tuple[str, ...]:
    """二零零五; 一 is 幺 in numbers of telephones and rooms."""
    plain = "".join(_DIGITS[int(d)] for d in digits)
    return (plain, plain.replace("一", "幺")) if "一" in plain and len(digits) > 2 else (plain,)


def _cardinal(value: int) -> str:
    if value == 0:
        return "零"
    groups: list[int] = []
    while value:
        value, group = divmod(value, 10_000)
        groups.append(group)
    text = ""
    for place in range(len(groups) - 1, -1, -1):
        group = groups[place]
        if not group:
            continue
        if text and (group < 1_000 or not groups[place + 1]):
            text += "零"
        text += _group(group) + _MYRIADS[place]
    return text.removeprefix("一") if text.startswith("一十") else text


def _group(value: int) -> str:
    text, gap = "", False
    for power in range(3, -1, -1):
        digit = value // 10**power % 10
        if digit:
            text += ("零" if gap and text else "") + _DIGITS[digit] + _PLACES[power]
            gap = False
        else:
            gap = True
    return text
