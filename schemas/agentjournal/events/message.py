"""Messages and what becomes of the conversation they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, model_validator

from agentjournal.events.base import Event, Record
from agentjournal.events.fields import Count, Id, Integer, Text
from agentjournal.events.parts import Part, TextPart, ToolCallPart
from agentjournal.ids import new_event_id

Role = Literal["system", "developer", "user", "assistant"]


class MessageAdded(Event):
    """Somebody said something. A tool's result is no message: it is `tool.completed`."""

    type: ClassVar[str] = "message.added"

    message_id: Id = Field(default_factory=new_event_id)
    role: Role
    parts: list[Part] = Field(description="text, reasoning, tool calls, media, in their order")
    name: Id | None = Field(
        default=None, description="of the speaker, where a role has more than one"
    )
    model_call_id: Id | None = Field(default=None, description="the model call that made it")
    status: Literal["complete", "incomplete"] = Field(
        default="complete", description="incomplete: the model was cut off"
    )

    if TYPE_CHECKING:  # says what the constructor takes besides the fields

        def __init__(  # noqa: PLR0913 - one argument a field
            self,
            *,
            role: Role,
            content: str | None = None,
            parts: list[Part] | None = None,
            message_id: str = "",
            name: str | None = None,
            model_call_id: str | None = None,
            status: Literal["complete", "incomplete"] = "complete",
            **unknown: Any,
        ) -> None: ...

    @model_validator(mode="before")
    @classmethod
    def _content_is_one_text_part(cls, fields: Any) -> Any:
        if isinstance(fields, dict) and "content" in fields and "parts" not in fields:
            content = fields["content"]
            rest = {name: value for name, value in fields.items() if name != "content"}
            return {**rest, "parts": [{"type": "text", "text": content}]}
        return fields

    @property
    def text(self) -> str:
        """The text parts, a line break between two of them."""
        return "\n".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def tool_calls(self) -> list[ToolCallPart]:
        """The tools that the model asks for, in its order."""
        return [part for part in self.parts if isinstance(part, ToolCallPart)]


class MessageRetracted(Event):
    """A message no longer counts; it stays in the log."""

    type: ClassVar[str] = "message.retracted"

    message_id: Id
    reason: Text


class ConversationRewound(Event):
    """Everything said after `to_version` no longer counts: edit and regenerate, or undo."""

    type: ClassVar[str] = "conversation.rewound"

    to_version: Count = Field(description="the last version that still counts")
    reason: Text


class Carried(Record):
    """Something exact that a compaction keeps word for word."""

    kind: Id
    value: Any
    version: Integer = Field(description="of the event that said it")


class ConversationCompacted(Event):
    """A stretch of the conversation is shown as a summary from here on."""

    type: ClassVar[str] = "conversation.compacted"

    first_version: Integer
    last_version: Integer
    summary: Text
    carried: list[Carried] = Field(default_factory=list[Carried])
    tokens_before: Count
    tokens_after: Count
    summarised_by: Id = Field(description="the model or method that wrote the summary")
    forced: bool = Field(default=False, description="done although it lost something")
