"""The form that bytes must have to enter the log, decided by the same words in every release.

A library only says whether bytes are RFC 8259 JSON with numbers that a double can hold, and is
tried on import with what it must refuse. Depth is judged here, before it parses: its own limits
differ between releases and follow the Python stack.
"""

from __future__ import annotations

import re
from itertools import accumulate
from math import isinf
from typing import Any

import orjson

MAX_DEPTH = 100  # containers inside each other; a number or a text alone has depth 0

# A string without an end reaches to the end of the bytes: else it would be looked for again from
# each of its escaped quotes.
STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
_STRINGS = re.compile(STRING, re.DOTALL)
_NUMBERS = re.compile(rb"[0-9]++(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")
_STEP = [1 if byte in b"[{" else -1 for byte in range(256)]

_DIGITS_AS_ZERO = bytes(48 if 48 <= byte <= 57 else byte for byte in range(256))
_LONG_DIGITS = b"0" * 19  # the shortest integer outside signed 64 bit

# What the parser must refuse. A release of it that does not would change what enters the log.
_REFUSED = (
    *(b"NaN", b"Infinity", b"-Infinity", b"1e400", b"-1e400", b"01", b"+1", b".5", b"1.", b"0x1"),
    *(b"9" * 400, b"", b"[1,]", b'{"a":1,}', b"[1 2]", b"{} {}", b"{a:1}", b"'a'", b"//\n1"),
    *(b'"\\ud800"', b'"\\udc00\\ud800"', b'"\\x41"', b'"\x1f"', b'"a', b"\xef\xbb\xbf{}", b"\x0c1"),
    *(b'"\xff"', b'"\xed\xa0\x80"', b'"\xc0\x80"', b'"\xf4\x90\x80\x80"', b'"\xe2\x82"'),
)


class FormError(ValueError):
    """The bytes do not have the form that the log takes; `reason` says why, in fixed words."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def parse_strict(raw: bytes) -> dict[str, Any]:
    """Return the object that `raw` holds, its escape forms untouched.

    Raises FormError when `raw` is not one RFC 8259 object in UTF-8, is nested deeper than
    MAX_DEPTH, or holds a number beyond the range of a double. Of a repeated key the last counts.
    """
    if len(raw) > MAX_DEPTH and raw.count(b"{") + raw.count(b"[") > MAX_DEPTH < depth(raw):
        raise FormError(f"is nested deeper than {MAX_DEPTH}")
    try:
        parsed = orjson.loads(raw)
    except orjson.JSONDecodeError:
        raise FormError(_why_refused(raw)) from None
    if type(parsed) is not dict:
        raise FormError("is not an object")
    return parsed


def check_json(raw: bytes) -> str | None:
    """Return why `raw` does not have the form that the log takes, or None when it has."""
    try:
        parse_strict(raw)
    except FormError as error:
        return error.reason
    return None


def depth(raw: bytes) -> int:
    """Return how many containers are inside each other at the deepest place of `raw`."""
    brackets = _STRINGS.sub(b"", raw).translate(None, _NO_BRACKETS)
    return max(accumulate(map(_STEP.__getitem__, brackets)), default=0)


def has_long_digits(raw: bytes) -> bool:
    """Return whether `raw` may hold an integer outside signed 64 bit."""
    return _LONG_DIGITS in raw.translate(_DIGITS_AS_ZERO)


def check_parser() -> None:
    """Raise RuntimeError when the installed orjson takes what the log must refuse."""
    for raw in _REFUSED:
        try:
            orjson.loads(raw)
        except orjson.JSONDecodeError:
            continue
        raise RuntimeError(f"orjson {orjson.__version__} reads {raw!r}, which is not RFC 8259 JSON")


def _why_refused(raw: bytes) -> str:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return "is not UTF-8"
    if any(isinf(float(number)) for number in _NUMBERS.findall(_STRINGS.sub(b'""', raw))):
        return "holds a number beyond the range of a double"
    return "is not JSON as RFC 8259 defines it"


check_parser()
