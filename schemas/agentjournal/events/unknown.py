"""Events that no model is registered for: custom ones, and those of newer writers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import PrivateAttr

from agentjournal.codec import encode
from agentjournal.events.base import Event


class UnknownEvent(Event):
    """An event kept as it was written: `fields` holds all of its data."""

    _fields: dict[str, Any] = PrivateAttr()
    _kind: tuple[str, int] = PrivateAttr()  # what two equal events share besides their fields

    def __init__(self, type: str, fields: Mapping[str, Any], *, schema_version: int = 1) -> None:  # noqa: A002 - the name of the attribute
        super().__init__()
        # Shadows the class variables: here each instance has a type of its own.
        vars(self).update(type=type, schema_version=schema_version)
        self._kind, self._fields = (type, schema_version), dict(fields)

    @property
    def fields(self) -> dict[str, Any]:
        """The data of the event."""
        return dict(self._fields)

    def encoded(self) -> bytes:
        """Return the bytes of `data`. Raises AppendRejected as `Event.encoded` does."""
        return encode(self._fields)

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        yield "type", self.type
        yield "fields", self._fields


class CustomEvent(UnknownEvent):
    """An event of a user's own type: `CustomEvent("custom.order_placed", {"order": 7})`."""

    def __init__(self, type: str, fields: Mapping[str, Any], *, schema_version: int = 1) -> None:  # noqa: A002 - the name of the attribute
        super().__init__(type, fields, schema_version=schema_version)
