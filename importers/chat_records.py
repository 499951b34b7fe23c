"""Records that hold chat messages, in the forms that files have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from importers.chat_completion import Completion, as_time, completion_of, is_completion
from importers.chat_message import RESULTS, SPEAKERS
from importers.json_values import Value
from importers.session_events import Place
from importers.source import Source

_ROLES = (*SPEAKERS, *RESULTS)
_SAYS = ("content", "tool_calls", "function_call")
# Items of another API, in a list of which short ones look like chat messages.
_RESPONSES_ITEMS = frozenset({"message", "reasoning", "function_call", "function_call_output"})
_MESSAGES = ("messages", "traj")
_KEYS = ("session_id", "conversation_id", "thread_id", "chat_id")
_TIMES = ("timestamp", "created_at", "created")


@dataclass(frozen=True, slots=True)
class Record:
    """Messages that belong together. `key`: what the file calls their session, None for nothing.

    `fields` is what stands beside the messages, `completion` what the model answered to them.
    """

    number: int
    key: str | None
    place: Place
    messages: Sequence[Any]
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    completion: Completion | None = None
    places: Sequence[Place] = ()  # of the messages, where each has one of its own

    @property
    def time(self) -> str | None:
        """When the record was made, ISO 8601, where it says so."""
        return next(filter(None, (as_time(self.fields.get(name)) for name in _TIMES)), None)

    def place_of(self, index: int) -> Place:
        """Return where the message at `index` is."""
        if self.places:
            return self.places[index]
        return replace(self.place, words=f"{self.place.words}, message {index + 1}")


def is_conversation(value: Any) -> bool:
    """Return whether `value` is a list of chat messages, whatever else is among them."""
    return (
        isinstance(value, list)
        and any(map(is_message, value))
        and not any(map(_is_responses_item, value))
    )


def is_message(value: Any) -> bool:
    """Return whether `value` looks like a chat message."""
    return (
        isinstance(value, Mapping)
        and value.get("role") in _ROLES
        and any(name in value for name in _SAYS)
        and not _is_responses_item(value)
    )


def record_of(value: Any, number: int, offset: int) -> Record | None:
    """Return the record that a value of the file is, None when it holds no chat messages."""
    place = Place(f"record {number}", offset)
    if is_conversation(value):
        return Record(number, None, place, value)
    if not isinstance(value, Mapping):
        return None
    name = next((name for name in _MESSAGES if is_conversation(value.get(name))), None)
    beside = {each: inner for each, inner in value.items() if each != name}
    messages = [] if name is None else value[name]
    if is_completion(beside):  # a response, or one that holds its own request
        completion = completion_of(beside, beside)
        return Record(number, _native_key(value), place, messages, {}, completion)
    if is_completion(beside.get("response")):
        response = beside.pop("response")
        completion = completion_of(response, beside)
        return Record(number, _native_key(value), place, messages, beside, completion)
    return None if name is None else Record(number, _native_key(value), place, messages, beside)


def bare_record(number: int, found: Sequence[tuple[str, Value]], source: Source) -> Record | None:
    """Return values, each with its place in words, as the messages of one session.

    None when they are no messages.
    """
    values = [each.value for _, each in found]
    if not is_conversation(values):
        return None
    places = [Place(words, source.offset(each.start)) for words, each in found]
    return Record(number, None, places[0], values, places=places)


def _native_key(value: Mapping[str, Any]) -> str | None:
    task = _as_key(value.get("task_id"))
    if task is not None:
        trial = _as_key(value.get("trial"))
        return task if trial is None else f"{task}-{trial}"
    return next(filter(None, (_as_key(value.get(name)) for name in _KEYS)), None)


def _as_key(value: Any) -> str | None:
    return str(value) if type(value) in {str, int} and value != "" else None


def _is_responses_item(value: Any) -> bool:
    kind = value.get("type") if isinstance(value, Mapping) else None
    return isinstance(kind, str) and kind in _RESPONSES_ITEMS
