"""Units of measure: alone ("km/h"), or written onto their number ("5kg", "-5°C", 5'11")."""

from __future__ import annotations

import re

from refprep.text.readings.money import signed
from refprep.text.readings.numbers import cardinals, number_texts

_UNITS: dict[str, dict[str, tuple[str, ...]]] = {
    "en": {
        "km": ("kilometers", "kilometer", "kilometres", "kilometre"), "m": ("meters", "meter", "metres", "metre"), "cm": ("centimeters", "centimeter", "centimetres"), "mm": ("millimeters", "millimeter", "millimetres"),
        "kg": ("kilograms", "kilogram", "kilos", "kilo"), "g": ("grams", "gram"), "mg": ("milligrams", "milligram"), "lb": ("pounds", "pound"), "lbs": ("pounds", "pound"), "oz": ("ounces", "ounce"),
        "l": ("liters", "liter", "litres", "litre"), "ml": ("milliliters", "milliliter", "millilitres"), "ft": ("feet", "foot"), "in": ("inches", "inch"), "yd": ("yards", "yard"), "mi": ("miles", "mile"),
        "mph": ("miles per hour", "miles an hour"), "km/h": ("kilometers per hour", "kilometers an hour", "kilometres per hour", "kilometres an hour"), "kph": ("kilometers per hour", "kilometers an hour"), "m/s": ("meters per second", "metres per second"),
        "h": ("hours", "hour"), "hr": ("hours", "hour"), "hrs": ("hours",), "min": ("minutes", "minute"), "mins": ("minutes",), "s": ("seconds", "second"), "sec": ("seconds", "second"), "secs": ("seconds",), "ms": ("milliseconds", "millisecond"),
        "°C": ("degrees celsius", "degrees c", "degree celsius", "degrees centigrade"), "°F": ("degrees fahrenheit", "degrees f", "degree fahrenheit"), "Hz": ("hertz",), "kHz": ("kilohertz",), "MHz": ("megahertz",), "GHz": ("gigahertz",), "dB": ("decibels", "decibel"),
        "V": ("volts", "volt"), "W": ("watts", "watt"), "kW": ("kilowatts", "kilowatt"), "kWh": ("kilowatt hours", "kilowatt hour"), "KB": ("kilobytes",), "MB": ("megabytes", "megabyte"), "GB": ("gigabytes", "gigabyte"), "TB": ("terabytes", "terabyte"),
        "m²": ("square meters", "square metres", "meters squared"), "km²": ("square kilometers", "square kilometres"), "m³": ("cubic meters", "cubic metres"),
    },
    "de": {
        "km": ("kilometer",), "m": ("meter", "metern"), "cm": ("zentimeter",), "mm": ("millimeter",), "kg": ("kilogramm", "kilo"), "g": ("gramm",), "mg": ("milligramm",), "l": ("liter", "litern"), "ml": ("milliliter",), "t": ("tonnen", "tonne"),
        "km/h": ("kilometer pro stunde", "stundenkilometer", "kmh"), "m/s": ("meter pro sekunde",), "h": ("stunden", "stunde", "uhr"), "min": ("minuten", "minute"), "s": ("sekunden", "sekunde"), "sek": ("sekunden", "sekunde"), "std": ("stunden", "stunde"),
        "°C": ("grad celsius", "grad"), "m²": ("quadratmeter",), "km²": ("quadratkilometer",), "m³": ("kubikmeter",), "Mio": ("millionen", "million"), "Mrd": ("milliarden", "milliarde"), "Tsd": ("tausend",),
    },
    "fr": {
        "km": ("kilomètres", "kilomètre"), "m": ("mètres", "mètre"), "cm": ("centimètres", "centimètre"), "mm": ("millimètres", "millimètre"), "kg": ("kilogrammes", "kilos", "kilo", "kilogramme"), "g": ("grammes", "gramme"), "l": ("litres", "litre"), "ml": ("millilitres",),
        "km/h": ("kilomètres heure", "kilomètres par heure", "kilomètres à l'heure"), "m/s": ("mètres par seconde",), "h": ("heures", "heure"), "min": ("minutes", "minute"), "mn": ("minutes", "minute"), "s": ("secondes", "seconde"),
        "°C": ("degrés celsius", "degré celsius", "degrés"), "m²": ("mètres carrés",), "km²": ("kilomètres carrés",), "m³": ("mètres cubes",),
    },
    "es": {
        "km": ("kilómetros", "kilómetro"), "m": ("metros", "metro"), "cm": ("centímetros", "centímetro"), "mm": ("milímetros", "milímetro"), "kg": ("kilogramos", "kilos", "kilo", "kilogramo"), "g": ("gramos", "gramo"), "l": ("litros", "litro"), "ml": ("mililitros",),
        "km/h": ("kilómetros por hora",), "m/s": ("metros por segundo",), "h": ("horas", "hora"), "min": ("minutos", "minuto"), "s": ("segundos", "segundo"), "°C": ("grados celsius", "grados centígrados", "grado celsius", "grados"), "m²": ("metros cuadrados",), "km²": ("kilómetros cuadrados",), "m³": ("metros cúbicos",),
    },
    "it": {
        "km": ("chilometri", "chilometro"), "m": ("metri", "metro"), "cm": ("centimetri", "centimetro"), "mm": ("millimetri",), "kg": ("chilogrammi", "chili", "chilo", "chilogrammo"), "g": ("grammi", "grammo"), "l": ("litri", "litro"), "ml": ("millilitri",),
        "km/h": ("chilometri all'ora", "chilometri orari", "chilometri l'ora"), "m/s": ("metri al secondo",), "h": ("ore", "ora"), "min": ("minuti", "minuto"), "s": ("secondi", "secondo"), "°C": ("gradi celsius", "gradi centigradi", "gradi"), "m²": ("metri quadrati", "metri quadri"), "km²": ("chilometri quadrati",), "m³": ("metri cubi",),
    },
    "pt": {
        "km": ("quilômetros", "quilómetros", "quilômetro"), "m": ("metros", "metro"), "cm": ("centímetros", "centímetro"), "mm": ("milímetros",), "kg": ("quilogramas", "quilos", "quilo", "quilograma"), "g": ("gramas", "grama"), "l": ("litros", "litro"), "ml": ("mililitros",),
        "km/h": ("quilômetros por hora", "quilómetros por hora", "quilômetros à hora"), "m/s": ("metros por segundo",), "h": ("horas", "hora"), "min": ("minutos", "minuto"), "s": ("segundos", "segundo"), "°C": ("graus celsius", "graus centígrados", "graus"), "m²": ("metros quadrados",), "km²": ("quilômetros quadrados",), "m³": ("metros cúbicos",),
    },
    "nl": {"km": ("kilometer",), "m": ("meter",), "cm": ("centimeter",), "kg": ("kilogram", "kilo"), "g": ("gram",), "l": ("liter",), "km/h": ("kilometer per uur",), "km/u": ("kilometer per uur",), "°C": ("graden celsius", "graden")},
    "zh": {
        "km": ("公里", "千米"), "m": ("米",), "cm": ("厘米", "公分"), "mm": ("毫米",), "kg": ("公斤", "千克"), "g": ("克",), "l": ("升",), "ml": ("毫升",), "km/h": ("公里每小时",), "h": ("小时",), "min": ("分钟",), "s": ("秒",),
        "°C": ("摄氏度", "度"), "m²": ("平方米",), "km²": ("平方公里", "平方千米"), "m³": ("立方米",),
    },
    "ja": {
        "km": ("キロ", "キロメートル"), "m": ("メートル",), "cm": ("センチ", "センチメートル"), "mm": ("ミリ", "ミリメートル"), "kg": ("キロ", "キログラム"), "g": ("グラム",), "l": ("リットル",), "ml": ("ミリリットル", "ミリ"),
        "km/h": ("キロ",), "h": ("時間",), "min": ("分",), "s": ("秒",), "°C": ("度", "ど"), "m²": ("平方メートル", "平米"), "km²": ("平方キロメートル", "平方キロ"),
    },
}  # fmt: skip
_MEASURE = re.compile(r"([-+])?(\d[\d.,']*?)(°?[^\W\d_]+(?:/[a-z]+)?[²³23]?)")
_HEIGHT = re.compile(r"(\d)'(\d{1,2})(?:\"|''|”)?")
_TIMES = {
    "en": ("times", "x"),
    "de": ("mal", "fach"),
    "fr": ("fois",),
    "es": ("veces",),
    "it": ("volte",),
    "pt": ("vezes",),
}


