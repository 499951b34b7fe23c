"""Parts of a message, and of what a tool gives back."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from agentjournal.events.base import Record
from agentjournal.events.fields import Count, Id, Text


class TextPart(Record):
    """Plain text."""

    type: Literal["text"] = "text"
    text: Text


class ReasoningPart(Record):
    """What a model thought, kept exactly and beside its call: later requests need it."""

    type: Literal["reasoning"] = "reasoning"
    text: Text | None = None
    summary: Text | None = None
    id: Id | None = None
    signature: Text | None = Field(
        default=None, description="the provider's proof, sent back as it is"
    )
    encrypted: Text | None = Field(
        default=None, description="what the provider hides, sent back as it is"
    )
    provider: Id


class ToolCallPart(Record):
    """A tool that the model asks for; the argument string is the model's, byte for byte."""

    type: Literal["tool_call"] = "tool_call"
    call_id: Id
    name: Id
    arguments_text: Text


class _MediaPart(Record):
    one_of: ClassVar[tuple[str, ...]] = ("artifact", "uri", "file_id")

    media_type: Id
    artifact: Id | None = Field(default=None, description="in the artifact store")
    uri: Text | None = None
    file_id: Id | None = Field(default=None, description="at the provider")
    size: Count | None = Field(default=None, description="bytes")
    alt: Text | None = Field(default=None, description="what it shows, in words")


class ImagePart(_MediaPart):
    """A picture, by reference."""

    type: Literal["image"] = "image"


class AudioPart(_MediaPart):
    """A sound, by reference."""

    type: Literal["audio"] = "audio"


class VideoPart(_MediaPart):
    """A film, by reference."""

    type: Literal["video"] = "video"


class DocumentPart(_MediaPart):
    """A document, by reference."""

    type: Literal["document"] = "document"


class RefusalPart(Record):
    """What the model said in place of an answer that it refused to give."""

    type: Literal["refusal"] = "refusal"
    text: Text


class ProviderPart(Record):
    """What has no word here, as the provider wrote it."""

    type: Literal["provider"] = "provider"
    provider: Id
    raw: Any


def part_tag(part: Any) -> str:
    """Return which part it says it is."""
    of = part.get("type") if isinstance(part, dict) else getattr(part, "type", None)
    return f"<{of}>"


def output_tag(output: Any) -> str:
    """Return whether an output is parts or text."""
    return "<parts>" if isinstance(output, list) else "<text>"


# Tags stand in angle brackets, so that they are told from names of fields in the path of an error.
Part: TypeAlias = Annotated[
    Annotated[TextPart, Tag("<text>")]
    | Annotated[ReasoningPart, Tag("<reasoning>")]
    | Annotated[ToolCallPart, Tag("<tool_call>")]
    | Annotated[ImagePart, Tag("<image>")]
    | Annotated[AudioPart, Tag("<audio>")]
    | Annotated[VideoPart, Tag("<video>")]
    | Annotated[DocumentPart, Tag("<document>")]
    | Annotated[RefusalPart, Tag("<refusal>")]
    | Annotated[ProviderPart, Tag("<provider>")],
    Discriminator(part_tag),
]
Output: TypeAlias = Annotated[
    Annotated[Text, Tag("<text>")] | Annotated[list[Part], Tag("<parts>")],
    Discriminator(output_tag),
]
