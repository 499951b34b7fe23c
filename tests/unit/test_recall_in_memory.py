"""Recall in a log in memory: what agents test against."""

from __future__ import annotations

from agentjournal.events import MessageAdded, MessageRetracted
from agentjournal.testing import memory_log


def said(text: str, role: str = "user", message_id: str = "m") -> MessageAdded:
    parts = [{"type": "text", "text": text}]
    return MessageAdded.model_validate({"role": role, "message_id": message_id, "parts": parts})


async def test_a_preference_that_changed_is_recalled_as_it_is_now() -> None:
    async with memory_log() as log:
        memory = log.memory(user="u")
        await memory.remember("seat/preference", "window", cardinality="single")
        await memory.remember("seat/preference", "aisle", cardinality="single")
        await log.session("s", user="u").append(said("Which seat did I get? The seat by the door."))
        found = await memory.recall("seat", k=3)
        assert {each.text for each in found} == {
            "seat preference: aisle",
            "Which seat did I get?",
            "The seat by the door.",
        }
        assert found[0].score == 1.0


async def test_nobody_else_is_told_and_nothing_is_told_that_was_taken_back() -> None:
    async with memory_log(tenant="acme") as log:
        await log.session("s", user="u").append(
            [said("The code is 4711.", message_id="a"), said("The code is secret.", message_id="b")]
        )
        await log.session("s", user="u").append(MessageRetracted(message_id="a", reason="a slip"))
        assert [each.text for each in await log.memory(user="u").recall("code")] == [
            "The code is secret."
        ]
        assert await log.memory(user="v").recall("code") == []
        assert await log.memory(account="u").recall("code") == []
        assert await log.beside(tenant="other").memory(user="u").recall("code") == []


async def test_a_session_is_told_nothing_of_other_users_or_of_its_name_in_another_tenant() -> None:
    async with memory_log(tenant="acme") as log:
        await log.session("old", user="u").append(said("The word of u is kiwi."))
        await log.session("old-v", user="v").append(said("The word of v is fig."))
        async with log.beside(tenant="other") as other:
            await other.session("new", user="v").append(said("The word of others is plum."))
        session = log.session("new", user="v")
        await session.append(said("What is the word?"))
        block = await session.recall("word kiwi fig plum", max_tokens=200)
        assert [word for word in ("kiwi", "fig", "plum") if word in block] == ["fig"]


async def test_a_session_is_told_once_it_asks_and_what_it_was_told_is_recorded() -> None:
    async with memory_log() as log:
        await log.session("old", user="u").append(said("I am allergic to peanuts."))
        session = log.session("new", user="u")
        await session.append(said("Are peanuts in satay?"))
        block = await session.recall(max_tokens=60)
        assert block.endswith("user: I am allergic to peanuts.")
        recorded = [each async for each in session.events() if each.type == "memory.recalled"]
        assert [len(each.data["event_ids"]) for each in recorded] == [1]
        assert await session.recall("nothing like it") == ""
        assert "allergic" not in str((await session.window()).messages)
        assert await log.session("nobody").recall("peanuts") == ""
