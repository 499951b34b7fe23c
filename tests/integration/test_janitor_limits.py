"""The janitor on real servers: what is told of limits and of requests nobody decides, once."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import agentjournal as aj
from agentjournal.ids import stream_id
from agentjournal.partitions import partition_of
from agentjournal.requests import NewEvent, Request
from agentjournal.settings import Settings
from consumers.janitor_expiry import Asked
from consumers.kafka_requests import KafkaRequests
from tests.janitors import (
    QUICK,
    alerts_of,
    janitor,
    looked_at,
    met,
    placed,
    said,
    types_of,
    with_limits,
)
from tests.servers import connected, query, roles

pytestmark = pytest.mark.stack

FACT = aj.FactLearned(
    fact_id="f-1",
    kind="preference",
    attribute="colour",
    value="red",
    cardinality="single",
    quote="red",
    evidence=[],
    author_role="user",
    confidence=1,
    valid_from="2026-01-31T12:00:00Z",
    extractor={"name": "test", "version": "1"},  # type: ignore[arg-type]
)


async def exceed_all(log: aj.Log) -> dict[tuple[str, str], float | None]:
    """Let one session go over each limit; return (session, limit) with the value it comes to.

    None where it depends on when it is looked at.
    """
    note, plan = aj.NoteSet(key="k", value="v" * 50), _plan()
    events: dict[str, tuple[int, list[aj.Event], float | None]] = {
        "events": (2, [said(), said()], 3),
        "age_s": (0, [said()], None),
        "artifact_bytes": (9, [_artifact("a-1", 4), _artifact("a-2", 6)], 10),
        "snapshot_bytes": (9, [_snapshot("n-1", 4), _snapshot("n-2", 11)], 11),
        "packages": (1, [aj.EnvironmentChanged(packages={"a": "1", "b": "2"})], 2),
        "note_bytes": (9, [note], len(note.encoded())),
        "plan_bytes": (9, [plan], len(plan.encoded())),
    }
    for name, (most, batch, _) in events.items():
        await log.session(name, limits={name: most}).append(batch)
    await log.session("bytes", limits={"bytes": 10}).append(said())
    await log.session("open-1", user="many", limits={"open_sessions": 1}).append(said())
    await log.session("open-2", user="many", limits={"open_sessions": 1}).append(said())
    await log.session("fact_bytes", user="known", limits={"fact_bytes": 9}).append(said())
    await log.session("tokens", limits={"tokens": 9}).append(said())
    exceeded: dict[tuple[str, str], float | None] = {
        (name, name): value for name, (_, _, value) in events.items()
    }
    # One of the message here, as the client estimates it, and those of the next.
    exceeded |= {("open-2", "open_sessions"): 2, ("tokens", "tokens"): 13, ("bytes", "bytes"): None}
    exceeded["fact_bytes", "fact_bytes"] = len(FACT.encoded())
    return exceeded


def _artifact(name: str, size: int) -> aj.ArtifactSaved:
    return aj.ArtifactSaved(
        artifact=name, name=name, media_type="text/plain", size=size, digest="d"
    )


def _snapshot(name: str, size: int) -> aj.SnapshotTaken:
    return aj.SnapshotTaken(snapshot_id=name, kind="files", artifact=name, size=size)


def _plan() -> aj.PlanCreated:
    step = aj.PlannedStep(step_id="s", title="t", effect="read")
    return aj.PlanCreated(plan_id="p", goal="g", steps=[step])


async def _what_handles_do_not_write(log: aj.Log, requests: KafkaRequests) -> None:
    """Append a fact, and a message with its tokens, as a promoter and other clients do."""
    user = stream_id("user", log.settings.tenant, "known")
    fact = NewEvent("e-1", FACT.type, FACT.encoded())
    stream, partition = placed(log, "tokens")
    message = NewEvent("e-2", "message.added", said().encoded(), tokens=12)
    await requests.send(
        [
            Asked(user, partition_of(user.encode()), Request("f-1", [fact], "/t/test")),
            Asked(stream, partition, Request("m-1", [message], "/t/test")),
        ]
    )


async def test_a_limit_is_told_of_once_a_session_with_an_alert(
    journal: Settings, tmp_path: Path
) -> None:
    # The tenant's own limits are above those of the sessions, which come first.
    tenant = f"tenant-{uuid4().hex[:8]}"
    limited = with_limits(journal, tmp_path, f"[tenant.{tenant}]\nevents = 1_000_000\n")
    async with connected(journal, tenant=tenant) as log, KafkaRequests(journal) as requests:
        expected = await exceed_all(log)
        await _what_handles_do_not_write(log, requests)
        await log.session("within", limits={"events": 1_000}).append(said())

        async def told() -> dict[tuple[str, str], dict[str, Any]]:
            rows = await query(
                journal,
                f"SELECT * FROM agentjournal.limits_exceeded WHERE tenant = '{tenant}'",
            )
            return {(row["session_id"], row["name"]): row for row in rows}

        async def all_told() -> bool:
            return expected.keys() <= (await told()).keys()

        for again in range(2):  # as another janitor does that starts later
            async with roles(limited, janitor()):
                await met(all_told)
                await looked_at(log, f"again-{again}")
        found = {key: row for key, row in (await told()).items() if "again" not in key[0]}
        values = {key: row["value"] for key, row in found.items()}
        assert {k: v for k, v in values.items() if expected[k] is not None} == {
            key: value for key, value in expected.items() if value is not None
        }
        assert all(row["value"] > row["maximum"] for row in found.values())
        events = await query(
            journal,
            "SELECT stream FROM agentjournal.events WHERE type = 'limit.exceeded'"
            f" AND tenant = '{tenant}' AND session_id NOT LIKE 'again%'",
        )
        assert len(events) == len(expected)
        alerts = [each for each in await alerts_of(log) if "again" not in each.subject]
        assert Counter(each.kind for each in alerts) == {"limit_exceeded": len(expected)}
        assert len({each.alert_id for each in alerts}) == len(alerts)
        of_events = next(a for a in alerts if a.subject == placed(log, "events")[0])
        assert (of_events.value, of_events.threshold) == (3, 2)
        assert of_events.text == "events of session events: 3, more than the 2 expected"


async def test_what_waits_for_a_decision_too_long_and_what_is_refused_raise_one_alert_each(
    journal: Settings,
) -> None:
    hasty = replace(QUICK, overdue_s=0.0)
    async with connected(journal) as log:
        session = log.session("waits")
        await session.append(
            [
                aj.ApprovalRequested(approval_id="open", question="Refund?"),
                aj.ApprovalRequested(approval_id="answered", question="Refund?"),
                aj.ApprovalGranted(approval_id="answered", by="somebody"),
                aj.InputRequested(input_id="i-1", question="Which order?"),
            ]
        )
        strict = log.session("full", limits={"events": aj.Limit(maximum=2, policy="refuse")})
        await strict.append(said())
        for _ in range(2):
            with pytest.raises(aj.LimitExceeded):
                await strict.append(said())
        for again in range(2):
            async with roles(journal, janitor(hasty)):
                await looked_at(log, f"again-{again}")
        alerts = [each for each in await alerts_of(log) if "again" not in each.subject]
        assert sorted((each.kind, each.text) for each in alerts) == [
            ("decision_overdue", "approval open of session waits has waited for 0 hours"),
            ("decision_overdue", "input i-1 of session waits has waited for 0 hours"),
            ("limit_refused", "session full is refused appends: events is at its limit"),
        ]
        assert "limit.exceeded" not in await types_of(strict)
