"""Rows on their way to a table: changes of one key merge the same way here and in the SQL.

Each column has a policy for two changes of one row, the earlier first: keep the `first` value that
is there, take the `last`, the `max`, the `sum`, or go by `attempt`: a higher attempt brings its own
values, within one attempt the first holds. So it never matters how events were cut into batches.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Literal, TypeAlias

Policy: TypeAlias = Literal["key", "first", "last", "sum", "max", "attempt"]
Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a projection: its columns, each with the policy by which changes merge.

    The SQL statement of its name takes one array a column. `insert_only`: no event ever changes a
    row of it, so rows are tuples in the order of `columns`, and nothing is merged.
    """

    name: str
    columns: Mapping[str, Policy]
    insert_only: bool = False

    @property
    def key(self) -> tuple[str, ...]:
        return tuple(name for name, policy in self.columns.items() if policy == "key")


class Changes:
    """The changes that a batch of events makes, one merged row a key and table."""

    def __init__(self, tables: Iterable[Table]) -> None:
        self._tables = {table.name: (table, itemgetter(*table.key)) for table in tables}
        self._rows: dict[str, dict[Any, Row]] = {name: {} for name in self._tables}
        self._inserted: dict[str, list[tuple[Any, ...]]] = {name: [] for name in self._tables}

    def add(self, table: str, row: Row) -> None:
        """Merge a change into what is there for its key; absent columns and None change nothing."""
        spec, key_of = self._tables[table]
        rows = self._rows[table]
        key = key_of(row)
        held = rows.get(key)
        if held is None:
            rows[key] = row
        else:
            merge_into(spec, held, row)

    def insert(self, table: str, row: tuple[Any, ...]) -> None:
        """Add a row of a table that is insert-only."""
        self._inserted[table].append(row)

    def sorted_rows(self, table: str) -> list[Row]:
        """Return the rows in the order of their keys, so that writers never wait in a circle."""
        names = tuple(self._tables[table][0].columns)
        inserted = [dict(zip(names, row, strict=True)) for row in sorted(self._inserted[table])]
        return inserted + [row for _, row in sorted(self._rows[table].items())]

    def arrays(self, table: str) -> dict[str, Sequence[Any]] | None:
        """Return one array a column, rows in the order of their keys; None without rows."""
        names = self._tables[table][0].columns
        if inserted := self._inserted[table]:
            columns = zip(*sorted(inserted, key=_KEY_OF_INSERTED), strict=True)
            return {name: list(values) for name, values in zip(names, columns, strict=True)}
        if not self._rows[table]:
            return None
        rows = [row for _, row in sorted(self._rows[table].items())]
        return {name: [row.get(name) for row in rows] for name in names}


_KEY_OF_INSERTED = itemgetter(0, 1)  # insert-only tables start with (stream, version)


def merge(table: Table, before: Row, after: Row) -> Row:
    """Return the row that two changes of one key come to."""
    merged = dict(before)
    merge_into(table, merged, after)
    return merged


def merge_into(table: Table, held: Row, coming: Row) -> None:
    """Change the row `held` to what it and the later change `coming` come to."""
    policies = table.columns
    attempt, coming_attempt = held.get("attempt"), coming.get("attempt")
    past = False
    if attempt is not None and coming_attempt is not None and attempt != coming_attempt:
        # One that names no attempt is of the current one.
        past = coming_attempt < attempt
        if not past:
            for name, policy in policies.items():
                if policy == "attempt":
                    held.pop(name, None)
    for name, value in coming.items():
        if value is None:
            continue
        before = held.get(name)
        policy = policies[name]
        if before is None:
            if not (past and policy == "attempt"):
                held[name] = value
        elif policy in _ACCUMULATE:
            held[name] = _ACCUMULATE[policy](before, value)


_ACCUMULATE: Mapping[Policy, Callable[[Any, Any], Any]] = {
    "last": lambda _, value: value,
    "sum": operator.add,
    "max": max,
}
