"""JSON values in a text, one after the other, whatever stands between them; what is whole is kept.

One line is not one value: two may share a line, one may span many. The standard library's decoder
reads them, since it takes lone halves of surrogate pairs, integers of any size and NaN.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

_BLANK = re.compile(r"[ \t\r\n,\x1e\ufeff]*")  # also what separates values in lists and sequences
_INDENT = re.compile(r"[ \t]*")
_DIGITS_AT_ONCE = 600  # below what any interpreter refuses to convert

CUT = "is not complete: the file is cut here, or is still being written"


class Value(NamedTuple):
    """A value, from `start` to `end` in the text; of a list at the top its `items` as well."""

    value: Any
    start: int
    end: int
    items: list[Found] | None = None


class Fault(NamedTuple):
    """A stretch that holds no whole value; `cut` when nothing comes after it."""

    start: int
    end: int
    reason: str
    cut: bool


Found: TypeAlias = Value | Fault


def read_values(text: str) -> list[Found]:
    """Return the values at the top of `text` and the stretches between that are none, in order.

    Of a list that is cut its whole items are there; of an object that is cut, and all there is in
    the text, its whole members.
    """
    found = list(_read(text, 0, closer=""))
    if len(found) == 1 and isinstance(found[0], Fault) and text.startswith("{", found[0].start):
        begun = _whole_members(text, found[0].start)
        if begun.value:
            return [begun, found[0]._replace(start=begun.end)]
    return found


def _read(text: str, at: int, *, closer: str) -> Iterator[Found]:
    """Yield what stands between `at` and `closer`, which ends a list, "" at the top."""
    indent: str | None = (
        None  # of the latest value that began a line: the next whole one has it too
    )
    while True:
        at = _blank_end(text, at)
        if at == len(text):
            if closer:
                yield Fault(at, at, CUT, cut=True)
            return
        if closer and text[at] == closer:
            return
        indent = _line_indent(text, at, otherwise=indent)
        found = _list(text, at) if not closer and text[at] == "[" else _value(text, at)
        if isinstance(found, Value):
            yield found
            at = found.end
            continue
        end = _next_start(text, at, indent)
        if end == len(text):
            yield Fault(at, end, CUT, cut=True)
            return
        yield Fault(at, end, found, cut=False)
        at = end


def _list(text: str, at: int) -> Value:
    items = list(_read(text, at + 1, closer="]"))
    values = [item.value for item in items if isinstance(item, Value)]
    last = items[-1].end if items else at + 1
    end = _blank_end(text, last)
    return Value(values, at, min(end + 1, len(text)), items)


def _value(text: str, at: int) -> Value | str:
    found = _decoded(_STRICT, text, at)
    if isinstance(found, str) and "control character" in found:
        return _decoded(_LENIENT, text, at)
    return found


def _decoded(decoder: json.JSONDecoder, text: str, at: int) -> Value | str:
    try:
        value, end = decoder.raw_decode(text, at)
    except json.JSONDecodeError as error:
        return f"is not JSON: {error.msg}"
    except RecursionError:
        return "is nested too deep"
    return Value(value, at, end)


def _whole_members(text: str, start: int) -> Value:
    members: dict[str, Any] = {}
    end = start + 1
    while True:
        name = _value(text, _blank_end(text, end))
        if isinstance(name, str) or not isinstance(name.value, str):
            return Value(members, start, end)
        colon = _blank_end(text, name.end)
        at = _blank_end(text, colon + 1)
        if not text.startswith(":", colon) or at == len(text):
            return Value(members, start, end)
        member = _begun_list(text, at) if text[at] == "[" else _value(text, at)
        if isinstance(member, str):
            return Value(members, start, end)
        members[name.value] = member.value
        end = member.end


def _begun_list(text: str, at: int) -> Value:
    values: list[Any] = []
    end = at + 1
    for item in _read(text, at + 1, closer="]"):
        if isinstance(item, Fault):
            break
        values.append(item.value)
        end = item.end
    after = _blank_end(text, end)
    return Value(values, at, after + 1 if text.startswith("]", after) else end)


def _blank_end(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return at if found is None else found.end()


def _line_indent(text: str, at: int, *, otherwise: str | None) -> str | None:
    line = text.rfind("\n", 0, at) + 1
    before = text[line:at].lstrip("\ufeff")
    return before if _INDENT.fullmatch(before) else otherwise


def _next_start(text: str, at: int, indent: str | None) -> int:
    """Return where the next value may start: a line that is indented as its neighbours are."""
    if indent is None:
        return len(text)
    found = re.compile(rf"\n{re.escape(indent)}(?=[{{\[])").search(text, at)
    return len(text) if found is None else found.end()


def _integer(digits: str) -> int:
    if len(digits) <= _DIGITS_AT_ONCE:
        return int(digits)
    sign, digits = (-1, digits[1:]) if digits[0] == "-" else (1, digits)
    value = 0
    for at in range(0, len(digits), _DIGITS_AT_ONCE):
        piece = digits[at : at + _DIGITS_AT_ONCE]
        value = value * 10 ** len(piece) + int(piece)
    return sign * value


_STRICT = json.JSONDecoder(parse_int=_integer)
_LENIENT = json.JSONDecoder(parse_int=_integer, strict=False)
