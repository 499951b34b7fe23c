"""The questions of docs/sql.md give the right answers on a log whose answers are known."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import psycopg
import pytest

from agentjournal import (
    ApprovalDenied,
    ApprovalGranted,
    ApprovalRequested,
    Cost,
    Event,
    FileChanged,
    Log,
    MessageAdded,
    ModelCalled,
    Parent,
    SessionStarted,
    ToolCompleted,
    ToolFailed,
    ToolFailure,
    ToolStarted,
    VersionConflict,
)
from agentjournal.settings import Settings
from agentjournal.sql_statements import read_statements
from tests.layers import fact
from tests.promoted import PlainExtracting, said
from tests.servers import connected

pytestmark = pytest.mark.stack

QUESTIONS = read_statements("commands", "questions.sql")


def model_called(model: str, tokens: tuple[int, int], cost: str | None, **more: Any) -> ModelCalled:
    return ModelCalled(
        provider="p",
        request_model=model,
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        cost=None if cost is None else Cost(amount=cost, currency="USD", source="client"),
        duration_ms=1,
        **more,
    )


def started(call_id: str, tool: str, lease_s: float = 60) -> ToolStarted:
    return ToolStarted(
        call_id=call_id,
        tool=tool,
        arguments_text="{}",
        arguments_digest="d",
        effect="external",
        idempotency_key=f"key-{call_id}",
        lease_s=lease_s,
    )


def completed(number: int, tool: str, duration_ms: float) -> list[Event]:
    call_id = f"{tool}-{number}"
    return [
        started(call_id, tool),
        ToolCompleted(call_id=call_id, output="", duration_ms=duration_ms),
    ]


def failed(number: int, tool: str, kind: Literal["timeout", "denied"]) -> list[Event]:
    error = ToolFailure(type=kind, message="m")
    call_id = f"{tool}-f{number}"
    return [started(call_id, tool), ToolFailed(call_id=call_id, error=error)]


async def written(log: Log) -> None:
    one = log.session("s-1", user="ada", worker="w-1")
    await one.append(
        [
            MessageAdded(role="user", content="Where is my refund? It is late."),
            model_called("m-small", (100, 10), "0.10"),
            *(e for number in range(1, 21) for e in completed(number, "search", number * 10)),
            *completed(1, "refund", 500),
            *failed(1, "refund", "timeout"),
            *failed(2, "refund", "timeout"),
            *failed(3, "refund", "denied"),
            started("lost", "pay", lease_s=0.001),
            started("runs", "pay", lease_s=3600),
            FileChanged(path="src/app.py", reason="create", after_digest="a"),
            FileChanged(path="src/other.py", reason="create", after_digest="x"),
        ]
    )
    two = log.session("s-2", user="ada")
    await two.append(
        [
            model_called("m-small", (50, 5), "0.25", response_model="m-large"),
            model_called("m-large", (1, 1), None),
            ApprovalRequested(approval_id="a-1", question="Pay 7 EUR?", requested_of="boss"),
            ApprovalRequested(approval_id="a-2", question="Pay 8 EUR?", requested_of="boss"),
            ApprovalRequested(approval_id="a-3", question="Pay 9 EUR?", requested_of="boss"),
            ApprovalRequested(
                approval_id="a-4", question="Too late?", expires_at="2020-01-01T00:00:00Z"
            ),
        ]
    )
    await two.append(ApprovalGranted(approval_id="a-1", by="boss"))
    await two.append(ApprovalDenied(approval_id="a-2", by="boss"))
    three = log.session("s-3", user="bob")
    await three.append(
        [
            model_called("m-small", (7, 3), "1.00"),
            MessageAdded(role="user", content="A refund that comes later is late."),
            MessageAdded(role="user", content="Nothing of that kind."),
            FileChanged(path="src/app.py", reason="edit", before_digest="a", after_digest="b"),
        ]
    )
    with pytest.raises(VersionConflict):
        await log.session("s-1", worker="w-2").append(
            MessageAdded(role="user", content="late, and a refund"), expected_version=1
        )
    handed = Parent(session_id="s-1", version=4, relation="handoff")
    await log.session("s-4").append(SessionStarted(agent="b", parent=handed))
    await log.caught_up(await log.session("s-5").append(SessionStarted(agent="b")))
    ada = log.memory(user="ada")
    await ada.remember("city", "Rome", cardinality="single", quote="I live in Rome")
    await ada.remember("city", "Oslo", cardinality="single", quote="I moved to Oslo")
    await ada.remember("city", "OSLO", cardinality="single", role="developer")
    await ada.facts()
    for name, text in (("s-8", "city = Oslo\nfood? = fish\nsize? = M"), ("s-9", "food? = rice")):
        session = log.session(name, user="bob")
        await session.append(said(text))
        await session.promote(extracting=PlainExtracting())
    await log.caught_up(await log.memory(user="bob").append(fact("f-1", "plan", "basic")))


@dataclass(frozen=True, slots=True)
class Asked:
    """The answers to every question, as the analyst's role gets them."""

    answers: dict[str, list[tuple[Any, ...]]]


