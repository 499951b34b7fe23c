"""Python values to bytes and back: `decode(encode(x)) == x` for every JSON-like value.

The bytes are always strict JSON (RFC 8259) in strict UTF-8, nested at most MAX_DEPTH containers.
What JSON cannot hold is written as an object with exactly one key that starts with "$":

    {"$int": "1180591620717411303424"}   an integer outside signed 64 bit: decimal, or, beyond
                                         4,000 digits, hexadecimal "0x…"
    {"$float": "nan"}                    also "inf" and "-inf"
    {"$bytes": "AAE="}                   base64
    {"$text": ["abc", 55357, "def"]}     text with lone halves of surrogate pairs, as numbers
    {"$dict": [["$int", 1], …]}          a dict that would read as one of these forms, or that has
                                         keys with lone halves of surrogate pairs
    {"$deep": [node, …]}                 a value nested too deep: every list and dict in it, those
                                         inside before those around and so the value itself last,
                                         each with {"$ref": index} where another one stands in it

A one-key object that is none of these, though its key starts with "$", is a plain dict.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from agentjournal.codec_form import (
    MAX_DEPTH,
    FormError,
    check_json,
    has_long_digits,
    parse_strict,
)
from agentjournal.codec_read import escape_integers, revive
from agentjournal.codec_write import Unwritable, escape
from agentjournal.errors import AppendRejected, as_json_path

__all__ = [
    "MAX_DEPTH",
    "FormError",
    "check_json",
    "decode",
    "encode",
    "may_hold_forms",
    "parse_strict",
    "revive",
]

# In a string a backslash would stand before the quote.
_FIRST_KEY_OF_FORM = re.compile(rb'\{[ \t\n\r]*+"(?:\$|\\u0024)')


def encode(value: object) -> bytes:
    """Return the bytes of `value`: compact JSON that `decode` reads back as an equal value.

    Raises AppendRejected, which names the place and what to write there, for anything that is not
    None, bool, int, float, str, bytes, or a list or a dict of these.
    """
    try:
        form = escape(value, 0, surrogates=False)
        try:
            return orjson.dumps(form)
        except TypeError:  # orjson refuses lone halves of surrogate pairs; nothing else is left
            return orjson.dumps(escape(value, 0, surrogates=True))
    except Unwritable as refused:
        path = as_json_path(tuple(reversed(refused.inner_to_outer)))
        raise AppendRejected(path or "value", refused.reason) from None


def decode(raw: bytes) -> Any:
    """Return the value that `raw` holds; integers written plainly are exact at any size too.

    Raises ValueError when `raw` is not JSON.
    """
    if has_long_digits(raw):  # orjson would make a float of an integer over 64 bits
        raw = escape_integers(raw)
    try:
        value = orjson.loads(raw)
        return revive(value) if b"$" in raw or b"\\u0024" in raw else value
    except RecursionError:
        raise ValueError(f"nested too deep: at most {MAX_DEPTH} containers are written") from None


def may_hold_forms(raw: bytes) -> bool:
    """Return whether `raw` may hold an escape form; else it means what any JSON parser reads."""
    return _FIRST_KEY_OF_FORM.search(raw) is not None
