"""Sessions as trees: the path to each from its root, whatever parents were named."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Mapping
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from local.stack import Stack
from tests.servers import fresh_settings

pytestmark = pytest.mark.stack

Parents = Mapping[str, str | None]


@pytest.fixture(scope="module")
def connection(stack: Stack) -> Generator[psycopg.Connection[Any]]:
    fresh = asyncio.run(fresh_settings(stack.settings))
    with psycopg.connect(fresh.postgres, autocommit=True) as opened:
        yield opened


def shown(connection: psycopg.Connection[Any], parents: Parents) -> dict[str, tuple[Any, ...]]:
    """Return (path, depth, root, root as `sessions` has it) of sessions with these parents."""
    with connection.transaction(force_rollback=True), connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO agentjournal_internal.sessions_1"
            " (stream, tenant, session_id, parent_session_id, version) VALUES (%s, 't', %s, %s, 1)",
            [(f"session/t/{name}", name, parent) for name, parent in parents.items()],
        )
        # Another tenant's session of the same name is no parent.
        cursor.execute(
            "INSERT INTO agentjournal_internal.sessions_1"
            " (stream, tenant, session_id, parent_session_id, version)"
            " VALUES ('session/u/a', 'u', 'a', 'b', 1)"
        )
        cursor.execute(
            "SELECT t.session_id, t.path, t.depth, t.root_session_id, s.root_session_id"
            " FROM agentjournal.session_tree AS t"
            " JOIN agentjournal.sessions AS s USING (tenant, session_id) WHERE tenant = 't'"
        )
        return {row[0]: tuple(row[1:]) for row in cursor.fetchall()}


def path_to(name: str, parents: Parents) -> list[str]:
    path, parent = [name], parents[name]
    while parent is not None and parent not in path and len(path) <= 101:
        path.insert(0, parent)
        parent = parents.get(parent)
    return path


_names = st.sampled_from("abcdef")
_parents = st.dictionaries(_names, st.none() | _names | st.just("elsewhere"), max_size=6)


@settings(max_examples=60)
@given(_parents)
def test_every_session_has_its_path_from_the_root(
    connection: psycopg.Connection[Any], parents: Parents
) -> None:
    found = shown(connection, parents)
    assert {name: row[0] for name, row in found.items()} == {
        name: path_to(name, parents) for name in parents
    }
    for path, depth, root, _ in found.values():
        assert (depth, root) == (len(path) - 1, path[0])


def test_the_root_is_the_one_that_sessions_have_however_deep(
    connection: psycopg.Connection[Any],
) -> None:
    chain: Parents = {str(n): str(n - 1) if n else None for n in range(105)}
    found = shown(connection, chain)
    assert [found[str(n)][2:] for n in (0, 1, 101, 102, 104)] == [
        *(("0", "0"), ("0", "0"), ("0", "0"), ("1", "1")),
        ("3", "3"),
    ]
    assert found["104"][1] == 101
