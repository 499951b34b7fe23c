"""Events that are larger than one request: what does not fit is taken out, and named."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agentjournal.codec import decode, encode
from agentjournal.events import CustomEvent, Event, decode_event
from agentjournal.requests import MAX_REQUEST_BYTES
from importers.imported import MISSING

MAX_EVENT_BYTES = MAX_REQUEST_BYTES - 20_000  # leaves room for the request around it


@dataclass(frozen=True, slots=True)
class Missing:
    """A value that was taken out: `size` and `sha256` of its UTF-8 text, or else of its JSON."""

    place: str
    size: int
    sha256: str

    def as_json(self) -> dict[str, Any]:
        """Return the note that stands in the value's place."""
        return {"place": self.place, "bytes": self.size, "sha256": self.sha256}


def fitted(event: Event, data: bytes) -> tuple[Event, bytes, list[Missing]]:
    """Return the event, with `data` as its bytes, in a form that fits, and what is missing in it.

    Its largest values go first, until it fits: a part or an output is replaced by a `provider`
    part that names it, the arguments of a call by none, a field by an object that names it.
    """
    if len(data) <= MAX_EVENT_BYTES:
        return event, data, []
    fields: dict[str, Any] = decode(data)
    missing: list[Missing] = []
    left = len(data)
    for slot in sorted(_slots(fields), key=lambda slot: slot.size, reverse=True):
        missing.append(slot.missing())
        slot.put(_stand_in(slot, missing[-1]))
        left -= slot.size
        if left <= MAX_EVENT_BYTES and len(smaller := encode(fields)) <= MAX_EVENT_BYTES:
            return decode_event(event.type, event.schema_version, smaller), smaller, missing
    raise ValueError(f"{event.type} does not fit even without its values")


def marker(event_id: str, event: Event, missing: list[Missing]) -> CustomEvent:
    """Return the event that says what is missing in the one before it."""
    values = [each.as_json() for each in missing]
    return CustomEvent(MISSING, {"event_id": event_id, "type": event.type, "values": values})


@dataclass(frozen=True, slots=True)
class _Slot:
    """A place inside an event that a value can be taken out of."""

    place: str
    holder: Any
    key: Any
    size: int

    @property
    def value(self) -> Any:
        return self.holder[self.key]

    def missing(self) -> Missing:
        value = self.value
        if isinstance(value, dict) and isinstance(value.get("text"), str):
            value = value["text"]
        elif isinstance(value, dict) and value.get("type") == "tool_call":
            value = value["arguments_text"]
        is_text = isinstance(value, str)
        written = value.encode("utf-8", "surrogatepass") if is_text else encode(value)
        return Missing(self.place, len(written), hashlib.sha256(written).hexdigest())

    def put(self, value: Any) -> None:
        self.holder[self.key] = value


def _slots(fields: dict[str, Any]) -> Iterator[_Slot]:
    for name, value in fields.items():
        if name in _PARTS and isinstance(value, list) and len(value) <= _MOST_PARTS:
            for index, item in enumerate(value):
                yield _Slot(f"{name}[{index}]", value, index, len(encode(item)))
        else:
            yield _Slot(name, fields, name, len(encode(value)))


def _stand_in(slot: _Slot, missing: Missing) -> Any:
    note = {"missing": missing.as_json()}
    part = {"type": "provider", "provider": "import", "raw": note}
    if slot.place in _PARTS:
        return [part]
    value = slot.value
    if not slot.place.startswith(_PARTS):
        return note
    if isinstance(value, Mapping) and value["type"] == "tool_call":
        kept = {name: value[name] for name in ("type", "call_id", "name")}
        return {**kept, "arguments_text": "", **note}
    return part


_PARTS = ("parts", "output")
_MOST_PARTS = 2_000  # one with more is taken out as a whole
