"""Which session a record goes on with: logs of successive requests repeat all that was said before.

A record goes on with a session when it begins with all of it, word for word, and that is more than
instructions. What it repeats is not added again. Records that the file itself calls by different
names never meet.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agentjournal.responses.chat_parts import as_text
from importers.chat_records import Record
from importers.chat_session import ChatSession
from importers.identity import content_of

_INSTRUCTIONS = ("system", "developer")


@dataclass(slots=True, eq=False)
class Conversation:
    """A session while its file is read; `end` stands for all that was said in it."""

    key: str
    session: ChatSession
    end: bytes = b""
    responses: set[str] = field(default_factory=set[str])


class Known(NamedTuple):
    """How much of a record stands in a session already: so many `messages`, its answer included."""

    conversation: Conversation | None
    messages: int


NOTHING = Known(None, 0)


class Conversations:
    """The sessions of a file so far, found by what was said in them."""

    def __init__(self) -> None:
        self._by_beginning: dict[bytes, Conversation] = {}

    def find(self, record: Record, beginnings: Sequence[bytes]) -> Known:
        """Return what is known of `record`; NOTHING when it begins a session of its own."""
        for count in range(len(beginnings), 0, -1):
            found = self._by_beginning.get(beginnings[count - 1])
            if found is None:
                continue
            if _only_instructions(record.messages[:count]):
                return NOTHING
            everything = count == len(beginnings)
            goes_on = found.end == beginnings[count - 1] and not everything
            if goes_on or (everything and not _is_another_answer(record, found)):
                return Known(found, count)
            return NOTHING  # said the same so far, then something else
        return NOTHING

    def add(self, record: Record, beginnings: Sequence[bytes], conversation: Conversation) -> None:
        """Note that all of `record` is in `conversation` now."""
        for beginning in beginnings:
            self._by_beginning.setdefault(beginning, conversation)
        conversation.end = beginnings[-1]
        if record.completion is not None and record.completion.response_id is not None:
            conversation.responses.add(record.completion.response_id)


def beginnings_of(record: Record) -> list[bytes]:
    """Return a digest of the first message, of the first two, and so on, the answer the last."""
    digest = hashlib.sha256((record.key or "").encode("utf-8", "surrogatepass")).digest()
    digests: list[bytes] = []
    for message in _all_messages(record):
        digest = hashlib.sha256(digest + _said(message)).digest()
        digests.append(digest)
    return digests


def _all_messages(record: Record) -> Iterator[Any]:
    yield from record.messages
    if record.completion is not None:
        yield record.completion.message


def _said(message: Any) -> bytes:
    """What a message says, whatever else its writer put beside it this time."""
    if not isinstance(message, Mapping):
        return content_of(message)
    calls = message.get("tool_calls")
    return content_of(
        [
            message.get("role"),
            _words(message.get("content")),
            message.get("name"),
            message.get("tool_call_id"),
            [_asked(call) for call in calls] if isinstance(calls, list) else calls or [],
            message.get("function_call"),
        ]
    )


def _words(content: Any) -> Any:
    if not isinstance(content, list):
        return [] if content is None or content == "" else [content]
    return [
        part.get("text") if isinstance(part, Mapping) and part.get("type") == "text" else part
        for part in content
    ]


def _asked(call: Any) -> Any:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return call
    return [call.get("id"), function.get("name"), as_text(function.get("arguments"))]


def _only_instructions(messages: Sequence[Any]) -> bool:
    return all(isinstance(m, Mapping) and m.get("role") in _INSTRUCTIONS for m in messages)


def _is_another_answer(record: Record, conversation: Conversation) -> bool:
    completion = record.completion
    if completion is None or completion.response_id is None:
        return False
    return completion.response_id not in conversation.responses
