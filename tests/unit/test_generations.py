"""A generation of a read model: what it is told from others by, and where its tables stand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agentjournal.envelope import Recorded
from projections.projection import Context, Projection
from projections.rows import Changes, Table


def unread(recorded: Recorded, context: Context, changes: Changes) -> Context:
    raise AssertionError(recorded, context, changes)  # nothing is folded here


def live(**changes: Any) -> Projection:
    fields: dict[str, Any] = {"sql": {"rows": "SELECT 1"}, "types": {"a": 1}}
    fields |= {"kinds": frozenset({"session"}), **changes}
    return Projection(name="t", tables=(), fold=unread, **fields)


def digest(**changes: Any) -> str:
    return live(**changes).digest


def test_a_generation_is_its_statements_and_the_types_that_it_reads() -> None:
    assert digest() == digest()
    assert digest() == digest(sql={"rows": "SELECT 1"}, types={"a": 1})
    others = [
        digest(sql={"rows": "SELECT 2"}),
        digest(sql={"other": "SELECT 1"}),
        digest(types={"a": 2}),
        digest(types={"a": 1, "b": 1}),
    ]
    assert len({digest(), *others}) == 5


def test_a_generation_beside_the_live_one_means_the_same_over_tables_of_its_own() -> None:
    table = Table("rows", {"stream": "key"})
    sql = {"rows": "INSERT INTO s.rows_1 (a) SELECT a FROM s.rows_12 JOIN s.rows_1 USING (a)"}
    first = replace(live(), tables=(table,), sql=sql)
    beside = first.beside_live(7)
    assert beside.sql["rows"] == (
        "INSERT INTO s.rows_1_g7 (a) SELECT a FROM s.rows_12 JOIN s.rows_1_g7 USING (a)"
    )
    assert (beside.table_name(table), first.live_as(7).table_name(table)) == ("rows_1_g7", "rows_1")
    assert beside.digest == first.digest == first.live_as(7).digest
    assert (beside.generation, first.live_as(7).generation) == (7, 7)
