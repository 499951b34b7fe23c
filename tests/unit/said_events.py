"""Recorded events of a session, for tests of what is made of them."""

from __future__ import annotations

from itertools import count

from agentjournal.envelope import Recorded
from agentjournal.events import Entity, Event, MessageAdded, ToolCompleted, ToolStarted
from agentjournal.events.tool import Effect
from agentjournal.ids import Position, StreamId, Version
from agentjournal.memory.candidates import Extraction
from agentjournal.memory.extracting import extract
from agentjournal.memory.rules import default_rules
from agentjournal.memory.slots import default_slots
from agentjournal.memory.statements import statements_of

SAID_AT = "2026-01-14T10:00:00.000Z"
USER = Entity(kind="user", id="u-7")


def recorded(
    version: int, event: Event, *, source: str = "/acme/support", time: str | None = None
) -> Recorded:
    """Return an event as the log has it, at a version of the session `s`."""
    return Recorded(
        StreamId("session/acme/s"),
        Version(version),
        event.type,
        event.encoded(),
        f"e{version}",
        source,
        1,
        "json",
        f"a{version}",
        0,
        1,
        Position(version),
        SAID_AT,
        1,
        "0" * 64,
        "0" * 64,
        time,
    )


def session(*events: Event) -> list[Recorded]:
    """Return the events of a session, from version 1 on."""
    return [recorded(version, event) for version, event in zip(count(1), events, strict=False)]


def user(text: str) -> MessageAdded:
    return MessageAdded(role="user", content=text)


def assistant(text: str) -> MessageAdded:
    return MessageAdded(role="assistant", content=text)


def called(tool: str, arguments: str, *, call_id: str = "c1", effect: Effect = "external") -> Event:
    return ToolStarted(
        call_id=call_id,
        tool=tool,
        arguments_text=arguments,
        arguments_digest="d",
        effect=effect,
        idempotency_key="k",
        lease_s=60,
    )


def came_back(output: str, *, call_id: str = "c1") -> Event:
    return ToolCompleted(call_id=call_id, output=output, duration_ms=1)


def extracted(*events: Event, entities: tuple[Entity, ...] = (USER,)) -> Extraction:
    """Return what is made of a session."""
    statements = statements_of(session(*events))
    return extract(statements, entities, default_slots(), default_rules())


def facts(*events: Event, entities: tuple[Entity, ...] = (USER,)) -> list[tuple[str, object]]:
    """Return what is learned of a session, as (attribute, value)."""
    found = extracted(*events, entities=entities).candidates
    return [("~" * each.retracts + each.attribute, each.value) for each in found]
