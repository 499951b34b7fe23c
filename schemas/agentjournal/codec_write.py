"""The writing half of the codec: a value to what JSON can hold."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from agentjournal.codec_form import MAX_DEPTH
from agentjournal.codec_types import exact, what_to_write

# A list or dict with this many around it is written flat. The widest form then takes 7 more:
# {"$deep": [{"$dict": [[{"$text": []}, …]]}]}; one further out may be a "$dict", which adds 2.
_FLAT_FROM = MAX_DEPTH - 9

_SMALLEST, _GREATEST = -(2**63), 2**63 - 1
_DECIMAL_BITS = 13_287  # 4,000 digits
_LEAVES = frozenset({type(None), bool, int, float, str, bytes})
_SURROGATES = re.compile("([\ud800-\udfff])")


class Unwritable(Exception):
    """A value inside has no form; its place is collected on the way out."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.inner_to_outer: list[str | int] = []


def escape(value: Any, around: int, *, surrogates: bool) -> Any:
    """Return `value` in a form that orjson writes: itself, when nothing in it needs another form.

    `around` is the number of containers around it. Text is searched for lone halves of surrogate
    pairs only with `surrogates`. Raises Unwritable.
    """
    kind = type(value)
    if kind is dict:
        return _escape_dict(value, around, surrogates)
    if kind is list:
        return _escape_list(value, around, surrogates)
    if kind in _LEAVES:
        return _leaf(value, surrogates)
    return escape(_exact(value), around, surrogates=surrogates)


def _escape_list(value: list[Any], around: int, surrogates: bool) -> Any:
    if around >= _FLAT_FROM:
        return _flatten(value, surrogates)
    changed, index = None, 0
    try:
        for index, item in enumerate(value):
            if type(item) is str and not surrogates:
                continue
            form = escape(item, around + 1, surrogates=surrogates)
            if form is not item:
                changed = changed or value.copy()
                changed[index] = form
    except Unwritable as refused:
        refused.inner_to_outer.append(index)
        raise
    return changed or value


def _escape_dict(value: dict[str, Any], around: int, surrogates: bool) -> Any:
    if around >= _FLAT_FROM:
        return _flatten(value, surrogates)
    pairs = _needs_pairs(value, surrogates)
    inside = around + 3 if pairs else around + 1
    changed, key = None, ""
    try:
        for key, item in value.items():
            if type(item) is str and not surrogates:
                continue
            form = escape(item, inside, surrogates=surrogates)
            if form is not item:
                changed = changed or value.copy()
                changed[key] = form
    except Unwritable as refused:
        refused.inner_to_outer.append(key)
        raise
    return _dict_form(changed or value) if pairs else changed or value


def _needs_pairs(value: dict[str, Any], surrogates: bool) -> bool:
    for key in value:
        if type(key) is not str:
            raise Unwritable(f"the key {_shown(key)} is no text: write str(…)")
    if len(value) == 1 and next(iter(value)).startswith("$"):
        return True
    return surrogates and any(_SURROGATES.search(key) for key in value)


def _dict_form(value: dict[str, Any]) -> dict[str, Any]:
    return {"$dict": [[_text_form(key), form] for key, form in value.items()]}


def _exact(value: Any) -> Any:
    same = exact(value)
    if same is None:
        raise Unwritable(what_to_write(value))
    return same


def _shown(key: object) -> str:
    return repr(key) if isinstance(key, int | float | None) else f"of type {type(key).__name__}"


def _leaf(value: Any, surrogates: bool) -> Any:
    kind = type(value)
    if kind is str:
        return _text_form(value) if surrogates else value
    if kind is int and not _SMALLEST <= value <= _GREATEST:
        return {"$int": _digits(value)}
    if kind is float and not isfinite(value):
        return {"$float": repr(value)}
    if kind is bytes:
        return {"$bytes": b64encode(value).decode()}
    return value


def _text_form(text: str) -> Any:
    pieces = _SURROGATES.split(text)
    if len(pieces) == 1:
        return text
    return {"$text": [ord(p) if _SURROGATES.match(p) else p for p in pieces if p]}


def _digits(value: int) -> str:
    if value.bit_length() <= _DECIMAL_BITS:
        try:
            return str(value)
        except ValueError:  # the program lowered sys.set_int_max_str_digits
            pass
    return hex(value)


@dataclass(slots=True)
class _Open:
    """A list or dict that is being written flat: what is left of it, and its forms so far."""

    source: Any
    value: list[Any] | dict[str, Any]
    pairs: bool
    rest: Iterator[tuple[str | int, Any]]
    at: str | int = 0
    forms: list[Any] = field(default_factory=list)

    def node(self) -> Any:
        if type(self.value) is list:
            return self.forms
        written = dict(zip(self.value, self.forms, strict=True))
        return _dict_form(written) if self.pairs else written


def _opened(source: Any, surrogates: bool) -> _Open:
    value = source if type(source) in {list, dict} else _exact(source)
    if type(value) is list:
        return _Open(source, value, False, iter(enumerate(value)))
    return _Open(source, value, _needs_pairs(value, surrogates), iter(value.items()))


def _flatten(root: Any, surrogates: bool) -> dict[str, Any]:
    nodes: list[Any] = []
    path, on_path = [_opened(root, surrogates)], {id(root)}
    try:
        while path:
            inner = _next_container(path[-1], on_path, surrogates)
            if inner is not None:
                path.append(_opened(inner, surrogates))
                on_path.add(id(inner))
                continue
            done = path.pop()
            on_path.discard(id(done.source))
            nodes.append(done.node())
            if path:
                path[-1].forms.append({"$ref": len(nodes) - 1})
    except Unwritable as refused:
        refused.inner_to_outer += [opened.at for opened in reversed(path)]
        raise
    return {"$deep": nodes}


def _next_container(opened: _Open, on_path: set[int], surrogates: bool) -> Any:
    for at, item in opened.rest:
        opened.at = at
        if isinstance(item, list | dict):
            if id(item) in on_path:
                raise Unwritable("contains the list or dict that it is in")
            return item
        opened.forms.append(_leaf(item if type(item) in _LEAVES else _exact(item), surrogates))
    return None
