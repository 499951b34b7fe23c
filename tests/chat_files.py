"""Files of chat messages for tests of the importer, and the sessions that they become."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agentjournal.events import CustomEvent, Event, MessageAdded
from importers.imported import Imported, ImportedSession
from importers.openai_chat import read_openai_chat

HI = {"role": "user", "content": "hi"}
HELLO = {"role": "assistant", "content": "hello"}
MORE = {"role": "user", "content": "more"}
SYSTEM = {"role": "system", "content": "be kind"}


def read(raw: bytes | str, *, user: str | None = None) -> Imported:
    raw = raw.encode() if isinstance(raw, str) else raw
    found = read_openai_chat(raw, name="chat", source="chat.jsonl", user=user)
    assert isinstance(found, Imported), found
    return found


def lines(*values: Any) -> str:
    return "\n".join(json.dumps(value) for value in values) + "\n"


def said(session: ImportedSession) -> list[str]:
    messages = [each.event for each in session.events]
    return [message.text for message in messages if isinstance(message, MessageAdded)]


def by_id(found: Imported) -> dict[str, list[str]]:
    return {session.session_id: said(session) for session in found.sessions}


def event_of(session: ImportedSession, kind: type[Event]) -> Any:
    return next(each.event for each in session.events if isinstance(each.event, kind))


def fields_of(session: ImportedSession) -> list[Mapping[str, Any]]:
    found = [each.event for each in session.events if each.type == "custom.import.fields"]
    return [event.fields["fields"] for event in found if isinstance(event, CustomEvent)]


def response(text: str, response_id: str | None = "r-1", **fields: Any) -> dict[str, Any]:
    return {
        **({} if response_id is None else {"id": response_id}),
        "object": "chat.completion",
        "created": 1_769_860_800,
        "model": "m-2026",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": 12,
            "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 8},
            "completion_tokens_details": {"reasoning_tokens": 2},
        },
        **fields,
    }
