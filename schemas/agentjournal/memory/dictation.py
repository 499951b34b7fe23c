"""What is dictated, as it would be written: codes digit by digit, dates and addresses of mail.

"Sierra November one one, dash, four oh two" is SN11-402, "the sixth of May, nineteen thirty-nine"
is 6 May 1939, "jo dot park at example dot org" is jo.park@example.org. Quotes are of what was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_ONES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = (
    *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_DIGITS = {
    **{word: str(number) for number, word in enumerate((*_ONES, *_TEENS))},
    **{word: str(number * 10) for number, word in enumerate(_TENS, 2)},
    **dict.fromkeys(("oh", "nought", "naught"), "0"),
}
# The alphabet of the International Civil Aviation Organization.
_ALPHABET = {
    word: word[0].upper()
    for word in (
        *("alpha", "alfa", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel"),
        *("india", "juliet", "juliett", "kilo", "lima", "mike", "november", "oscar", "papa"),
        *("quebec", "romeo", "sierra", "tango", "uniform", "victor", "whiskey", "whisky"),
        *("xray", "x-ray", "yankee", "zulu"),
    )
}
_SIGNS = {
    **dict.fromkeys(("dash", "hyphen", "minus"), "-"),
    **dict.fromkeys(("slash", "stroke"), "/"),
    **dict.fromkeys(("dot", "point"), "."),
    "underscore": "_",
}
_TIMES = {"double": 2, "triple": 3, "treble": 3}


def _any_of(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_ONE = _any_of(_ONES[1:])
_NUMBER = rf"(?:{_any_of(_TENS)})[- ](?:{_ONE})|{_any_of(_DIGITS)}"
# "A" and "I" are letters where more is spelt, and words elsewhere; "PL dash two" begins with both.
_LETTER = (
    rf"(?:(?-i:[A-Z]{{2,4}})(?=,?\s+(?:{_any_of(_SIGNS)})\b)|[b-hj-z]"
    rf"|[ai](?=\s+(?:(?:{_any_of(_TIMES)}|{_NUMBER}|{_any_of(_ALPHABET)}|[a-z]|\d+)\b)))"
)
_UNIT = (
    rf"(?>(?:(?:{_any_of(_TIMES)})\s+)?(?:\w+,? (?:as in|for) (?:{_any_of(_ALPHABET)})"
    rf"|{_NUMBER}|{_any_of(_ALPHABET)}|{_LETTER}|\d+))"
)
_BETWEEN = r"(?:\s*,?\s+(?:(?:and )?then,?\s+)?)"
# A run begins and ends with what has a value; signs stand between. Of what is corrected at once
# nobody can say which part of it.
_RUN = re.compile(
    rf"(?<![\w'.@-])(?<!sorry )(?<!wait )(?<!mean ){_UNIT}"
    rf"(?:{_BETWEEN}(?:(?:{_any_of(_SIGNS)}){_BETWEEN})?{_UNIT}){{2,}}"
    r"(?![\w'@-]|\.\w|,? (?:no|sorry|wait|I mean)\b)",
    re.IGNORECASE,
)
_PIECE = re.compile(
    rf"(?:(?P<times>{_any_of(_TIMES)})\s+)?(?:\w+,? (?:as in|for) (?P<spelt>{_any_of(_ALPHABET)})"
    rf"|(?P<number>{_NUMBER})|(?P<word>{_any_of(_ALPHABET)})|(?P<sign>{_any_of(_SIGNS)})"
    r"|(?:and )?then\b|(?P<plain>[a-z]{1,4}\b|\d+))",
    re.IGNORECASE,
)
NAME = "english"  # as the table `talk` of a language names it
_LEAST = 4  # signs of a code
_FEWEST = 2  # words of it that stand for signs: so many are hardly a coincidence
_SPELT = 5  # single signs with blanks between them: "M 4 4 0 9 1"
_SIGN_BY_SIGN = re.compile(
    rf"(?<!\S)[a-z\d](?: [a-z\d]){{{_SPELT - 1},}}(?!\S*[\w'])", re.IGNORECASE
)

_ORDINALS: dict[str, int] = dict(
    zip(
        (
            *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"),
            *("ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth"),
            *("fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"),
            *("twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth"),
            *("twenty-fifth", "twenty-sixth", "twenty-seventh", "twenty-eighth"),
            *("twenty-ninth", "thirtieth", "thirty-first"),
        ),
        range(1, 32),
        strict=True,
    )
)
_MONTH = (
    r"(?P<month>January|February|March|April|May|June|July|August|September|October|November"
    r"|December)"
)
_ORDINAL = rf"(?P<day>{_any_of(each.replace('-', '[- ]') for each in _ORDINALS)})"
_BELOW_100 = rf"(?:{_any_of(_TENS)})(?:[- ](?:{_ONE}))?|{_any_of((*_TEENS, *_ONES[1:]))}"
_YEAR = (
    rf"(?:,? (?:(?:in|of|the year) )?"
    rf"(?P<year>(?:nineteen|twenty)[- ](?:oh[- ](?:{_ONE})|{_BELOW_100})"
    rf"|two thousand(?:(?: and)? (?:{_BELOW_100}))?|\d{{4}})\b)?"
)
_CENTURY, _TH = "nineteen|two|twenty", "(?:st|nd|rd|th)?"
# Before what is dictated; elsewhere they part clauses.
_FILLERS = re.compile(
    rf"(?<![\w'-])(?:u[mh]+|erm?|h+mm*)(?![\w'-]),?\s*"
    rf"(?=(?:{_NUMBER}|{_any_of(_ALPHABET)}|{_ORDINAL}|[b-hj-z])\b(?!'))",
    re.IGNORECASE,
)
_DATES = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"\b(?:the )?{_ORDINAL}(?: day)?(?: of)? {_MONTH}\b{_YEAR}",
        rf"\b{_MONTH},? (?:the )?{_ORDINAL}\b{_YEAR}",
        rf"\b(?P<day>\d{{1,2}}){_TH}(?: of)? {_MONTH}\b(?=,? (?:in )?(?:{_CENTURY})\b){_YEAR}",
    )
)
_MAIL = re.compile(
    r"(?<![\w.@])(?P<who>[\w-]+(?:(?: (?:dot|underscore|dash|hyphen) |\.)[\w-]+)*) at "
    r"(?P<where>[\w-]+(?:(?: (?:dot|dash|hyphen) )[\w-]+)*(?: dot |\.)[a-z]{2,10})\b",
    re.IGNORECASE,
)
_MAIL_HINT = re.compile(r"\bat [\w-]+(?: \w+ [\w-]+)*(?: dot |\.)[a-z]{2,}", re.IGNORECASE)
_WORD = re.compile(r"[a-z]+")
_FILLED = frozenset({"um", "umm", "uh", "uhh", "er", "erm", "hm", "hmm"})
# Of these something dictated has one.
_SAID = frozenset(
    word
    for words in (_DIGITS, _ALPHABET, _ORDINALS, ("dot",))
    for each in words
    for word in each.split("-")
)
_NO_ONE = frozenset({"me", "us", "it", "them", "you", "him", "her", "one", "look", "be", "is"})


def written(text: str) -> str:
    """Return a text with what is dictated in it written as it would be typed."""
    words = _WORD.findall(text.lower())
    if not _FILLED.isdisjoint(words):
        text = _FILLERS.sub("", text)
    if not _SAID.isdisjoint(words):
        text = _RUN.sub(_code, text)
        for form in _DATES:
            text = form.sub(_date, text)
        if _MAIL_HINT.search(text) is not None:
            text = _MAIL.sub(_mail, text)
    return _SIGN_BY_SIGN.sub(_together, text)


def _together(found: re.Match[str]) -> str:
    signs = found[0].replace(" ", "")
    return signs if sum(map(str.isdigit, signs)) > len(signs) // 2 else found[0]


def _code(found: re.Match[str]) -> str:
    """Return what a run of words spells; the words where they are hardly a code."""
    pieces = list(_PIECE.finditer(found[0]))
    spelt = "".join(map(_piece, pieces))
    words = sum(
        bool(each["number"] or each["word"]) for each in pieces
    )  # "9 November 1988" has one
    is_said = words >= _FEWEST or any(each["spelt"] for each in pieces)
    has_digit = any(sign.isdigit() for sign in spelt)
    return spelt if is_said and has_digit and len(spelt) >= _LEAST else found[0]


def _piece(found: re.Match[str]) -> str:
    times = _TIMES[found["times"].casefold()] if found["times"] else 1
    if found["number"]:
        return _number(found["number"]) * times
    if word := found["spelt"] or found["word"]:
        return _ALPHABET[word.casefold()] * times
    if found["sign"]:
        return _SIGNS[found["sign"].casefold()]
    return (found["plain"] or "").upper() * times


def _number(words: str) -> str:
    """Return the digits of a number of one or two words: `seventy one`."""
    parts = [_DIGITS[word] for word in re.split(r"[- ]", words.casefold())]
    return str(sum(map(int, parts))) if len(parts) > 1 else parts[0]


def _date(found: re.Match[str]) -> str:
    day = found["day"].casefold().replace(" ", "-")
    year = f" {_year(found['year'])}" if found["year"] else ""
    return f"{_ORDINALS.get(day, day)} {found['month']}{year}"


def _year(words: str) -> str:
    if words.isdigit():
        return words
    century, *rest = re.split(r"[- ]", words.casefold().replace(" and ", " "))
    if century == "two":  # thousand
        return str(2000 + sum(int(_DIGITS[word]) for word in rest[1:]))
    return str(int(_DIGITS[century]) * 100 + sum(int(_DIGITS[word]) for word in rest))


def _mail(found: re.Match[str]) -> str:
    who = found["who"]
    if who.casefold() in _NO_ONE:
        return found[0]
    return "@".join(map(_joined, (who, found["where"])))


def _joined(words: str) -> str:
    return re.sub(r" (\w+) ", lambda sign: _SIGNS[sign[1].casefold()], words)
