"""What holds for every view: comments, kinds of columns, and who may read it."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from agentjournal.settings import Settings
from commands.sql_page import comments
from tests.servers import query

pytestmark = pytest.mark.stack

VIEWS = sorted({each.name for each in comments() if each.kind == "VIEW"})

COLUMNS = """
SELECT c.relname AS name, coalesce(a.attname, '') AS column,
       CASE WHEN a.attname IS NULL THEN obj_description(c.oid, 'pg_class')
            ELSE col_description(c.oid, a.attnum) END AS text,
       format_type(a.atttypid, a.atttypmod) AS type
FROM pg_class AS c
JOIN LATERAL (
    SELECT NULL AS attname, NULL AS attnum, NULL AS atttypid, NULL AS atttypmod
    UNION ALL
    SELECT attname, attnum, atttypid, atttypmod FROM pg_attribute
    WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
) AS a ON true
WHERE c.relnamespace = 'agentjournal'::regnamespace AND c.relkind IN ('v', 'r', 'm', 'p')
"""
ROUTINES = """
SELECT proname AS name, '' AS column, obj_description(oid, 'pg_proc') AS text,
       pg_get_function_identity_arguments(oid) AS type
FROM pg_proc WHERE pronamespace = 'agentjournal'::regnamespace
"""


async def test_everything_in_the_schema_says_what_it_means(fresh: Settings) -> None:
    found = await query(fresh, COLUMNS) + await query(fresh, ROUTINES)
    assert {(row["name"], row["column"]): row["text"] for row in found} == {
        (each.name, each.column): each.text for each in comments()
    }


async def test_a_column_s_name_and_comment_say_its_type(fresh: Settings) -> None:
    for row in await query(fresh, COLUMNS):
        name, place = row["column"], f"{row['name']}.{row['column']}"
        assert (row["type"] == "jsonb") == (row["text"] or "").startswith("JSON: "), place
        if name.endswith(("_at", "_until")) and name != "resume_at":
            assert row["type"] == "timestamp with time zone", place
        if name == "version" or name.endswith("_version"):
            assert row["type"] in {"bigint", "integer"}, place
    for row in await query(fresh, ROUTINES):
        for argument in row["type"].split(", "):
            name, _, kind = argument.partition(" ")
            assert name in {"as_of", "known_at"}, row["name"]
            assert kind == "timestamp with time zone", row["name"]


async def as_analyst(settings: Settings, statement: str) -> list[Any]:
    async with await psycopg.AsyncConnection.connect(settings.postgres) as connection:
        await connection.execute("SET ROLE agentjournal_analyst")
        cursor = await connection.execute(statement.encode())
        return await cursor.fetchall()


async def test_the_analyst_reads_every_view_and_asks_every_function(fresh: Settings) -> None:
    for view in VIEWS:
        await as_analyst(fresh, f"SELECT * FROM agentjournal.{view}")
    for row in await query(fresh, ROUTINES):
        moments = ", ".join("'2026-01-31T12:00:00Z'" for _ in row["type"].split(", "))
        await as_analyst(fresh, f"SELECT * FROM agentjournal.{row['name']}({moments})")


async def test_the_analyst_reads_and_writes_nothing_else(fresh: Settings) -> None:
    """Asked of the server for every table, so that a new one is never left out."""
    others = await as_analyst(
        fresh,
        "SELECT format('%s.%s %s', n.nspname, c.relname, right_)"
        " FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace,"
        " unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES',"
        " 'TRIGGER']) AS right_"
        " WHERE n.nspname IN ('agentjournal', 'agentjournal_internal', 'public')"
        " AND c.relkind IN ('r', 'v', 'm', 'p')"
        " AND NOT (n.nspname = 'agentjournal' AND right_ = 'SELECT')"
        " AND has_table_privilege(c.oid, right_)",
    )
    assert others == []


async def test_what_belongs_to_a_session_is_found_by_an_index(fresh: Settings) -> None:
    """`events` is found by its stream: what it shows of it is computed."""
    owned = {each.name for each in comments() if each.column == "session_id"} - {"events"}
    async with await psycopg.AsyncConnection.connect(fresh.postgres) as connection:
        await connection.execute("SET enable_seqscan = off")
        for view in sorted(owned):
            found = f"SELECT * FROM agentjournal.{view} WHERE tenant = 't' AND session_id = 's'"
            cursor = await connection.execute(f"EXPLAIN {found}".encode())
            plan = "\n".join(row[0] for row in await cursor.fetchall())
            assert "Seq Scan" not in plan, f"{view}:\n{plan}"
            assert "session_id = 's'" in plan.replace("::text", ""), f"{view}:\n{plan}"
