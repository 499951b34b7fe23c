"""Identifiers in text: what a later answer may need to the letter and no summary may lose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias, get_args

IdentifierKind: TypeAlias = Literal["url", "email", "path", "date", "amount", "number"]


class Identifier(NamedTuple):
    """An account or order number, an amount, a path, a date, an address: as it was written.

    A `number` is whatever names one thing: codes, plates and postcodes are among them.
    """

    kind: IdentifierKind
    value: str


_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?"
_CODE = r"(?:USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|SEK|NOK|DKK|PLN|BRL|MXN)"
_SUM = r"\d{1,3}(?:[,.' ]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d{1,2})?"
# Keys of JSON whose values name something, whatever they look like.
_NAMING = r"(?:\b|_)(?:id|no|ref)|number|code|plate|username|login|handle"
_UNITS = r"(?!\ (?:[KMGT]i?B|[AP]M|KG|KM|CM|MM|ML|EUR|USD|GBP)\b)"
# Written in groups: an IBAN, "QW 339 120", "M 20 771", "R 418 KEW", "6612 0094".
_SPACED = rf"""
    \b(?:[A-Z]{{2}}\d\d(?:\ [A-Z\d]{{4}}){{2,7}}(?:\ [A-Z\d]{{1,3}})?
        |[A-Z]{{2,3}}(?:-[A-Z]{{1,2}})?(?=(?:\ ?\d){{3}})(?:\ \d{{1,8}}){{1,5}}(?:\ [A-Z]{{1,2}})?
            (?![-./:]\d)
        |[A-Z]\ (?:\d{{4,8}}|\d{{1,6}}(?:\ \d{{1,6}}){{1,4}}|\d{{1,3}}{_UNITS}\ [A-Z]{{2,3}})
        |[A-Z]{{1,3}}-[A-Z]{{1,2}}\ \d{{1,4}}
        |[A-Z]{{2}}\ ?\d{{2}}{_UNITS}\ [A-Z]{{3}}
        |[A-Z]{{1,2}}\d[A-Z\d]?\ \d[A-Z]{{2}})\b
    |(?<![\w.,:/-])(?<!\d\ )(?=\+|0|[\d\ ]{{0,40}}\d{{3}})(?=\+?(?:\ ?\d){{7}})
        \+?\d{{2,}}(?:\ \d{{2,}}){{1,5}}(?:\ (?:\d|[A-Z]{{1,2}}))?\b(?!\ ?\d)
"""
# Joined by signs: "PX-118", "22/301/4471", "BZ.7741.02", "77-1042".
_JOINED = r"""
    \b(?!UTF-)(?=[\d/.-]{0,20}[A-Z])(?=[A-Z/.-]{0,20}\d)[A-Z\d]{1,12}(?:[-/.][A-Z\d]{1,12}){1,6}\b
    |(?<![\w.,:/-])(?=(?:[-/]?\d){5})\d{1,8}(?:[-/]\d{1,8}){1,4}(?![\w/-])
    |\b[a-z]{1,2}-\d{2,}(?:-\d+)*\b
    |\b\d{5,}[A-Z]\b
