"""Strategies that build the fields of every event type from its shape in the rules table."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from agentjournal.events import BUILT_IN
from streams.shapes_of_models import table_of_models

TABLE = table_of_models(1)

texts = st.text(st.characters(), max_size=5)  # with lone halves of surrogate pairs
_leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | texts
    | st.binary(max_size=3)
)
_shallow = st.recursive(
    _leaves,
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(texts | st.sampled_from(["$int", "$x"]), inside, max_size=3)
    ),
    max_leaves=6,
)


def _nested(value: Any, times: int) -> Any:
    for _ in range(times):
        value = [value]
    return value


values = _shallow | st.builds(_nested, _shallow, st.integers(85, 130))
_by_name = st.dictionaries(texts | st.just("$a"), values, max_size=2)
_times = st.datetimes(timezones=st.just(dt.UTC)).filter(lambda time: 1 < time.year < 9999)
_amounts = st.decimals(-(10**9), 10**9, places=3)

_BY_KIND: Mapping[str, st.SearchStrategy[Any]] = {
    "any": values,
    "boolean": st.booleans(),
    "text": texts,
    "id": st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=5),
    "time": _times.map(dt.datetime.isoformat),
    "amount": _amounts.map(lambda amount: format(amount, "f")),
    "currency": st.sampled_from(["EUR", "USD"]),
    "map": st.dictionaries(texts | st.just("$a"), texts, max_size=2),
    "object": _by_name,
}


def of_shape(shape: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Return a strategy for Python values that a model takes for `shape`."""
    kind = shape["kind"]
    if kind == "object" and "required" in shape:
        return _record(shape)
    builder = _BUILT.get(kind)
    return _BY_KIND[kind] if builder is None else builder(shape)


def _number(shape: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    whole = st.integers(shape["min"], shape["max"])
    if shape["kind"] == "integer":
        return whole
    return whole | st.floats(max(shape["min"], -(2**62)), min(shape["max"], 2**62))


def _record(shape: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    required = {name: of_shape(of) for name, of in shape["required"].items()}
    optional = {name: of_shape(of) for name, of in shape["optional"].items()}
    known = st.fixed_dictionaries(required, optional=optional)
    if "one_of" in shape:
        known = known.filter(lambda fields: any(name in fields for name in shape["one_of"]))
    unknown = st.dictionaries(st.text("xyz", min_size=1, max_size=3), values, max_size=1)
    return st.tuples(unknown, known).map(lambda both: {**both[0], **both[1]})


_BUILT: Mapping[str, Callable[[Mapping[str, Any]], st.SearchStrategy[Any]]] = {
    "ref": lambda shape: of_shape(TABLE["shapes"][shape["to"]]),
    "enum": lambda shape: st.sampled_from(shape["values"]),
    "integer": _number,
    "number": _number,
    "array": lambda shape: st.lists(of_shape(shape["of"]), max_size=3),
    "text_or_array": lambda shape: texts | st.lists(of_shape(shape["of"]), max_size=2),
    "tagged": lambda shape: st.one_of([of_shape(TABLE["shapes"][to]) for to in shape["cases"]]),
}


def fields_of(event_type: str) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for the fields of a type."""
    return of_shape(TABLE["types"][event_type]["1"]["data"])


any_type = st.sampled_from(sorted(BUILT_IN))
any_event: st.SearchStrategy[tuple[str, dict[str, Any]]] = any_type.flatmap(
    lambda event_type: st.tuples(st.just(event_type), fields_of(event_type))
)
