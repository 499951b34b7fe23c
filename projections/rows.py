"""Rows on their way to a table: changes of one key merge the same way here and in the SQL.

Each column has a policy for two changes of one row, the earlier first: keep the `first` value that
is there, take the `last`, the `max`, the `sum`, or go by `attempt`: a higher attempt brings its own
values, within one attempt the first holds. An `outcome` goes by attempt too, and comes whole: what
belongs to a second one is not mixed with the first. A change that names no attempt is of the one
that was the last before it, which only the table knows: so it is not merged with one that names its
own, and goes in a statement of its own. Nor is one merged with another attempt where an outcome may
be final: the table may hold one of the lower attempt, and then the higher counts for nothing. Thus
it never matters how events were cut into batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from operator import itemgetter
from typing import Any, Literal, TypeAlias

Policy: TypeAlias = Literal["key", "first", "last", "sum", "max", "attempt", "outcome"]
Row: TypeAlias = dict[str, Any]
Said: TypeAlias = tuple[Callable[..., Row], tuple[Any, ...]]  # what makes a row, and of what

_NONE: frozenset[Policy] = frozenset()
_OUTCOME: frozenset[Policy] = frozenset({"outcome"})
_BY_ATTEMPT: frozenset[Policy] = frozenset({"attempt", "outcome"})
_OVER: frozenset[Policy] = frozenset({*_BY_ATTEMPT, "max"})  # the number of the attempt as well


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a projection: its columns, each with the policy by which changes merge.

    The SQL statement of its name takes one array a column. `insert_only`: no event ever changes a
    row of it, so rows are tuples in the order of `columns`, and nothing is merged. Behind the
    outcome `final` no attempt comes: a higher one changes nothing that goes by attempt.
    """

    name: str
    columns: Mapping[str, Policy]
    insert_only: bool = False
    final: str | None = None
    key: tuple[str, ...] = field(init=False)
    by_attempt: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        for field_name, policies in (("key", {"key"}), ("by_attempt", _BY_ATTEMPT)):
            names = tuple(name for name, policy in self.columns.items() if policy in policies)
            object.__setattr__(self, field_name, names)


class Changes:
    """The changes that a batch of events makes: for each table statements, one merged row a key."""

    def __init__(self, tables: Iterable[Table]) -> None:
        self._tables = {table.name: (table, itemgetter(*table.key)) for table in tables}
        self._rows: dict[str, list[dict[Any, Row]]] = {name: [{}] for name in self._tables}
        self._inserted: dict[str, list[tuple[Any, ...]]] = {name: [] for name in self._tables}
        self._last: dict[str, dict[Any, Said]] = {name: {} for name in self._tables}

    def add(self, table: str, row: Row) -> None:
        """Merge a change into what is there for its key; absent columns and None change nothing."""
        spec, key_of = self._tables[table]
        statements = self._rows[table]
        key = key_of(row)
        at = len(statements) - 1
        while at and key not in statements[at]:
            at -= 1
        held = statements[at].get(key)
        if held is None:
            statements[at][key] = row
        elif "attempt" not in spec.columns or _can_merge(spec, held, row):
            merge_into(spec, held, row)
        else:
            if at + 1 == len(statements):
                statements.append({})
            statements[at + 1][key] = row

    def add_last(self, table: str, key: Any, row_of: Callable[..., Row], *said: Any) -> None:
        """Add the row that `row_of` makes of `said`, unless there is a later one for this `key`.

        For what every event changes: only the last of a batch is made into a row. So each of its
        columns is in all of them, and either always the same or set by nothing else.
        """
        self._last[table][key] = (row_of, said)

    def _settle(self, table: str) -> None:
        last, self._last[table] = self._last[table], {}
        for row_of, said in last.values():
            self.add(table, row_of(*said))

    def insert(self, table: str, row: tuple[Any, ...]) -> None:
        """Add a row of a table that is insert-only."""
        self._inserted[table].append(row)

    def count_inserted(self, table: str) -> int:
        """Return how many rows a table that is insert-only gets."""
        return len(self._inserted[table])

    def inserted(self, table: str) -> list[tuple[Any, ...]]:
        """Return the rows of a table that is insert-only, in the order of their keys."""
        return sorted(self._inserted[table], key=_KEY_OF_INSERTED)

    def sorted_rows(self, table: str) -> list[Row]:
        """Return what an empty table comes to, in the order of the keys."""
        self._settle(table)
        spec, _ = self._tables[table]
        if inserted := self._inserted[table]:
            keyed = sorted(inserted, key=_KEY_OF_INSERTED)
            return [dict(zip(spec.columns, row, strict=True)) for row in keyed]
        rows: dict[Any, Row] = {}
        for statement in self._rows[table]:
            for key, row in statement.items():
                rows[key] = merge(spec, rows[key], row) if key in rows else row
        return [row for _, row in sorted(rows.items())]

    def arrays(self, table: str) -> Iterator[dict[str, Sequence[Any]]]:
        """Yield one array a column for each statement, to be executed in this order.

        Rows are in the order of their keys, so that writers never wait in a circle.
        """
        self._settle(table)
        names = self._tables[table][0].columns
        if inserted := self._inserted[table]:
            columns = zip(*sorted(inserted, key=_KEY_OF_INSERTED), strict=True)
            yield {name: list(values) for name, values in zip(names, columns, strict=True)}
        for statement in self._rows[table]:
            if statement:
                rows = [row for _, row in sorted(statement.items())]
                yield {name: [row.get(name) for row in rows] for name in names}


