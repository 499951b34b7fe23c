"""Who lost races, and what was refused, as rows."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentjournal import AppendRejected, CustomEvent, NoteSet, SessionMismatch, VersionConflict
from agentjournal.settings import Settings
from tests.servers import connected, projector, query, roles, sequencer
from tests.support import message

pytestmark = pytest.mark.stack


async def shown(settings: Settings, view: str, tenant: str, count: int) -> list[dict[str, Any]]:
    """Return the rows of a view once there are `count`."""
    statement = f"SELECT * FROM agentjournal.{view} WHERE tenant = '{tenant}' ORDER BY append_id"
    async with asyncio.timeout(10):
        while len(rows := await query(settings, statement)) < count:  # noqa: ASYNC110 - rows tell nobody
            await asyncio.sleep(0.02)
    return rows


async def test_who_lost_a_race_is_a_row(journal: Settings) -> None:
    async with connected(journal) as log:
        fast = log.session("s", worker="w-1")
        slow = log.session("s", agent="billing", worker="w-2")
        receipt = await fast.append([message("a"), message("b")])
        with pytest.raises(VersionConflict):
            await slow.append(
                [message("c"), NoteSet(key="k", value=1), message("d")],
                expected_version=1,
                append_id="x",
            )
        [row] = await shown(journal, "conflicts", log.settings.tenant, 1)
    assert receipt.last_version == 3
    assert (row["session_id"], row["stream"]) == ("s", fast.stream)
    assert (row["expected_version"], row["actual_version"]) == (1, 3)
    assert (row["append_id"], row["agent"], row["worker"]) == ("x", "billing", "w-2")
    assert (row["events"], row["types"]) == (3, ["message.added", "note.set"])


async def test_what_was_refused_for_good_is_a_row_of_its_own_view(journal: Settings) -> None:
    async with connected(journal) as log:
        session = log.session("s", user="u")
        await session.append(message("a"))
        with pytest.raises(AppendRejected):
            await session.append(CustomEvent("custom." + "x" * 300, {}), append_id="1")
        with pytest.raises(SessionMismatch):
            await log.session("s", user="v").append(message("b"), append_id="2")
        rejected, mismatch = await shown(journal, "dead_letters", log.settings.tenant, 2)
        conflicts = await shown(journal, "conflicts", log.settings.tenant, 0)
    assert (rejected["reason"], rejected["path"]) == ("rejected", "events[0].data")
    assert rejected["text"]
    assert rejected["bytes"] > 300
    assert (mismatch["reason"], mismatch["session_id"]) == ("mismatch", "s")
    assert conflicts == []


async def test_projectors_side_by_side_or_one_after_another_give_one_row_each(
    fresh: Settings,
) -> None:
    async with roles(fresh, sequencer), connected(fresh) as log:
        session = log.session("s")

        async def lose(first: int, last: int) -> None:
            for number in range(first, last):
                with pytest.raises(VersionConflict):
                    await session.append(message("x"), expected_version=9, append_id=f"{number}")

        async with roles(fresh, projector, projector):
            await lose(0, 4)
            await shown(fresh, "conflicts", log.settings.tenant, 4)
        await lose(4, 6)
        async with roles(fresh, projector):
            rows = await shown(fresh, "conflicts", log.settings.tenant, 6)
    assert [row["append_id"] for row in rows] == [str(n) for n in range(6)]
    [place] = await query(
        fresh, "SELECT next_position FROM agentjournal_internal.refused_checkpoints"
    )
    assert place["next_position"] == 6
