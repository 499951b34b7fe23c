"""Dates and times of day in English words, resolved against when they were said.

Only what has one reading is read: 04/05/2026 is a day in April or in May, so it is no date.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, datetime, timedelta

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"(?P<year>\d{4})-(?P<number>\d{2})-(?P<day>\d{2})(?:T.*)?",
        r"(?P<day>\d{1,2})\.\s?(?P<number>\d{1,2})\.\s?(?P<year>\d{4})",
        r"(?P<number>\d{4})",  # a year alone says no day
        rf"(?:the )?{_DAY}(?: of)? {_MONTH}(?:,? {_YEAR})?",
        rf"{_MONTH} (?:the )?{_DAY}(?:,? {_YEAR})?",
        rf"(?P<end>(?:the )?end of )?{_MONTH}(?: {_YEAR})?",
    )
)
_AHEAD = re.compile(
    r"in (?P<count>\d+|a|an|one|two|three|four|five|six) (?P<unit>day|week|month|year)s?",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(
    r"(?P<next>(?:next|this|on|coming) )?(?P<day>mon|tue|wed|thu|fri|sat|sun)[a-z]*", re.IGNORECASE
)
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_CLOCK = re.compile(
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\s*(?P<half>[ap]\.?m\.?)?", re.IGNORECASE
)


def date_of(text: str, at: str, *, is_past: bool = False) -> str | None:
    """Return the ISO 8601 date that words mean, said at the time `at`; None: they mean none.

    Without a day it is a month, `2026-03`. Without a year it is the next such day from `at` on,
    or with `is_past` a day of every year, `--03-14`.
    """
    said = datetime.fromisoformat(at).date()
    words = re.sub(r"^(?:on|by|until|since|the)\s+(?=\S)", "", text.strip(), flags=re.IGNORECASE)
    relative = _relative(words.casefold(), said)
    if relative is not None:
        return relative.isoformat()
    for form in _FORMS:
        if found := form.fullmatch(words):
            return _named(found.groupdict(), said, is_past=is_past)
    return None


def time_of(text: str) -> str | None:
    """Return the time of day that words mean, `18:30`; None: they mean none."""
    if text.casefold() in {"noon", "midday"}:
        return "12:00"
    found = _CLOCK.fullmatch(text)
    if found is None or not (found["minute"] or found["half"]):
        return None
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    if found["half"]:
        hour = hour % 12 + (12 if found["half"].casefold().startswith("p") else 0)
    return f"{hour:02}:{minute:02}" if hour < 24 and minute < 60 else None


def _named(parts: dict[str, str | None], said: date, *, is_past: bool) -> str | None:
    month, day, year = parts.get("month"), parts.get("day"), parts.get("year")
    number = _MONTHS.index(month[:3].casefold()) + 1 if month else int(parts["number"] or 0)
    if day is None and not month:
        return None
    if not 1 <= number <= 12:
        return None
    if day is None:
        in_year = int(year) if year else said.year + (number < said.month)
        last = monthrange(in_year, number)[1]
        return f"{in_year}-{number:02}" + (f"-{last}" if parts.get("end") else "")
    if year is None and is_past:
        return f"--{number:02}-{int(day):02}"
    return _day(int(year) if year else None, number, int(day), said)


def _day(year: int | None, month: int, day: int, said: date) -> str | None:
    try:
        if year is not None:
            return date(year, month, day).isoformat()
        found = date(said.year, month, day)
        return (found if found >= said else date(said.year + 1, month, day)).isoformat()
    except ValueError:  # there is no such day
        return None


def _relative(words: str, said: date) -> date | None:
    if words in {"today", "tonight"}:
        return said
    if words == "tomorrow":
        return said + timedelta(days=1)
    if words == "yesterday":
        return said - timedelta(days=1)
    if found := _AHEAD.fullmatch(words):
        return _ahead(said, _COUNTS.get(found["count"]) or int(found["count"]), found["unit"])
    if found := _WEEKDAY.fullmatch(words):
        days = (_DAYS.index(found["day"]) - said.weekday() - 1) % 7 + 1
        return said + timedelta(days=days)
    return None


def _ahead(said: date, count: int, unit: str) -> date | None:
    try:
        if unit in {"day", "week"}:
            return said + timedelta(days=count * (7 if unit == "week" else 1))
        months = said.month - 1 + count * (12 if unit == "year" else 1)
        year, month = said.year + months // 12, months % 12 + 1
        return date(year, month, min(said.day, monthrange(year, month)[1]))
    except (ValueError, OverflowError):  # beyond the year 9999
        return None
