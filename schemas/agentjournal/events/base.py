"""What every event is: typed fields, unknown ones kept, and exact bytes."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from agentjournal.codec import encode
from agentjournal.events.wire import wire_form


def _needs_one(schema: JsonDict, model: type[Any]) -> None:
    if model.one_of:
        schema["anyOf"] = [{"required": [name]} for name in model.one_of]


class Record(BaseModel):
    """An object with named fields inside an event: unknown fields are kept, nothing is coerced."""

    model_config = ConfigDict(
        strict=True,
        frozen=True,
        extra="allow",
        json_schema_extra=_needs_one,
    )

    one_of: ClassVar[tuple[str, ...]] = ()  # at least one of these fields is written

    @model_validator(mode="after")
    def _is_written_plainly(self) -> Self:
        if self.one_of or self.model_extra:
            form = wire_form(self)
            if self.one_of and not any(name in form for name in self.one_of):
                names = {"names": ", ".join(self.one_of)}
                raise PydanticCustomError("one_of", "needs one of {names}", names)
            if len(form) == 1 and next(iter(form)).startswith("$"):
                raise PydanticCustomError("escape", "is an escape form, not an object with fields")
        return self


class Event(Record):
    """Something that happened. A subclass is a type; its fields are the event's `data`."""

    type: ClassVar[str] = ""
    schema_version: ClassVar[int] = 1

    def encoded(self) -> bytes:
        """Return the bytes of `data`: the fields, without the optional ones that are not set.

        Raises AppendRejected when a field holds what cannot be written.
        """
        return encode(wire_form(self))
