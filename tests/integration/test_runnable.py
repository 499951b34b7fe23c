"""Which sessions need a worker: reasons of all kinds, leases, and that the client agrees."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from agentjournal import (
    LeaseAcquired,
    LeaseReleased,
    Log,
)
from agentjournal.settings import Settings
from tests.servers import connected, query
from tests.views import recorded
from tests.work_cases import PLANNED, asked, ended, failed, handed, said, turn

pytestmark = pytest.mark.stack

Found = list[tuple[str, str, int]]


async def runnable(settings: Settings, log: Log, as_of: str | None = None) -> Found:
    """Return (session, reason, version) of those that need a worker, now or as of then."""
    source = "runnable" if as_of is None else f"runnable_at('{as_of}')"
    where = f"WHERE tenant = '{log.settings.tenant}' ORDER BY session_id"
    rows = await query(settings, f"SELECT * FROM agentjournal.{source} {where}")
    assert all(row["since"] is not None for row in rows)
    return [(row["session_id"], row["reason"], row["version"]) for row in rows]


async def test_what_is_due_later_is_due_as_of_then(journal: Settings) -> None:
    at = {"resume": "2999-01-01T00:00:00Z", "retry": "2999-01-02T00:00:00Z"}
    async with connected(journal) as log:
        await recorded(log, said(), turn(2), ended("waiting", resume_at=at["resume"]))
        await recorded(log, PLANNED, failed(at["retry"]), session="p")
        expiring = asked(expires_at="2999-01-03T00:00:00Z")
        await recorded(log, said(), turn(2), expiring, ended("waiting"), session="q")
        assert await runnable(journal, log) == []
        assert await runnable(journal, log, "2998-12-31T23:59:59Z") == []
        resumed, retried = ("s", "resume", 4), ("p", "retry", 3)
        assert await runnable(journal, log, "2999-01-01T00:00:00Z") == [resumed]
        assert await runnable(journal, log, "2999-01-02T00:00:00Z") == [retried, resumed]
        assert await runnable(journal, log, "2999-01-03T00:00:00Z") == [
            *(retried, ("q", "approval", 4), resumed),
        ]


async def test_a_session_that_somebody_has_is_left_alone_until_the_lease_is_over(
    journal: Settings,
) -> None:
    async with connected(journal) as log:
        taken = LeaseAcquired(holder="w-1", fence=3, lease_s=60)
        await recorded(log, said(), taken)
        assert await runnable(journal, log) == []
        await recorded(log, turn(2), fence=3)
        [lease] = await query(
            journal, f"SELECT * FROM agentjournal.work WHERE tenant = '{log.settings.tenant}'"
        )
        assert (lease["holder"], lease["reason"]) == ("w-1", "turn")
        until: datetime = lease["lease_until"]
        soon = (until - timedelta(milliseconds=1)).isoformat()
        assert await runnable(journal, log, soon) == []
        assert await runnable(journal, log, until.isoformat()) == [("s", "turn", 4)]
        await recorded(log, LeaseReleased(fence=3), fence=3)
        assert await runnable(journal, log) == [("s", "turn", 4)]


async def test_a_lease_without_an_end_is_never_over(journal: Settings) -> None:
    async with connected(journal) as log:
        await recorded(log, said(), LeaseAcquired(holder="w", fence=3, lease_s=2**63 - 1))
        assert await runnable(journal, log, "9000-01-01T00:00:00Z") == []


async def test_sessions_are_found_by_the_agent_that_works_on_them_now(journal: Settings) -> None:
    async with connected(journal) as log:
        await recorded(log, said(), agent="support")
        await recorded(
            log, said(), turn(2), handed("transfer", "billing"), ended(), said(name="n"),
            session="t", agent="support",
        )  # fmt: skip

        async def of(agent: str) -> list[str]:
            where = f"tenant = '{log.settings.tenant}' AND agent = '{agent}'"
            found = f"SELECT session_id FROM agentjournal.runnable WHERE {where}"
            return [row["session_id"] for row in await query(journal, found)]

        assert (await of("support"), await of("billing"), await of("agent")) == (["s"], ["t"], [])
