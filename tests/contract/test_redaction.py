"""Redaction in a log: calls run with the real secrets, the log holds none, nothing runs twice."""

from __future__ import annotations

import json
import pickle
import traceback
from collections.abc import AsyncGenerator

import pytest

import agentjournal
from agentjournal import (
    Event,
    Log,
    MessageAdded,
    NeedsVerification,
    NoteSet,
    Part,
    RedactionFailed,
    Redactor,
    Session,
    ToolCallPart,
)
from tests.clients import Clients
from tests.planted_secrets import token
from tests.servers import unsettled
from tests.support import message

TOKEN = token("contract")
MARK = "[redacted:github-pat]"


class Door:
    """An outside system that opens for a secret."""

    def __init__(self) -> None:
        self.opened: list[str] = []

    async def unlock(self, secret: str) -> str:
        """Open the door."""
        self.opened.append(secret)
        return f"opened with {secret}"


def asks(*call_ids: str) -> MessageAdded:
    parts: list[Part] = [
        ToolCallPart(call_id=each, name="unlock", arguments_text=json.dumps({"secret": TOKEN}))
        for each in call_ids
    ]
    return MessageAdded(role="assistant", parts=parts)


async def recorded(session: Session) -> bytes:
    """Return all that the log has of a session."""
    return b"\n".join([each.raw_data async for each in session.events()])


@pytest.fixture(name="log")
async def _log(clients: Clients) -> AsyncGenerator[Log]:
    async with clients.connected(redact=Redactor()) as log:
        yield log


async def test_a_call_runs_with_the_real_secret_and_the_log_holds_none(log: Log) -> None:
    session, door = log.session("s", agent="a"), Door()
    async with session.resume() as run:
        await run.say(f"Open it with {TOKEN}.")
        await run.window(max_tokens=8_000)
        await run.record(asks("c-1"))
        # What another says is read from the log, and with it what the log has of the call.
        await log.session("s").append(message("quick"))
        await run.refresh()
        await run.finish_open_calls({"unlock": door.unlock})
    assert door.opened == [TOKEN]
    raw = await recorded(session)
    assert TOKEN.encode() not in raw
    assert raw.count(MARK.encode()) >= 4  # said, asked, started, completed
    call = (await session.load()).calls["c-1"]
    assert (call.outcome, call.output) == ("completed", f"opened with {MARK}")
    assert (call.arguments, call.is_redacted) == ({"secret": MARK}, True)
    async with session.resume() as run:
        await run.finish_open_calls({"unlock": door.unlock})
    assert door.opened == [TOKEN]


async def test_a_call_whose_secret_is_gone_is_not_run_with_the_mark(log: Log) -> None:
    session, door = log.session("s", agent="a"), Door()
    async with session.resume() as run:
        await run.say("Open it.")
        await run.record(asks("c-1"))
    async with log.session("s", agent="a").resume() as run:
        assert [(each.call_id, each.is_redacted) for each in run.open] == [("c-1", True)]
        await run.finish_open_calls({"unlock": door.unlock})
        [call] = run.failed
        assert call.error is not None
        assert (call.error.type, call.error.code) == ("invalid_arguments", "redacted")
        assert "was not recorded" in str(call.output)
    assert door.opened == []


async def test_one_that_may_have_happened_stays_unknown(log: Log) -> None:
    @agentjournal.tool(effect="idempotent")
    async def unlock(secret: str) -> str:
        raise AssertionError(secret)

    session = log.session("s", agent="a")
    async with session.resume() as run:
        await run.say("Open it.")
        await run.record(asks("c-1"))
        with pytest.raises(TimeoutError):
            async with run.call("unlock", {"secret": TOKEN}, call_id="c-1"):
                raise TimeoutError
    async with log.session("s", agent="a").resume() as run:
        with pytest.raises(NeedsVerification) as unknown:
            await run.finish_open_calls({"unlock": unlock})
        assert [each.call_id for each in unknown.value.calls] == ["c-1"]


async def test_edited_arguments_whose_secret_is_gone_are_not_run(log: Log) -> None:
    door = Door()
    unlock = agentjournal.tool(approval=True)(door.unlock)
    session = log.session("s", agent="a")
    async with session.resume() as run:
        await run.say("Open it.")
        part = ToolCallPart(call_id="c-1", name="unlock", arguments_text='{"secret": "?"}')
        await run.record(MessageAdded(role="assistant", parts=[part]))
        await run.finish_open_calls({"unlock": unlock})
        assert run.waiting
        [approval] = run.state.approvals
        await log.session("s").grant(approval, by="b", edited_arguments={"secret": TOKEN})
        await run.refresh()
        await run.finish_open_calls({"unlock": unlock})
        [call] = run.failed
        assert call.error is not None
        assert call.error.code == "redacted"
    assert door.opened == []


async def test_the_same_append_sent_again_is_the_same(log: Log) -> None:
    session = log.session("s")
    event = message(f"it is {TOKEN}")
    first = await session.append(event, append_id="a-1")
    again = await session.append(event, append_id="a-1")
    assert again.duplicate
    assert again.first_version == first.first_version


async def test_what_cannot_be_redacted_is_not_sent_and_nothing_of_it_is_told(
    clients: Clients,
) -> None:
    def broken(event: Event) -> Event:
        if isinstance(event, NoteSet):
            raise LookupError(f"what is {event.value}?")  # noqa: TRY004 - any error will do
        return event

    async with clients.connected(redact=broken) as log:
        session = log.session("s")
        with pytest.raises(RedactionFailed) as failed:
            await session.append([message("a"), NoteSet(key="k", value=TOKEN)])
        error = failed.value
        assert (error.path, error.event_type, error.error_type) == (
            "events[1]",
            "note.set",
            "LookupError",
        )
        assert error.where.startswith("test_redaction.py:")
        shown = "".join(traceback.format_exception(error)) + repr(vars(error))
        assert TOKEN not in shown
        assert TOKEN.encode() not in pickle.dumps(error)
        assert error.__context__ is None
        assert unsettled(log) == []
        await session.append(message("b"))
        assert [m.text for m in (await session.load()).messages] == ["b"]
