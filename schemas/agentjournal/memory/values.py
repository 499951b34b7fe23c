"""Values of slots: from the words of a statement to what is kept, and when two are the same.

What is kept is what was written, as far as it can be compared: only dates, numbers, amounts and
choices are written anew. What cannot be read as its slot's type is no value: nothing is guessed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

from agentjournal.memory.dates import date_of, time_of
from agentjournal.memory.slots import Slot

_EDGES = " \t\r\n.,;:!?\"'“”\u2018\u2019„«»()[]*_`"
_THOUSANDS = re.compile(r"(?<=\d)[,'\u2019\u00a0\u202f](?=\d{3}(?!\d))")
_NUMBER = re.compile(r"([+-]?\d+(?:\.\d+)?)\s*(k|thousand|m|million|bn|billion)?\b", re.IGNORECASE)
_TIMES = {
    "k": 10**3,
    "thousand": 10**3,
    "m": 10**6,
    "million": 10**6,
    "bn": 10**9,
    "billion": 10**9,
}
_AMOUNT = re.compile(r"([+-]?\d+(?:\.\d+)?) ?([^\d\s].*)")
_EMAIL = re.compile(r"[\w.+'-]{1,64}@[\w-]+(?:\.[\w-]+)+")
_PHONE = re.compile(r"\+?\(?[\d][\d\s()./-]{5,22}\d")
_FEET = re.compile(
    r"(\d)\s*(?:'|\u2032|ft\.?|feet|foot)\s*(\d{1,2})?\s*(?:\"|″|''|in\.?|inch|inches)?"
)
_CURRENCY = re.compile(
    r"(?P<sign>US\$|[$€£¥])|\b(?P<word>usd|eur|gbp|chf|jpy|cad|aud|sek|nok|dkk|pln|inr|dollars?|euros?"
    r"|pounds?(?: sterling)?|francs?|yen|bucks|quid|rupees?)\b",
    re.IGNORECASE,
)
_CURRENCIES = {
    "$": "USD", "us$": "USD", "dollar": "USD", "dollars": "USD", "bucks": "USD", "€": "EUR",
    "euro": "EUR", "euros": "EUR", "£": "GBP", "pound": "GBP", "pounds": "GBP", "quid": "GBP",
    "pound sterling": "GBP", "pounds sterling": "GBP", "¥": "JPY", "yen": "JPY", "franc": "CHF",
    "francs": "CHF", "rupee": "INR", "rupees": "INR",
}  # fmt: skip
_UNITS = {
    "kg": "kg", "kgs": "kg", "kilo": "kg", "kilos": "kg", "kilogram": "kg", "kilograms": "kg",
    "g": "g", "gram": "g", "grams": "g", "lb": "lb", "lbs": "lb", "pound": "lb", "pounds": "lb",
    "st": "st", "stone": "st", "cm": "cm", "centimetre": "cm", "centimetres": "cm",
    "centimeter": "cm", "centimeters": "cm", "m": "m", "metre": "m", "metres": "m", "meter": "m",
    "meters": "m", "km": "km", "kilometre": "km", "kilometres": "km", "kilometer": "km",
    "kilometers": "km", "mi": "mile", "mile": "mile", "miles": "mile", "inch": "in",
    "inches": "in", "in": "in", "h": "hour", "hr": "hour", "hrs": "hour", "hour": "hour",
    "hours": "hour", "min": "minute", "mins": "minute", "minute": "minute", "minutes": "minute",
    "day": "day", "days": "day", "week": "week", "weeks": "week", "month": "month",
    "months": "month", "year": "year", "years": "year", "%": "percent", "percent": "percent",
    "usd": "USD", "eur": "EUR", "gbp": "GBP", "chf": "CHF", "jpy": "JPY",
}  # fmt: skip
_WORDS = {
    word: number
    for number, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
            "twenty",
        ]
    )
} | {
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
}
_ONES = "one|two|three|four|five|six|seven|eight|nine"
_TENS = "|".join(sorted(_WORDS, key=len, reverse=True))
_IN_WORDS = re.compile(
    rf"\b(?:(?P<hundreds>a|{_ONES}) hundred(?: and |\b))?"
    rf"(?:(?P<tens>{_TENS})(?:[- ](?P<ones>{_ONES}))?\b)?",
    re.IGNORECASE,
)


def value_of(slot: Slot, written: str, at: str) -> Any:
    """Return the value that words mean in a slot; None: they are none of its type.

    `at` is when they were said, ISO 8601: dates are resolved against it.
    """
    text = " ".join(written.split()).strip(_EDGES)
    if not text:
        return None
    if slot.type == "date":
        return date_of(text, at, is_past=slot.attribute == "birthday")
    return _READERS.get(slot.type, _chosen)(slot, text)


def _chosen(slot: Slot, text: str) -> Any:
    """Return the choice that a word means; where there are none, the word."""
    return slot.choices.get(text.casefold(), None if slot.type == "choice" else text)


def _name(slot: Slot, text: str) -> str | None:
    """Return a name without the small words before it: `little Mira`."""
    named = re.sub(r"^(?:[a-z]+ )+(?=[A-Z])", "", text)
    return slot.choices.get(named.casefold(), named)


def normal_form(value: Any) -> str:
    """Return the text that equal values have in common, and others do not."""
    match value:
        case bool() | None:
            return str(value).casefold()
        case int() | float():
            return _plain(value)
        case datetime() | date():
            return value.isoformat()
        case Mapping():
            pairs = sorted((str(key), normal_form(each)) for key, each in value.items())
            return str(pairs)
        case list() | tuple():
            return str([normal_form(each) for each in value])
        case _:
            return _normal_text(str(value))


def _normal_text(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    plain = " ".join(plain.split())
    plain = plain.strip(_EDGES) or plain
    if _PHONE.fullmatch(plain) and not re.fullmatch(r"\d{4}-\d\d(?:-\d\d)?", plain):
        digits = re.sub(r"\D", "", plain)
        return f"+{digits}" if plain.startswith("+") else digits
    amount = _AMOUNT.fullmatch(_THOUSANDS.sub("", plain))
    if amount is not None and (unit := _UNITS.get(amount[2])):
        return f"{_plain(float(amount[1]))} {unit}"
    number = re.fullmatch(r"-?(?:0|[1-9]\d*)(?:\.\d+)?", _THOUSANDS.sub("", plain))
    return _plain(float(number[0])) if number else plain


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(float(number))


def _digits(text: str) -> str:
    """Return a text with its numbers in digits, without separators of thousands."""

    def figure(found: re.Match[str]) -> str:
        if not found[0].strip():
            return found[0]
        words = (found["tens"], found["ones"])
        small = sum(_WORDS[word.casefold()] for word in words if word)
        hundreds = found["hundreds"]
        return str(small + 100 * (_WORDS.get(hundreds.casefold(), 1) if hundreds else 0))

    return _THOUSANDS.sub("", _IN_WORDS.sub(figure, text))


def _number(text: str) -> int | float | None:
    found = _NUMBER.search(_digits(text))
    if found is None:
        return None
    number = float(found[1]) * _TIMES.get((found[2] or "").casefold(), 1)
    return int(number) if number == int(number) else number


def _quantity(text: str) -> str | None:
    if feet := _FEET.fullmatch(text):
        return f"{round(int(feet[1]) * 30.48 + int(feet[2] or 0) * 2.54)} cm"
    found = re.search(r"(-?\d+(?:\.\d+)?)\s*([a-zA-Z%]+)", _digits(text))
    unit = found and _UNITS.get(found[2].casefold())
    return f"{_plain(float(found[1]))} {unit}" if found and unit else None


def _money(text: str) -> str | None:
    currency, amount = _CURRENCY.search(text), _number(_CURRENCY.sub(" ", text))
    if currency is None or amount is None:
        return None
    name = currency[0].casefold()
    return f"{_plain(amount)} {_CURRENCIES.get(name, name.upper())}"


def _email(text: str) -> str | None:
    found = _EMAIL.fullmatch(text)
    return found and found[0]


def _phone(text: str) -> str | None:
    found = _PHONE.fullmatch(text)
    return found and found[0]


_READERS: Mapping[str, Callable[[Slot, str], Any]] = {
    "name": _name,
    "number": lambda _, text: _number(text),
    "quantity": lambda _, text: _quantity(text),
    "money": lambda _, text: _money(text),
    "time": lambda _, text: time_of(text),
    "email": lambda _, text: _email(text),
    "phone": lambda _, text: _phone(text),
}
