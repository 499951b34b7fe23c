"""The view of notes, on real servers."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from agentjournal import Log, NoteDeleted, NoteSet, SessionEnded, SessionExpired, SessionResumed
from agentjournal.settings import Settings
from tests.servers import connected, query
from tests.views import recorded, rows

pytestmark = pytest.mark.stack


async def notes(settings: Settings, log: Log) -> dict[str, dict[str, Any]]:
    return {row["key"]: row for row in await rows(settings, "notes", log)}


async def live(settings: Settings, log: Log, as_of: datetime) -> set[str]:
    found = await query(
        settings,
        f"SELECT key FROM agentjournal.live_notes('{as_of.isoformat()}')"
        f" WHERE tenant = '{log.settings.tenant}'",
    )
    return {row["key"] for row in found}


async def test_notes_are_rows_with_the_value_that_was_set_last(journal: Settings) -> None:
    async with connected(journal) as log:
        await recorded(
            log,
            NoteSet(key="a", value="old"),
            NoteSet(key="a", value={"nul": "\0", "n": 2**70}),
            NoteSet(key="nothing", value=None),
            NoteSet(key="gone", value=1),
            NoteDeleted(key="gone"),
        )
        found = await notes(journal, log)
    assert found["a"]["value"] == {"nul": "\u2400", "n": {"$int": str(2**70)}}
    assert (found["a"]["version"], found["a"]["deleted"], found["a"]["ttl_s"]) == (3, False, None)
    assert (found["a"]["expires_at"], found["a"]["task_id"]) == (None, None)
    assert (found["nothing"]["value"], found["nothing"]["deleted"]) == (None, False)
    assert (found["gone"]["value"], found["gone"]["deleted"]) == (None, True)


async def test_a_note_holds_until_its_time_has_passed(journal: Settings) -> None:
    async with connected(journal) as log:
        await recorded(
            log,
            NoteSet(key="short", value=1, ttl_s=60.5),
            NoteSet(key="for ever", value=1, ttl_s=2**63 - 1),
            NoteSet(key="kept", value=1),
            NoteSet(key="deleted", value=1),
            NoteDeleted(key="deleted"),
        )
        found = await notes(journal, log)
        until = found["short"]["expires_at"]
        assert until - found["short"]["recorded_at"] == timedelta(seconds=60.5)
        assert found["for ever"]["expires_at"] is None
        before = until - timedelta(microseconds=1)
        assert await live(journal, log, before) == {"short", "for ever", "kept"}
        assert await live(journal, log, until) == {"for ever", "kept"}


async def test_notes_are_hidden_when_the_session_expired_and_come_back_when_it_is_resumed(
    journal: Settings,
) -> None:
    async with connected(journal) as log:
        session = log.session("s")
        await session.append([NoteSet(key="a", value=1), NoteSet(key="b", value=1)])
        receipt = await session.append(SessionExpired(idle_s=0), expected_version=3)
        await log.caught_up(receipt)
        assert await notes(journal, log) == {}
        await recorded(log, NoteSet(key="b", value=2))
        assert {k: row["value"] for k, row in (await notes(journal, log)).items()} == {"b": 2}
        await recorded(log, SessionResumed())
        found = {k: row["value"] for k, row in (await notes(journal, log)).items()}
        assert found == {"a": 1, "b": 2}


async def test_notes_are_gone_when_the_session_ended_also_when_it_is_resumed(
    journal: Settings,
) -> None:
    async with connected(journal) as log:
        await recorded(log, NoteSet(key="a", value=1), NoteSet(key="b", value=1))
        await recorded(log, SessionEnded())
        assert await notes(journal, log) == {}
        await recorded(log, SessionResumed(), NoteSet(key="b", value=2))
        await recorded(log, NoteSet(key="a", value=1), session="other")
        assert {k: row["value"] for k, row in (await notes(journal, log)).items()} == {"b": 2}