"""
# Before what somebody is called by a machine: "my username is weaverbird", "log me in as zmbeki".
_CALLED = (
    r"\b(?:[Uu]ser\ ?name(?:\ is|\ now|:|=)*|(?:[Ll]ogin|[Hh]andle|[Nn]ick)(?:\ is|\ now|:|=)+"
    r"|(?:[Ll]og|[Ss]ign)(?:ged|ging|ed)?(?:\ me)?\ in\ as)"
)
_NO_NAME = (
    r"(?:an?|the|and|or|is|was|are|not|no|now|my|your|to|for|with|on|in|at|as|it|that|this|wrong|taken"
    r"|gone|same|still|broken|down|failing|failed|page|field|required|valid|invalid|name|user|guest"
    r"|admin|administrator|root|required|here|there|what|which|please|missing|empty|correct|unknown)\b"
)
# The first that matches at a place counts, so the more particular ones come first.
PATTERN = re.compile(
    rf"""
    (?P<url>\b[a-z][a-z0-9+.-]{{1,20}}://[^\s<>"'`\])}}]+
        |\b(?:[a-z0-9-]{{1,63}}\.){{1,8}}[a-z]{{2,6}}/[\w./~%?=&\#-]+)
    |(?P<email>\b[\w.+-]{{1,64}}@[\w-]+(?:\.[\w-]+)+\b)
    |(?P<date>\b\d{{4}}-\d{{2}}-\d{{2}}(?:T\d{{2}}:\d{{2}}(?::\d{{2}})?)?
        |\b\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}\b
        |\b{_MONTH}\ \d{{1,2}}(?:st|nd|rd|th)?(?:,?\ \d{{4}})?\b
        |\b\d{{1,2}}\.?\ {_MONTH}(?:\ \d{{4}})?\b)
    |(?P<amount>[$€£¥]\ ?(?:{_SUM})|\b{_CODE}\ ?(?:{_SUM})|\b(?:{_SUM})\ ?(?:{_CODE}\b|[€£¥]))
    |(?P<path>(?<![\w/])(?:~|\.{{1,2}}|[A-Za-z]:)?[/\\](?:[\w.@+-]+[/\\])*[\w.@+-]+
        |\b[\w.@+-]+(?:/[\w.@+-]+)*/[\w.@+-]*\.[A-Za-z]\w{{0,7}}\b)
    |"\w{{0,40}}(?:{_NAMING})":\ ?"(?P<named>[^"\\\s]{{2,64}})"
    |{_CALLED}\ ?["'“]?(?!{_NO_NAME})(?P<called>[A-Za-z][\w.-]{{1,31}}\w)(?![\w@])
    |(?P<number>{_SPACED}|{_JOINED}
        |[#]?\b(?=[\w-]*\d)(?:[A-Za-z]{{1,12}}[-_]?)?\d{{4,}}(?:-[\dA-Za-z]+)*\b
        |[#]\w*\d\w*
        |\b[a-z]+(?:_[a-z]+)*_\d{{2,}}\b
        |\b[A-Z0-9]*(?:[A-Z]\d|\d[A-Z])[A-Z0-9]{{2,}}\b
        |\b[0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}\b)
    """,
    re.VERBOSE,
)
_TRAILING = ".,;:!?"
_KINDS: dict[str, IdentifierKind] = {each: each for each in get_args(IdentifierKind)}


# Each identifier has one of these. No word of it is more than a word away from one that has.
_HINT = re.compile(rf"[\d@/\\]|[0-9a-f]{{8}}-|(?:{_NAMING})\"|{_CALLED}", re.VERBOSE)


def identifiers_in(text: str) -> Iterator[Identifier]:
    """Yield the identifiers of a text in its order; one may come more than once."""
    for start, end in stretches(text):
        for found in PATTERN.finditer(text, start, end):
            group = found.lastgroup or "number"
            value = found[group].rstrip(_TRAILING) if group in {"url", "path"} else found[group]
            if value:
                kind: IdentifierKind = _KINDS.get(group, "number")
                yield Identifier(kind, value)


def stretches(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each run of words with hints, and of one word before and after it.

    Most of a text is told from identifiers faster by a look for hints than by the pattern.
    """
    start, end = 0, -1  # the space behind the last word that has a hint
    for hint in _HINT.finditer(text):
        if hint.end() <= end:
            continue
        space = text.rfind(" ", max(0, end), hint.start())
        before = text.rfind(" ", max(0, end), max(0, space))
        if end < 0:
            start = before + 1
        elif before > (after := text.find(" ", end + 1)):
            yield start, after
            start = before + 1
        end = text.find(" ", hint.end() - 1)
        if end < 0:
            yield start, len(text)
            return
    if end >= 0:
        after = text.find(" ", end + 1)
        yield start, after if after >= 0 else len(text)