@pytest.fixture
async def asked(journal: Settings) -> AsyncGenerator[Asked]:
    async with connected(journal) as log:
        await written(log)
        fork = await log.session("s-3").fork(at=2, session_id="s-6")
        for session_id in ("s-1", "s-2", "s-3", "s-4"):
            receipt = await log.session(session_id).append(model_called("m-none", (0, 0), None))
            await log.caught_up(receipt)
        await log.caught_up(await fork.append(model_called("m-none", (0, 0), None)))
        async with await psycopg.AsyncConnection.connect(journal.postgres) as connection:
            await connection.execute("SET ROLE agentjournal_analyst")
            yield Asked(
                {
                    name: await _answer(
                        connection, text.replace("'default'", f"'{log.settings.tenant}'")
                    )
                    for name, text in QUESTIONS.items()
                }
            )


async def _answer(
    connection: psycopg.AsyncConnection[Any], statement: str
) -> list[tuple[Any, ...]]:
    async with asyncio.timeout(10):
        while True:
            rows = await (await connection.execute(statement.encode())).fetchall()
            # Lost races come another way than events, and nothing says when they are there.
            if rows or "conflicts" not in statement:
                return rows
            await connection.rollback()
            await connection.execute("SET ROLE agentjournal_analyst")


async def test_every_question_has_the_answer_that_the_log_has(asked: Asked) -> None:
    found = asked.answers
    assert len(QUESTIONS) >= 10
    assert found["cost_of_users"] == [
        ("bob", "USD", Decimal("1.00"), 1),
        ("ada", "USD", Decimal("0.35"), 2),
    ]
    assert found["slowest_tools"] == [("refund", 1, 500, 500), ("search", 20, 100, 190)]
    assert found["failing_tools"] == [
        ("refund", 4, 3, Decimal("0.750"), "timeout"),
        ("search", 20, 0, Decimal("0.000"), None),
    ]
    assert found["unknown_now"] == [("s-1", "lost", "pay", "external", 1, "key-lost")]
    [(session, question, of, waits)] = found["waiting_for_approval"]
    assert (session, question, of) == ("s-2", "Pay 9 EUR?", "boss")
    assert 0 <= waits.total_seconds() < 600
    [(by, answers, granted, took)] = found["time_to_approval"]
    assert (by, answers, granted) == ("boss", 2, 1)
    assert 0 <= took.total_seconds() < 600
    [lost] = found["lost_races"]
    assert lost == ("s-1", "w-2", "w-1", 1, 55, ["message.added"])
    assert found["tokens_by_model"] == [
        ("m-small", 2, 107, 13),
        ("m-large", 2, 51, 6),
        ("m-none", 5, 0, 0),
    ]
    assert found["where_sessions_come_from"] == [
        ("s-4", "handoff", "s-1", 4, 1),
        ("s-6", "fork", "s-3", 2, 1),
    ]
    assert [row[:5] for row in found["history_of_a_file"]] == [
        ("s-1", 54, "create", None, "a"),
        ("s-3", 5, "edit", "a", "b"),
    ]
    assert [(row[0], row[1], row[2]) for row in found["said_about"]] == [
        ("s-1", 2, "user"),
        ("s-3", 3, "user"),
    ]
    assert [row[:3] for row in found["changed_minds"]] == [("ada", "city", "Rome")]
    assert found["values_in_common"] == [("city", "Oslo", 2), ("plan", "basic", 1)]
    assert found["refused_facts"] == [("not sure", 3, 2)]
    assert found["known_of_a_user"] == [("city", "Oslo", "user", "I moved to Oslo", 2)]
