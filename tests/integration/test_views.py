"""The SQL views: the columns that users rely on, and what they say of a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest

from agentjournal import (
    Cost,
    CustomEvent,
    MessageAdded,
    ModelCalled,
    SessionStarted,
    TextPart,
    ToolCallPart,
    ToolCompleted,
    ToolFailed,
    ToolFailure,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from agentjournal.events import Parent
from agentjournal.settings import Settings
from tests.servers import connected, query
from tests.support import message
from tests.views import recorded, rows

pytestmark = pytest.mark.stack

# Design, section 8: what a view has beside these is no promise.
PROMISED = {
    "sessions": "tenant session_id version user_id agent title status task_id parent_session_id"
    " root_session_id started_at last_activity_at head_hash messages input_tokens output_tokens"
    " cost open_calls",
    "messages": "tenant session_id version message_id turn_id role content parts tokens status"
    " recorded_at",
    "tool_calls": "tenant session_id version turn_id call_id tool arguments arguments_text effect"
    " outcome attempt lease_until started_at ended_at duration_ms error_type output",
    "model_calls": "tenant session_id version model_call_id provider request_model response_model"
    " input_tokens output_tokens cost currency duration_ms finish_reason status",
    "turns": "tenant session_id version turn_id",
    "events": "tenant session_id stream version position partition type data actor"
    " correlation_id causation_id recorded_at append_id sanitised",
    "projection_status": "projection generation partition next_position",
    "parked": "projection generation stream version error",
}
JSON_COLUMNS = {("messages", "parts"), ("tool_calls", "arguments"), ("events", "data")}


def asking(call_id: str, arguments_text: str) -> MessageAdded:
    part = ToolCallPart(call_id=call_id, name="refund", arguments_text=arguments_text)
    return MessageAdded(role="assistant", parts=[TextPart(text="wait"), part], message_id="m-1")


def begun(call_id: str, lease_s: float = 60) -> ToolStarted:
    return ToolStarted(
        call_id=call_id,
        tool="refund",
        arguments_text='{"order": 7}',
        arguments_digest="d",
        effect="external",
        idempotency_key="k",
        lease_s=lease_s,
    )


@pytest.mark.parametrize("view", PROMISED)
async def test_a_view_has_the_columns_that_were_promised(journal: Settings, view: str) -> None:
    found = {
        row["column_name"]: row["data_type"]
        for row in await query(
            journal,
            "SELECT column_name, data_type FROM information_schema.columns"
            f" WHERE table_schema = 'agentjournal' AND table_name = '{view}'",
        )
    }
    assert set(PROMISED[view].split()) <= set(found)
    for name, kind in found.items():
        assert ((view, name) in JSON_COLUMNS) == (kind == "jsonb")
        assert name.endswith("_at") <= (kind == "timestamp with time zone" or name == "resume_at")


async def test_a_session_is_one_row(journal: Settings) -> None:
    async with connected(journal) as log:
        await recorded(
            log,
            message("a"),
            asking("c-1", "{}"),
            asking("c-2", "{}").model_copy(update={"message_id": "m-2"}),
            begun("c-1"),
            ToolCompleted(call_id="c-1", output="", duration_ms=1),
            user="u-7",
            agent="support",
            task="t-1",
            title="Refund",
        )
        head = (await log.session("s").load()).hash
        [row] = await rows(journal, "sessions", log)
    assert row["started_at"] <= row["last_activity_at"]
    found = {n: row[n] for n in PROMISED["sessions"].split() if not n.endswith("_at")}
    assert found == {
        "tenant": log.settings.tenant,
        "session_id": "s",
        "version": 6,
        "user_id": "u-7",
        "agent": "support",
        "title": "Refund",
        "status": "open",
        "task_id": "t-1",
        "parent_session_id": None,
        "root_session_id": "s",
        "head_hash": head,
        "messages": 3,
        "input_tokens": 0,
        "output_tokens": 0,
        "cost": None,
        "open_calls": 1,
    }


async def test_the_root_is_found_over_all_parents(journal: Settings) -> None:
    def child_of(session: str) -> SessionStarted:
        return SessionStarted(
            agent="a", parent=Parent(session_id=session, version=1, relation="handoff")
        )

    async with connected(journal) as log:
        await recorded(log, message("x"), session="root")
        await recorded(log, child_of("root"), session="child")
        await recorded(log, child_of("child"), session="grandchild")
        await recorded(log, child_of("elsewhere"), session="stray")
        await recorded(log, child_of("loop"), session="loop")
        found = {
            name: (await rows(journal, "sessions", log, name))[0]["root_session_id"]
            for name in ("root", "child", "grandchild", "stray", "loop")
        }
    assert found == {
        "root": "root",
        "child": "root",
        "grandchild": "root",
        "stray": "elsewhere",
        "loop": "loop",
    }


async def test_a_conversation_is_rows_with_times_and_sums(journal: Settings) -> None:
    cost = Cost(amount="0.10", currency="EUR", source="provider")
    called = ModelCalled(
        model_call_id="mc-1",
        provider="openai",
        request_model="gpt",
        response_model="gpt-1",
        input_tokens=10,
        output_tokens=4,
        cost=cost,
        duration_ms=7.5,
        finish_reason="stop",
        status="completed",
    )
    error = ToolFailure(type="timeout", message="late", retryable=True)
    async with connected(journal) as log:
        await recorded(
            log,
            TurnStarted(turn_id="t-1", trigger="user", input_versions=[]),
            asking("c-1", '{"order": 7}'),
            begun("c-1"),
            called,
            called.model_copy(update={"model_call_id": "mc-2"}),
            ToolFailed(call_id="c-1", error=error),
            TurnEnded(turn_id="t-1", reason="failed"),
        )
        [session] = await rows(journal, "sessions", log)
        [turn] = await rows(journal, "turns", log)
        [said] = await rows(journal, "messages", log)
        [call] = await rows(journal, "tool_calls", log)
        [first, _] = await rows(journal, "model_calls", log)
    assert (session["input_tokens"], session["output_tokens"]) == (20, 8)
    assert (session["cost"], session["open_calls"]) == (Decimal("0.20"), 0)
    assert (turn["trigger"], turn["reason"], turn["version"]) == ("user", "failed", 2)
    assert (said["content"], said["role"], said["turn_id"]) == ("wait", "assistant", "t-1")
    assert [part["type"] for part in said["parts"]] == ["text", "tool_call"]
    assert (call["arguments"], call["tool"], call["effect"]) == ({"order": 7}, "refund", "external")
    assert (call["outcome"], call["error_type"], call["attempt"]) == ("failed", "timeout", 1)
    assert call["lease_until"] - call["started_at"] == timedelta(seconds=60)
    assert call["started_at"] <= call["ended_at"]
    assert (first["cost"], first["currency"], first["finish_reason"]) == (
        *(Decimal("0.10"), "EUR"),
        "stop",
    )


async def test_events_are_rows_with_their_data_and_whoever_wrote_them(journal: Settings) -> None:
    async with connected(journal) as log:
        await recorded(log, CustomEvent("custom.x", {"a": [1, None]}), agent="support", worker="w")
        start, custom = await rows(journal, "events", log)
    assert (start["type"], custom["type"]) == ("session.started", "custom.x")
    assert (custom["stream"], custom["version"]) == (f"session/{log.settings.tenant}/s", 2)
    assert (custom["data"], custom["sanitised"], custom["actor"]) == ({"a": [1, None]}, False, "w")
    assert custom["append_id"] == start["append_id"]
    assert custom["position"] == start["position"] + 1


TRICKY: Sequence[tuple[Any, Any, bool]] = [
    ("a\0b", "a\u2400b", True),
    ("\0\0", "\u2400\u2400", True),
    ("\\u0000", "\\u0000", False),
    ("\\\0", "\\\u2400", True),
    ('"\0\\"', '"\u2400\\"', True),
    ("é😀\u2028", "é😀\u2028", False),
    ({"k\0": 1}, {"k\u2400": 1}, True),
    ("\ud800", {"$text": [55296]}, False),
    (2**70, {"$int": str(2**70)}, False),
    (b"\0", {"$bytes": "AA=="}, False),
]


async def test_what_postgres_cannot_hold_is_replaced_and_marked(journal: Settings) -> None:
    async with connected(journal) as log:
        given = [CustomEvent("custom.x", {"v": value}) for value, _, _ in TRICKY]
        await recorded(log, *given)
        found = (await rows(journal, "events", log))[1:]
        exact = [e.data["v"] async for e in log.session("s").events(after=1)]
    assert [(row["data"]["v"], row["sanitised"]) for row in found] == [
        (shown, marked) for _, shown, marked in TRICKY
    ]
    assert exact == [value for value, _, _ in TRICKY]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"a": 1}', {"a": 1}),
        ('{"a": ', {"$unreadable": True}),
        ("", {"$unreadable": True}),
        ('{"a": "\\u0000"}', {"a": "\u2400"}),
        ('{"a": "\\ud800"}', {"$unreadable": True}),
        ("[1e400]", [Decimal("1e400")]),
        ("no json", {"$unreadable": True}),
    ],
)
async def test_arguments_are_shown_as_json_when_they_are_some(
    journal: Settings, text: str, shown: Any
) -> None:
    async with connected(journal) as log:
        await recorded(log, asking("c-1", text))
        [call] = await rows(journal, "tool_calls", log)
        assert call["arguments_text"] == text
        if text == "[1e400]":
            [row] = await query(
                journal,
                "SELECT arguments ->> 0 AS n FROM agentjournal.tool_calls"
                f" WHERE tenant = '{log.settings.tenant}'",
            )
            assert Decimal(row["n"]) == shown[0]
        else:
            assert call["arguments"] == shown


async def test_ids_are_shown_decoded(journal: Settings) -> None:
    tenant = f"t é/{uuid4().hex[:6]}"
    async with connected(journal, tenant=tenant) as log:
        await recorded(log, message("a"), session="s 😀%/é")
        for view in ("sessions", "messages", "events"):
            found = await rows(journal, view, log, "s 😀%/é")
            assert {row["session_id"] for row in found} == {"s 😀%/é"}, view


async def test_how_far_projections_are_is_a_row_a_partition(journal: Settings) -> None:
    found = await query(journal, "SELECT * FROM agentjournal.projection_status")
    names = {row["projection"] for row in found}
    assert {"events", "conversation"} <= names
    for name in names:
        mine = [row["partition"] for row in found if row["projection"] == name]
        assert sorted(mine) == list(range(8))