def unit_texts(unit: str, code: str) -> tuple[str, ...]:
    """Names of a unit, several first; empty for what is none. A language without a table has none."""
    names = _UNITS.get(code, {})
    # m2 is how people type m²; a lone capital is another unit than its small letter, a long one is not.
    squared = re.sub(r"(?<=m)2$", "²", re.sub(r"(?<=m)3$", "³", unit))
    if squared in names:
        return names[squared]
    return names.get(squared.lower(), ()) if len(squared) > 2 or squared == "L" else ()


def measure_texts(core: str, code: str) -> list[str]:
    """Ways to say a number with its unit written onto it; empty for anything else."""
    height = _HEIGHT.fullmatch(core)
    if height and code == "en":
        return _heights(int(height.group(1)), int(height.group(2)))
    match = _MEASURE.fullmatch(core)
    if match is None:
        return []
    sign, digits, unit = match.groups()
    names = unit_texts(unit, code)
    if unit in ("x", "X"):
        names = _TIMES.get(code, ("x",))
    if code == "zh" and unit == "°C":
        # 摄氏 may stand before the number, and the sign of the temperature inside.
        numbers = signed(list(number_texts(digits, code)), sign == "-", code)
        return [f"{n}摄氏度" for n in numbers] + [f"摄氏{n}度" for n in numbers] + [f"{n}度" for n in numbers]
    return signed([f"{n} {name}" for n in number_texts(digits, code) for name in names], sign == "-", code)


def _heights(feet: int, inches: int) -> list[str]:
    found = []
    for foot in ("foot", "feet"):
        for tail in cardinals(inches, "en"):
            head = f"{cardinals(feet, 'en')[0]} {foot} {tail}"
            found += [head, f"{head} inches", f"{head} inch"]
    return [*found, f"{cardinals(feet, 'en')[0]} {cardinals(inches, 'en')[0]}"]
