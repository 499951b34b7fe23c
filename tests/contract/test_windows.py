"""Windows, compaction and rewinding through the log and back."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentjournal import (
    CompactionRefused,
    MessageAdded,
    ToolCallPart,
    ToolCompleted,
    VersionConflict,
    WindowTooSmall,
)
from agentjournal.session import Session
from tests.clients import Clients


def said(role: Any, text: str) -> MessageAdded:
    return MessageAdded(role=role, content=text)


def contents(messages: list[dict[str, Any]]) -> list[Any]:
    return [message["content"] for message in messages]


async def conversation(session: Session) -> None:
    call = ToolCallPart(call_id="c", name="look_up", arguments_text='{"order": 48213}')
    await session.append(
        [
            said("system", "rules"),
            said("user", "where is order 48213?"),
            MessageAdded(role="assistant", parts=[call]),
            ToolCompleted(call_id="c", output="in the post", duration_ms=3),
            said("assistant", "in the post"),
            said("user", "thanks"),
        ]
    )


async def test_a_session_is_compacted_and_the_log_keeps_everything(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("compacted")
        await conversation(session)
        with pytest.raises(CompactionRefused) as refused:
            await session.compact(summary="they asked for a parcel", keep_last=1)
        assert refused.value.would_lose == ("48213",)
        await session.compact(summary="they asked for 48213: in the post", keep_last=1)
        window = await session.window()
        assert contents(window.messages) == [
            "rules",
            ("[Summary of the conversation, versions 1 to 6]\nthey asked for 48213: in the post"),
            "thanks",
        ]
        # In the log and in the state nothing is gone; seen from before, nothing was compacted.
        kinds = [event.type async for event in session.events()]
        assert kinds.count("message.added") == 5
        before = await session.load(at=7)
        assert before.compactions == []
        assert before.messages[0].text == "rules"


async def test_a_conversation_is_rewound_and_goes_on_otherwise(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("rewound")
        await conversation(session)
        await session.rewind(3, reason="edited")
        await session.append(said("user", "never mind"))
        assert contents((await session.window()).messages) == [
            "rules",
            "where is order 48213?",
            "never mind",
        ]
        for beyond in (-1, 100):
            with pytest.raises(ValueError, match="to_version"):
                await session.rewind(beyond)


async def test_of_two_that_compact_at_once_one_is_told_that_it_lost(clients: Clients) -> None:
    async with clients.connected() as log:
        one, two = log.session("raced"), log.session("raced")
        await conversation(one)
        both = await asyncio.gather(
            *(s.compact(summary="order 48213", keep_last=1) for s in (one, two)),
            return_exceptions=True,
        )
        assert sum(isinstance(end, VersionConflict | CompactionRefused) for end in both) == 1
        assert len((await one.load()).compactions) == 1


async def test_a_window_keeps_to_its_budget_in_every_form(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("budget")
        await conversation(session)
        for n in range(30):
            await session.append(
                [said("user", f"question {n} " * 20), said("assistant", "yes " * 40)]
            )
        whole = await session.window(max_tokens=100_000)
        assert whole.dropped.messages == 0
        small = await session.window(max_tokens=600)
        assert small.tokens is not None
        assert small.tokens <= 600
        assert small.dropped.messages > 40
        assert small.messages[0] == {"role": "system", "content": "rules"}
        assert "48213" in small.messages[1]["content"]
        claude = await session.window(max_tokens=600, format="anthropic")
        assert claude.system == [{"type": "text", "text": "rules"}]
        assert claude.dropped == small.dropped
        with pytest.raises(WindowTooSmall):
            await session.window(max_tokens=20)
