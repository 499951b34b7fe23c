"""Rows on their way to a table: changes of one key merge the same way here and in the SQL.

Each column has a policy for two changes of one row, the earlier first: keep the `first` value that
is there, take the `last`, the `max`, the `sum`, or go by `attempt`: a higher attempt brings its own
values, within one attempt the first holds. So it never matters how events were cut into batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Policy: TypeAlias = Literal["key", "first", "last", "sum", "max", "attempt"]
Row: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a projection: its columns, each with the policy by which changes merge.

    `statement` names the SQL that takes one array a column, in the order of `columns`.
    """

    name: str
    columns: Mapping[str, Policy]

    @property
    def key(self) -> tuple[str, ...]:
        return tuple(name for name, policy in self.columns.items() if policy == "key")


class Changes:
    """The changes that a batch of events makes, one merged row a key and table."""

    def __init__(self, tables: Iterable[Table]) -> None:
        self._tables = {table.name: (table, table.key) for table in tables}
        self._rows: dict[str, dict[Key, Row]] = {name: {} for name in self._tables}

    def add(self, table: str, row: Row) -> None:
        """Merge a change into what is there for its key; absent columns change nothing."""
        spec, key_names = self._tables[table]
        rows = self._rows[table]
        key = tuple([row[name] for name in key_names])
        before = rows.get(key)
        rows[key] = row if before is None else merge(spec, before, row)

    def sorted_rows(self, table: str) -> list[Row]:
        """Return the rows in the order of their keys, so that writers never wait in a circle."""
        return [row for _, row in sorted(self._rows[table].items())]

    def __bool__(self) -> bool:
        return any(self._rows.values())


def merge(table: Table, before: Row, after: Row) -> Row:
    """Return the row that two changes of one key come to."""
    held, coming = before.get("attempt"), after.get("attempt")
    if held is not None and coming is not None:  # one that names no attempt is of the current one
        if coming > held:
            before = _without_attempt(table, before)
        elif coming < held:
            after = _without_attempt(table, after)
    merged = dict(before)
    for name, value in after.items():
        merged[name] = _MERGE[table.columns[name]](merged.get(name), value)
    return merged


def _without_attempt(table: Table, row: Row) -> Row:
    return {name: value for name, value in row.items() if table.columns[name] != "attempt"}


def _first(held: Any, value: Any) -> Any:
    return value if held is None else held


def _last(held: Any, value: Any) -> Any:
    return held if value is None else value


def _sum(held: Any, value: Any) -> Any:
    return held if value is None else value if held is None else held + value


def _max(held: Any, value: Any) -> Any:
    return held if value is None else value if held is None else max(held, value)


_MERGE: Mapping[Policy, Callable[[Any, Any], Any]] = {
    "key": _last,
    "first": _first,
    "last": _last,
    "sum": _sum,
    "max": _max,
    "attempt": _first,
}
