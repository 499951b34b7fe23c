"""Migrations: applied once each, in order, by whoever comes first; never another under a number."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from agentjournal.errors import IntegrityError, Unavailable
from agentjournal.settings import Settings
from consumers import postgres_migrations
from consumers.postgres_migrations import Migration, migrate, read_migrations
from local.stack import Stack
from tests.servers import new_database, query

pytestmark = pytest.mark.stack

OURS = read_migrations()
TABLES = (
    "SELECT table_schema, table_name, column_name, data_type FROM information_schema.columns"
    " WHERE table_schema LIKE 'agentjournal%' ORDER BY 1, 2, 3"
)


@pytest.fixture
async def bare(stack: Stack) -> Settings:
    """Settings of a database that has nothing in it."""
    return await new_database(stack.settings)


def test_they_are_numbered_from_1_on_without_a_gap() -> None:
    assert [m.number for m in OURS] == list(range(1, len(OURS) + 1))
    assert all(m.name.startswith(f"{m.number:04}_") for m in OURS)


async def test_applying_them_twice_changes_nothing(bare: Settings) -> None:
    assert await migrate(bare) == [m.name for m in OURS]
    tables = await query(bare, TABLES)
    assert await migrate(bare) == []
    assert await query(bare, TABLES) == tables
    applied = await query(
        bare, "SELECT number, name, digest FROM public.agentjournal_migrations ORDER BY 1"
    )
    assert [(m["number"], m["name"], m["digest"]) for m in applied] == [
        (m.number, m.name, m.digest) for m in OURS
    ]


async def test_two_at_once_apply_each_of_them_once(bare: Settings) -> None:
    done = await asyncio.gather(*(migrate(bare) for _ in range(4)))
    assert sorted(name for names in done for name in names) == [m.name for m in OURS]


async def test_one_that_was_changed_after_it_was_applied_is_refused(
    bare: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    await migrate(bare)
    changed = [OURS[0]._replace(sql=OURS[0].sql + b"-- changed"), *OURS[1:]]
    monkeypatch.setattr(postgres_migrations, "read_migrations", lambda: changed)
    with pytest.raises(IntegrityError, match=f"{OURS[0].name} was changed after it was applied"):
        await migrate(bare)


async def test_a_database_of_a_newer_release_is_refused(
    bare: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    await migrate(bare)
    monkeypatch.setattr(postgres_migrations, "read_migrations", lambda: OURS[:-1])
    with pytest.raises(IntegrityError, match=rf"migrations \[{len(OURS)}\]: install the newer"):
        await migrate(bare)


async def test_one_that_fails_leaves_no_trace_and_those_before_it_stay(
    bare: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = len(OURS) + 1
    broken = Migration(number, "broken", b"CREATE TABLE public.half (); SELECT 1 / 0;")
    mended = Migration(number, "broken", b"CREATE TABLE public.half ();")
    monkeypatch.setattr(postgres_migrations, "read_migrations", lambda: [*OURS, broken])
    with pytest.raises(Exception, match="division by zero"):
        await migrate(bare)
    assert await query(bare, "SELECT to_regclass('public.half') AS half") == [{"half": None}]
    monkeypatch.setattr(postgres_migrations, "read_migrations", lambda: [*OURS, mended])
    assert await migrate(bare) == ["broken"]


async def test_heads_of_before_lifetimes_know_when_their_streams_began(bare: Settings) -> None:
    await migrate(bare)
    await query(
        bare,
        """
        INSERT INTO agentjournal_internal.heads (stream, partition, version, hash, status,
            user_digest, last_activity_ms, bytes, tokens, lease_fence, lease_until_ms,
            lease_holder, appends, started_ms)
        SELECT 'session/t/' || id, 0, 1, '', 'open', '', 0, 0, 0, 0, 0, '', '', started_ms
        FROM (VALUES ('old', 0), ('plain', 0), ('new', 7), ('unseen', 0)) AS h (id, started_ms)
        """,
    )
    await query(
        bare,
        """
        INSERT INTO agentjournal_internal.events_1 (stream, version, partition, position,
            input_position, batch_index, batch_size, type, schema_version, event_id, append_id,
            source, recorded_at, hash, data)
        SELECT 'session/t/' || id, 1, 0, 0, 0, 0, 1, type, 1, '', '', '',
            '2026-01-31T12:00:00.123Z', '', convert_to(data, 'UTF8')
        FROM (VALUES ('old', 'session.started', '{"agent":"a","ttl_s":60.5}'),
            ('plain', 'session.started', '{"agent":"a"}'),
            ('new', 'custom.x', '{"ttl_s":9}')) AS e (id, type, data)
        """,
    )
    (mending,) = [each for each in OURS if each.name.endswith("_lifetime_of_older_heads")]
    await query(bare, mending.sql.decode())
    heads = await query(
        bare, "SELECT stream, started_ms, ttl_ms FROM agentjournal_internal.heads ORDER BY 1"
    )
    assert [tuple(head.values()) for head in heads] == [
        ("session/t/new", 7, 0),
        ("session/t/old", 1_769_860_800_123, 60_500),
        ("session/t/plain", 1_769_860_800_123, 0),
        ("session/t/unseen", 0, 0),
    ]


async def test_a_database_that_is_away_is_named(bare: Settings) -> None:
    away = replace(bare, postgres="postgresql://postgres@127.0.0.1:1/postgres")
    with pytest.raises(Unavailable) as error:
        await migrate(away)
    assert error.value.server == "Postgres"