_KEY_OF_INSERTED = itemgetter(0, 1)  # insert-only tables start with (stream, version)


def _can_merge(table: Table, held: Row, coming: Row) -> bool:
    attempt, coming_attempt = held.get("attempt"), coming.get("attempt")
    if attempt == coming_attempt:
        return True
    lower = held if (attempt or 0) < (coming_attempt or 0) else coming
    if table.final is None and lower.get("attempt") is not None:
        return True
    return all(lower.get(name) is None for name in table.by_attempt)


def _is_over(table: Table, held: Row, coming: Row) -> bool:
    """Whether `coming` is of an attempt that begins behind a final outcome."""
    if table.final is None or held.get("outcome") != table.final:
        return False
    return (coming.get("attempt") or 0) > (held.get("attempt") or 0)


def merge(table: Table, before: Row, after: Row) -> Row:
    """Return the row that two changes of one key come to."""
    merged = dict(before)
    merge_into(table, merged, after)
    return merged


def merge_into(table: Table, held: Row, coming: Row) -> None:
    """Change the row `held` to what it and the later change `coming` come to."""
    policies = table.columns
    left_out = _left_out(table, held, coming) if "outcome" in policies else _NONE
    for name, value in coming.items():
        if value is None:
            continue
        policy = policies[name]
        if policy == "last":
            held[name] = value
        elif (before := held.get(name)) is None:
            if policy not in left_out:
                held[name] = value
        elif policy == "sum":
            held[name] = _sum(before, value)
        elif policy == "max" and value > before and policy not in left_out:
            held[name] = value


def _left_out(table: Table, held: Row, coming: Row) -> frozenset[Policy]:
    """Return the policies whose columns `coming` does not change; a higher attempt clears them."""
    if _is_over(table, held, coming):
        return _OVER
    attempt, coming_attempt = held.get("attempt") or 0, coming.get("attempt")
    if coming_attempt is not None and coming_attempt > attempt:
        for name in table.by_attempt:
            held.pop(name, None)
    elif coming_attempt is not None and coming_attempt < attempt:
        return _BY_ATTEMPT
    elif held.get("outcome") is not None:
        return _OUTCOME
    return _NONE


_EXACT = Context(prec=200)  # as SQL adds: the default rounds to 28 digits


def _sum(before: Any, value: Any) -> Any:
    return _EXACT.add(before, value) if isinstance(before, Decimal) else before + value
