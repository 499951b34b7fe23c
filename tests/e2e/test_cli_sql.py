"""`agentjournal sql` and `psql`: the analyst reads everything in the views, and changes nothing."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import agentjournal as aj
from agentjournal.settings import Settings
from commands.postgres_shell import find_psql
from local.stack import Stack
from tests.e2e.console import COMMAND, Console
from tests.servers import connected, fresh_settings, roles_in_a_process

pytestmark = pytest.mark.stack

TITLE = 'comma, "quote"\nand a break'


@pytest.fixture(scope="module")
def console(stack: Stack) -> Iterator[Console]:
    settings = asyncio.run(fresh_settings(stack.settings))
    with roles_in_a_process(settings, "sequencer", "projector"):
        asyncio.run(seed(settings))
        yield Console(settings)


async def seed(settings: Settings) -> None:
    async with connected(settings, tenant=settings.tenant) as log:
        session = log.session("s-1", user="u-1", title=TITLE)
        receipt = await session.append(
            [aj.MessageAdded(role="user", content="one"), aj.NoteSet(key="k", value=None)]
        )
        await log.caught_up(receipt)


def test_views_are_found_without_their_schema(console: Console) -> None:
    output = console.output("sql", "SELECT session_id, version, cost FROM sessions")
    assert output == "session_id  version  cost\ns-1               3\n"


def test_a_plain_row_is_one_line_and_numbers_stand_right(console: Console) -> None:
    output = console.output("sql", "SELECT title, 5 AS n, 'x' AS x FROM sessions")
    shown = r'comma, "quote"\nand a break'
    assert output.splitlines() == [
        f"title{' ' * (len(shown) - 5)}  n  x",
        f"{shown}  5  x",
    ]


def test_csv_reads_back_as_the_values(console: Console) -> None:
    output = console.output("sql", "SELECT session_id, title, cost, 1.50 FROM sessions", "--csv")
    rows = list(csv.reader(io.StringIO(output, newline="")))
    assert rows == [["session_id", "title", "cost", "?column?"], ["s-1", TITLE, "", "1.50"]]


def test_json_is_an_array_of_objects(console: Console) -> None:
    query = """
        SELECT version, type, data, sanitised, 0.10::numeric AS n, 'infinity'::timestamptz AS t,
            ARRAY[1, NULL] AS a FROM events ORDER BY version
    """
    rows = json.loads(console.output("sql", query, "--json"))
    assert [row["type"] for row in rows] == ["session.started", "message.added", "note.set"]
    assert rows[1]["data"]["parts"] == [{"type": "text", "text": "one"}]
    assert rows[0] | {"version": 1, "sanitised": False} == rows[0]
    assert (rows[0]["n"], rows[0]["t"], rows[0]["a"]) == (0.1, "infinity", [1, None])


def test_no_rows_are_the_names_alone(console: Console) -> None:
    assert console.output("sql", "SELECT 1 AS one WHERE false") == "one\n"
    assert console.output("sql", "SELECT 1 AS one WHERE false", "--csv") == "one\n"
    assert json.loads(console.output("sql", "SELECT 1 AS one WHERE false", "--json")) == []


def test_on_a_terminal_it_is_a_table(console: Console) -> None:
    written = console.on_terminal("sql", "SELECT session_id, user_id FROM sessions")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", written)
    assert "─" in plain
    assert "s-1" in plain


def test_explain_keeps_its_indent(console: Console) -> None:
    plan = console.output("sql", "EXPLAIN SELECT count(*) FROM turns")
    assert re.search(r"^  ->  Seq Scan", plan, re.MULTILINE)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("SELECT nope FROM sessions", 'column "nope" does not exist (line 1, column 8)'),
        ("SELECT 1\nFROM\n nope", 'relation "nope" does not exist (line 3, column 2)'),
        ("SELEC 1", 'syntax error at or near "SELEC" (line 1, column 1)'),
        ("SELECT 1/0", "division by zero"),
        ("SELECT '%s', '%d' FROM nope", 'relation "nope" does not exist (line 1, column 24)'),
    ],
)
def test_an_error_is_one_line_with_its_place(console: Console, query: str, words: str) -> None:
    assert console.failure("sql", query) == f"error: {words}\n"


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM sessions",
        "UPDATE events SET type = 'x'",
        "INSERT INTO parked VALUES ('a', 1, 'b', 1, 1, 'c')",
        "SELECT * FROM agentjournal_internal.heads",
        "CREATE TABLE agentjournal.mine (a int)",
    ],
)
def test_what_is_not_reading_the_views_is_refused_by_the_database(
    console: Console, query: str
) -> None:
    said_why = console.failure("sql", query)
    assert re.search(r"permission denied|read-only transaction", said_why)
    # In psql nothing but the rights of the role is in the way.
    refused = console("psql", "-c", query)
    assert refused.returncode == 1
    assert "permission denied" in refused.stderr


@pytest.mark.parametrize(
    "query",
    [
        "RESET ROLE; DELETE FROM agentjournal_internal.events_1",
        "COMMIT; RESET ROLE",
        "DO $$ BEGIN RESET ROLE; DELETE FROM agentjournal_internal.events_1; END $$",
        (
            "DO $$ BEGIN RESET ROLE; SET TRANSACTION READ WRITE; "
            "DELETE FROM agentjournal_internal.events_1; END $$"
        ),
        "DO $$ BEGIN RESET ROLE; COMMIT; DELETE FROM agentjournal_internal.events_1; END $$",
    ],
)
def test_leaving_the_role_changes_nothing_either(console: Console, query: str) -> None:
    console.failure("sql", query)
    assert console.output("sql", "SELECT count(*) FROM events", "--csv") == "count\n3\n"


def test_a_statement_without_rows_says_so(console: Console) -> None:
    done = console("sql", "SET work_mem = '1MB'")
    assert (done.returncode, done.stdout) == (0, "")
    assert "no rows" in done.stderr


def test_csv_and_json_at_once_are_wrong_use(console: Console) -> None:
    assert "exclude" in console.failure("sql", "SELECT 1", "--csv", "--json", status=2)


def test_a_large_result_ends_when_its_reader_has_enough(console: Console) -> None:
    done = subprocess.run(
        f"{COMMAND} sql 'SELECT * FROM generate_series(1, 10000000) AS n' | head -n 3",
        shell=True,
        env=console.environment,
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=60,
    )
    assert [line.split() for line in done.stdout.splitlines()] == [["n"], ["1"], ["2"]]
    assert done.stderr == ""


def test_psql_is_the_analyst_in_the_schema_of_the_views(console: Console) -> None:
    assert console.output("psql", "-Atc", "SELECT session_id, current_user FROM sessions") == (
        "s-1|agentjournal_analyst\n"
    )


def test_psql_is_found_on_the_path_where_the_package_is_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "psql"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr("commands.postgres_shell.find_spec", not_installed)
    monkeypatch.setenv("PATH", str(tmp_path) + os.pathsep + os.environ["PATH"])
    assert find_psql() == str(program)


def not_installed(_package: str) -> None:
    return None
