"""Row changes: however they are cut into batches, a table comes to the same."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consumers.roles import PROJECTIONS
from projections.conversation import CONVERSATION
from projections.events import EVENTS
from projections.rows import Changes, Row, Table, merge

CALLS = Table(
    "calls",
    {
        "call": "key",
        "tool": "first",
        "title": "last",
        "tokens": "sum",
        "attempt": "max",
        "effect": "attempt",
        "outcome": "outcome",
        "output": "outcome",
    },
    final="outcome1",
)


def names(prefix: str) -> st.SearchStrategy[str | None]:
    return st.sampled_from([None, f"{prefix}1", f"{prefix}2"])


rows = st.fixed_dictionaries(
    {"call": st.sampled_from(["a", "b"])},
    optional={
        "tool": names("tool"),
        "title": names("title"),
        "tokens": st.none() | st.integers(-3, 3),
        "attempt": st.none() | st.integers(1, 3),
        "effect": names("effect"),
        "outcome": names("outcome"),
        "output": names("output"),
    },
)


def stored(table: dict[str, Row], batch: Sequence[Row]) -> None:
    """Store a batch as the SQL does: each statement changes every row at most once."""
    changes = Changes([CALLS])
    for row in batch:
        changes.add("calls", dict(row))
    for arrays in changes.arrays("calls"):
        written = [dict(zip(arrays, values, strict=True)) for values in zip(*arrays.values())]  # noqa: B905
        assert len({row["call"] for row in written}) == len(written)
        assert [row["call"] for row in written] == sorted(row["call"] for row in written)
        for row in written:
            table[row["call"]] = merge(CALLS, table.get(row["call"], {}), row)


@given(st.data())
def test_the_cut_into_batches_does_not_matter(data: st.DataObject) -> None:
    given = data.draw(st.lists(rows, max_size=8))
    one_by_one: dict[str, Row] = {}
    for row in given:
        stored(one_by_one, [row])
    in_batches: dict[str, Row] = {}
    at = 0
    while at < len(given):
        size = data.draw(st.integers(1, len(given) - at))
        stored(in_batches, given[at : at + size])
        at += size
    assert in_batches == one_by_one


@given(st.lists(rows, max_size=8))
def test_sorted_rows_are_what_an_empty_table_comes_to(given: list[Row]) -> None:
    table: dict[str, Row] = {}
    changes = Changes([CALLS])
    for row in given:
        table[row["call"]] = merge(CALLS, table.get(row["call"], {}), row)
        changes.add("calls", dict(row))
    found = [{n: row.get(n) for n in CALLS.columns} for row in changes.sorted_rows("calls")]
    expected = [{n: row.get(n) for n in CALLS.columns} for _, row in sorted(table.items())]
    assert found == expected


def merged(*given: Row) -> Row:
    row: Row = {}
    for each in given:
        row = merge(CALLS, row, {"call": "a", **each})
    return {name: value for name, value in row.items() if name != "call"}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"tool": "x"}, {"tool": "y"}, {"tool": "x"}),
        ({"title": "x"}, {"title": "y"}, {"title": "y"}),
        ({"tokens": 2}, {"tokens": 3}, {"tokens": 5}),
        ({"attempt": 2}, {"attempt": 1}, {"attempt": 2}),
        ({"title": "x", "tokens": 2}, {"title": None, "tokens": None}, {"title": "x", "tokens": 2}),
        ({}, {"tool": "x", "tokens": 0}, {"tool": "x", "tokens": 0}),
    ],
)
def test_a_column_goes_by_its_policy_and_none_changes_nothing(
    before: Row, after: Row, expected: Row
) -> None:
    assert merged(before, after) == expected


def test_a_higher_attempt_brings_its_own_values() -> None:
    first = {"attempt": 1, "effect": "read", "outcome": "failed"}
    assert merged(first, {"attempt": 2, "effect": "read"}) == {"attempt": 2, "effect": "read"}
    assert merged(first, {"attempt": 2, "outcome": "completed"}) == {
        "attempt": 2,
        "outcome": "completed",
    }


def test_no_attempt_comes_behind_a_final_outcome() -> None:
    done: Row = {"attempt": 1, "effect": "read", "outcome": "outcome1"}
    again: Row = {"attempt": 2, "effect": "write", "outcome": "failed", "tokens": 4}
    assert merged(done, again) == {**done, "tokens": 4}
    assert merged({"outcome": "outcome1"}, again) == {"outcome": "outcome1", "tokens": 4}


@pytest.mark.parametrize(
    "batch",
    [
        [{"attempt": 2}, {"attempt": 1, "effect": "read"}],
        [{"attempt": 1, "effect": "read"}, {"attempt": 2}],
    ],
)
def test_an_attempt_behind_a_final_outcome_takes_nothing_of_the_one_before(
    batch: list[Row],
) -> None:
    table: dict[str, Row] = {}
    stored(table, [{"call": "a", "attempt": 1, "outcome": "outcome1"}])
    stored(table, [{"call": "a", **row} for row in batch])
    found = {name: value for name, value in table["a"].items() if value is not None}
    assert found == {"call": "a", "attempt": 1, "outcome": "outcome1", "effect": "read"}


def test_a_lower_attempt_comes_too_late() -> None:
    second: Row = {"attempt": 2, "effect": "read"}
    late: Row = {"attempt": 1, "outcome": "failed", "title": "t", "tokens": 4}
    assert merged(second, late) == {**second, "title": "t", "tokens": 4}


def test_within_an_attempt_the_first_outcome_stands() -> None:
    first: Row = {"attempt": 2, "outcome": "failed"}
    assert merged(first, {"attempt": 2, "outcome": "completed"}) == first
    assert merged(first, {"outcome": "completed"}) == first


def test_what_belongs_to_a_second_outcome_is_not_mixed_with_the_first() -> None:
    first: Row = {"attempt": 2, "outcome": "failed"}
    assert merged(first, {"attempt": 2, "outcome": "completed", "output": "done"}) == first
    assert merged(first, {"outcome": "completed", "output": "done"}) == first
    assert merged(first, {"attempt": 2, "effect": "read"}) == {**first, "effect": "read"}


def test_what_came_before_any_attempt_is_not_the_first_attempt_s() -> None:
    assert merged({"outcome": "failed"}, {"attempt": 1}) == {"attempt": 1}


def test_a_change_that_names_no_attempt_is_of_the_one_before_it() -> None:
    """A call was settled and then tried again: what was settled is not the new attempt's."""
    table: dict[str, Row] = {}
    stored(table, [{"call": "a", "attempt": 1, "effect": "external"}])
    settled: Row = {"call": "a", "outcome": "failed"}
    stored(table, [settled, {"call": "a", "attempt": 2, "effect": "external"}])
    found = {name: value for name, value in table["a"].items() if value is not None}
    assert found == {"call": "a", "attempt": 2, "effect": "external"}


