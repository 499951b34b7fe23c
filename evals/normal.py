"""When two values are the same value: spelling, numbers, dates and units do not count.

Kept apart from what promotion itself takes for equal, so that an error there is seen here.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import date, datetime
from typing import Any

LEADING = re.compile(r"^(?:the|a|an|my|our)\s+")
THOUSANDS = re.compile(r"(?<=\d)[, \u202f](?=\d{3}(?!\d))")
NUMBER = re.compile(r"^([$€£]?)\s*(-?\d+(?:\.\d+)?)\s*([a-z%$€£°]+(?: [a-z]+)?)?$")
EDGES = " \t\n.,;:!?\"'\u201c\u201d\u2018\u2019()[]"
WORD = re.compile(r"[\w$€£%]+(?:[.'-]\w+)*")
DATES = ("%d %B %Y", "%B %d %Y", "%d %b %Y", "%b %d %Y", "%d.%m.%Y", "%Y/%m/%d")
ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")
UNITS = {
    "$": "usd", "dollar": "usd", "dollars": "usd", "usd": "usd", "€": "eur", "euro": "eur",
    "euros": "eur", "eur": "eur", "£": "gbp", "pounds sterling": "gbp", "gbp": "gbp",
    "kg": "kg", "kgs": "kg", "kilo": "kg", "kilos": "kg", "kilogram": "kg", "kilograms": "kg",
    "lb": "lb", "lbs": "lb", "pound": "lb", "pounds": "lb", "cm": "cm", "centimetres": "cm",
    "m": "m", "metres": "m", "meters": "m", "km": "km", "kilometres": "km", "kilometers": "km",
    "mi": "mile", "mile": "mile", "miles": "mile", "min": "minute", "mins": "minute",
    "minute": "minute", "minutes": "minute", "h": "hour", "hr": "hour", "hrs": "hour",
    "hour": "hour", "hours": "hour", "day": "day", "days": "day", "week": "week", "weeks": "week",
    "month": "month", "months": "month", "year": "year", "years": "year", "%": "percent",
    "percent": "percent", "per cent": "percent", "kcal": "kcal", "calories": "kcal",
    "°c": "celsius", "celsius": "celsius", "°f": "fahrenheit", "fahrenheit": "fahrenheit",
}  # fmt: skip
SMALL = {
    word: str(number)
    for number, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    )
}


def normal(value: Any) -> str:
    """Return the form in which equal values are equal text."""
    if isinstance(value, bool) or value is None:
        return str(value).casefold()
    if isinstance(value, dict):
        given = {str(key): normal(each) for key, each in value.items()}
        return _amount(given) or str(sorted(given.items()))
    if isinstance(value, list | tuple):
        return str([normal(each) for each in value])
    plain = unicodedata.normalize("NFKC", str(value)).casefold().replace("\u2019", "'")
    plain = LEADING.sub("", " ".join(plain.split()).strip(EDGES) or plain)
    return _date(plain) or _number(plain) or plain


def tokens(value: Any) -> list[str]:
    """Return the words of a free text, in their normal form."""
    plain = unicodedata.normalize("NFKC", str(value)).casefold().replace("\u2019", "'")
    words: list[str] = WORD.findall(plain)
    return [SMALL.get(word, word) for word in words]


def token_f1(one: Any, other: Any) -> float:
    """Return how far two texts share their words: 1.0 for the same words, 0.0 for none."""
    left, right = tokens(one), tokens(other)
    rest = list(right)
    shared = 0
    for word in left:
        if word in rest:
            rest.remove(word)
            shared += 1
    return 2 * shared / (len(left) + len(right)) if shared else 0.0


def _amount(given: dict[str, str]) -> str | None:
    """Return {"amount": 5, "unit": "kg"} and {"value": …, "currency": …} as `5 kg`."""
    amount = given.get("amount", given.get("value", given.get("number")))
    unit = given.get("unit", given.get("currency"))
    return normal(f"{amount} {unit}") if amount and unit and len(given) == 2 else None


def _number(plain: str) -> str | None:
    first, _, rest = plain.partition(" ")
    plain = f"{SMALL.get(first, first)} {rest}".strip()
    found = NUMBER.match(THOUSANDS.sub("", plain))
    if found is None or re.match(r"^0\d", found[2]):  # 00451 is a name, not a number
        return None
    unit = UNITS.get(found[3] or found[1] or "", found[3] or found[1] or "")
    return f"{float(found[2]):.12g} {unit}".strip()


def _date(plain: str) -> str | None:
    bare = ORDINAL.sub("", plain).replace(",", "")
    for form in DATES:
        try:
            return datetime.strptime(bare, form).date().isoformat()  # noqa: DTZ007 - a day has no zone
        except ValueError:
            pass
    try:
        return date.fromisoformat(bare[:10]).isoformat() if len(bare) >= 10 else None
    except ValueError:
        return None
