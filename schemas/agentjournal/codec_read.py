"""The reading half of the codec: the escape forms to the values they stand for."""

from __future__ import annotations

import re
from binascii import Error as Base64Error
from binascii import a2b_base64
from collections.abc import Callable
from math import inf, nan
from typing import Any

from agentjournal.codec_form import STRING

_INT = re.compile(r"(-?)(?:(0|[1-9][0-9]{0,3999})|0x([0-9a-f]+))", re.ASCII)
_FLOATS = {"nan": nan, "inf": inf, "-inf": -inf}
_STRING_OR_NUMBER = re.compile(
    STRING + rb"|(-?)([0-9]++)((?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?)", re.DOTALL
)
_DIGITS_AT_ONCE = 600  # Python can be told to convert no more than 640


class _OtherForm(Exception):
    """The object has the key of an escape form, but was not written by it: a plain dict."""


def revive(value: Any) -> Any:
    """Return the value that `value`, as a JSON parser gave it, stands for; changes it in place."""
    if type(value) is list:
        for index, item in enumerate(value):
            if type(item) is dict or type(item) is list:
                value[index] = revive(item)
    elif type(value) is dict:
        if len(value) == 1:
            [(key, inner)] = value.items()
            read = _FORMS.get(key)
            if read is not None:
                try:
                    return read(inner)
                except _OtherForm:
                    pass
        for key, item in value.items():
            if type(item) is dict or type(item) is list:
                value[key] = revive(item)
    return value


def escape_integers(raw: bytes) -> bytes:
    """Return JSON `raw` with each integer that may be over 64 bits in the form {"$int": …}."""

    def form(match: re.Match[bytes]) -> bytes:
        sign, digits, rest = match.groups()
        if rest or digits is None or len(digits) < 19 or digits.startswith(b"0"):
            return match[0]
        return b'{"$int":"%s%s"}' % (sign, digits if len(digits) <= 4000 else _hex(digits))

    return _STRING_OR_NUMBER.sub(form, raw)


def _hex(digits: bytes) -> bytes:
    return hex(_integer(digits.decode())).encode()


def _integer(digits: str) -> int:
    if len(digits) <= _DIGITS_AT_ONCE:
        return int(digits)
    half = len(digits) // 2
    scale: int = 10**half
    return _integer(digits[:-half]) * scale + _integer(digits[-half:])


def _read_int(inner: Any) -> int:
    match = _INT.fullmatch(inner) if type(inner) is str else None
    if match is None:
        raise _OtherForm
    sign, decimal, hexadecimal = match.groups()
    size = _integer(decimal) if decimal else int(hexadecimal, 16)
    return -size if sign else size


def _read_float(inner: Any) -> float:
    if type(inner) is not str or inner not in _FLOATS:
        raise _OtherForm
    return _FLOATS[inner]


def _read_bytes(inner: Any) -> bytes:
    try:
        return a2b_base64(inner, strict_mode=True)
    except (TypeError, ValueError, Base64Error):
        raise _OtherForm from None


def _read_text(inner: Any) -> str:
    if type(inner) is not list:
        raise _OtherForm
    return "".join(map(_piece, inner))


def _piece(piece: Any) -> str:
    if type(piece) is str:
        return piece
    if type(piece) is int and 0xD800 <= piece <= 0xDFFF:
        return chr(piece)
    raise _OtherForm


def _read_dict(inner: Any) -> dict[str, Any]:
    return {key: _revived(item) for key, item in _pairs(inner).items()}


def _pairs(inner: Any) -> dict[str, Any]:
    if type(inner) is not list:
        raise _OtherForm
    pairs: dict[str, Any] = {}
    for pair in inner:
        if type(pair) is not list or len(pair) != 2:
            raise _OtherForm
        key = _key(pair[0])
        if key in pairs:
            raise _OtherForm
        pairs[key] = pair[1]
    return pairs


def _key(form: Any) -> str:
    if type(form) is str:
        return form
    if type(form) is dict and form.keys() == {"$text"}:
        return _read_text(form["$text"])
    raise _OtherForm


def _revived(item: Any) -> Any:
    return revive(item) if type(item) is dict or type(item) is list else item


def _read_deep(inner: Any) -> Any:
    if type(inner) is not list or not inner:
        raise _OtherForm
    built: dict[int, Any] = {}  # what no later node has taken yet
    for index, node in enumerate(inner):
        if type(node) is list:
            built[index] = [_item(item, built) for item in node]
        elif type(node) is dict:
            pairs = _pairs(node["$dict"]) if node.keys() == {"$dict"} else node
            built[index] = {key: _item(item, built) for key, item in pairs.items()}
        else:
            raise _OtherForm
    if built.keys() != {len(inner) - 1}:
        raise _OtherForm
    return built.popitem()[1]


def _item(item: Any, built: dict[int, Any]) -> Any:
    if type(item) is list:
        raise _OtherForm
    if type(item) is not dict:
        return item
    if len(item) != 1:
        raise _OtherForm
    [(key, inner)] = item.items()
    if key == "$ref" and type(inner) is int and inner in built:
        return built.pop(inner)
    if key not in _LEAF_FORMS:
        raise _OtherForm
    return _LEAF_FORMS[key](inner)


_LEAF_FORMS: dict[str, Callable[[Any], Any]] = {
    "$int": _read_int,
    "$float": _read_float,
    "$bytes": _read_bytes,
    "$text": _read_text,
}
_FORMS = {**_LEAF_FORMS, "$dict": _read_dict, "$deep": _read_deep}
