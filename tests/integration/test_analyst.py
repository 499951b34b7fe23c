"""The role `agentjournal_analyst` reads the views, and does nothing else."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from agentjournal import MessageAdded, ToolCallPart
from agentjournal.settings import Settings
from tests.servers import connected, query
from tests.support import message
from tests.views import recorded

pytestmark = pytest.mark.stack


async def as_analyst(settings: Settings, statement: str) -> list[Any]:
    async with await psycopg.AsyncConnection.connect(
        settings.postgres, autocommit=True
    ) as connection:
        await connection.execute("SET ROLE agentjournal_analyst")
        cursor = await connection.execute(statement.encode())
        return [] if cursor.description is None else await cursor.fetchall()


@pytest.mark.parametrize(
    "view",
    [
        "sessions",
        "messages",
        "tool_calls",
        "model_calls",
        "turns",
        "events",
        "projection_status",
        "parked",
    ],
)
async def test_the_analyst_reads_what_stands_in_a_view(journal: Settings, view: str) -> None:
    part = ToolCallPart(call_id="c", name="refund", arguments_text="{")
    async with connected(journal) as log:
        await recorded(log, message("a"), MessageAdded(role="assistant", parts=[part]))
    await as_analyst(journal, f"SELECT * FROM agentjournal.{view}")


async def test_the_analyst_may_read_every_view(journal: Settings) -> None:
    views = await query(
        journal,
        "SELECT table_name FROM information_schema.views WHERE table_schema = 'agentjournal'",
    )
    names = {view["table_name"] for view in views}
    assert {"events", "messages", "facts", "promotions", "runnable", "limits"} <= names
    for name in names:  # rights are checked before the first row
        await as_analyst(journal, f"EXPLAIN SELECT * FROM agentjournal.{name}")


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM agentjournal_internal.events_1",
        "SELECT * FROM agentjournal_internal.heads",
        "EXPLAIN SELECT * FROM agentjournal_internal.heads",
        "SELECT * FROM public.agentjournal_migrations",
        "DELETE FROM agentjournal.parked",
        "UPDATE agentjournal.turns SET reason = 'x'",
        "INSERT INTO agentjournal.parked VALUES ('a', 1, 'b', 1, 1, 'c')",
        "DELETE FROM agentjournal_internal.events_1",
        "TRUNCATE agentjournal_internal.events_1",
        "CREATE TABLE agentjournal.mine ()",
        "CREATE TABLE agentjournal_internal.mine ()",
        "CREATE TABLE public.mine ()",
        "DROP VIEW agentjournal.turns",
        "CREATE SCHEMA mine",
        "CREATE ROLE mine",
        "COPY (SELECT 1) TO PROGRAM 'true'",
    ],
)
async def test_the_analyst_does_nothing_else(journal: Settings, statement: str) -> None:
    with pytest.raises(
        (psycopg.errors.InsufficientPrivilege, psycopg.errors.ObjectNotInPrerequisiteState)
    ):
        await as_analyst(journal, statement)