def test_sums_of_money_are_exact_however_many_digits_they_have() -> None:
    large, small = Decimal("9" * 30), Decimal("0." + "0" * 29 + "1")
    found = merge(Table("t", {"k": "key", "cost": "sum"}), {"cost": large}, {"cost": small})
    assert str(found["cost"]) == "9" * 30 + "." + "0" * 29 + "1"


def test_without_changes_there_is_nothing_to_write() -> None:
    assert list(Changes([CALLS]).arrays("calls")) == []


def test_rows_that_are_only_inserted_are_written_in_the_order_of_their_keys() -> None:
    changes = Changes([EVENTS])
    columns = len(EVENTS.columns)
    given: list[tuple[Any, ...]] = [
        (stream, version, *[None] * (columns - 2))
        for stream, version in (("b", 1), ("a", 2), ("a", 10), ("a", 1))
    ]
    for row in given:
        changes.insert("events", row)
    [arrays] = changes.arrays("events")
    assert list(arrays) == list(EVENTS.columns)
    assert list(zip(arrays["stream"], arrays["version"], strict=True)) == [
        *(("a", 1), ("a", 2), ("a", 10), ("b", 1)),
    ]


def test_every_table_of_the_conversation_has_a_key_and_a_statement() -> None:
    for table in CONVERSATION.tables:
        assert table.key
        assert table.name in CONVERSATION.sql
        for name in table.columns:
            assert f"%({name})" in CONVERSATION.sql[table.name]


def test_of_what_every_event_changes_only_the_last_is_made_into_a_row() -> None:
    changes, made = Changes([CALLS]), list[str]()

    def row_of(call: str, title: str) -> Row:
        made.append(title)
        return {"call": call, "title": title}

    changes.add("calls", {"call": "a", "tokens": 1})
    for call, title in (("a", "x"), ("b", "y"), ("a", "z")):
        changes.add_last("calls", call, row_of, call, title)
    changes.add("calls", {"call": "a", "tokens": 2})
    found = [
        (row["call"], row.get("title"), row.get("tokens")) for row in changes.sorted_rows("calls")
    ]
    assert found == [("a", "z", 3), ("b", "y", None)]
    assert sorted(made) == ["y", "z"]


def test_whatever_goes_by_attempt_has_an_outcome_too() -> None:
    """The merge looks for the outcome only, where most tables have neither."""
    for projection in PROJECTIONS:
        for table in projection.tables:
            assert not table.by_attempt or "outcome" in table.columns, table.name
