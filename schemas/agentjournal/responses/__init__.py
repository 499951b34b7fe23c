"""A model's response as the events that say it: what was answered, and what the call was."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from agentjournal.errors import AppendRejected
from agentjournal.events import Event
from agentjournal.events.decode import rejection
from agentjournal.responses.answer import Answer, Asked
from agentjournal.responses.anthropic import anthropic
from agentjournal.responses.openai_chat import openai_chat
from agentjournal.responses.openai_responses import openai_responses

_TAKEN = (
    "an OpenAI chat completion, an OpenAI Responses response or an Anthropic message, as the SDK "
    "gives it or as a dict; of a stream the final one"
)


def recorded_response(
    response: Any,
    *,
    duration_ms: float,
    request_model: str | None = None,
    attempt: int = 1,
    taken: Container[str] = (),
) -> list[Event]:
    """Return `message.added` and `model.called` of a response, in this order.

    A response that has an id gives the same events every time. `taken` are ids of calls that the
    session has: a call whose id is among them gets another, since servers use theirs again. A
    response that failed before it said anything is `model.called` alone.

    Raises TypeError when it is no response, AppendRejected when it is not one finished answer, or
    holds what no event can say.
    """
    raw = _plain(response)
    asked = Asked(duration_ms, request_model, attempt)
    try:
        return _reader_of(raw, response)(raw, taken).events(asked)
    except ValidationError as error:
        refused = rejection(error)
        raise AppendRejected(f"response.{refused.path}", refused.reason) from None


def _plain(response: Any) -> Mapping[str, Any]:
    if isinstance(response, Mapping):
        return response
    if isinstance(response, BaseModel):
        # As it came: what the API left out stays out, and names are the API's.
        return response.model_dump(mode="json", by_alias=True, exclude_unset=True, warnings=False)
    raise TypeError(f"{type(response).__name__} is no response: {_TAKEN} is taken")


def _reader_of(
    raw: Mapping[str, Any], response: Any
) -> Callable[[Mapping[str, Any], Container[str]], Answer]:
    match raw:
        case {"object": "chat.completion"} | {"choices": [{"message": _}, *_]}:
            return openai_chat
        case {"object": "response", "output": list()}:
            return openai_responses
        case {"type": "message", "role": "assistant", "content": list()}:
            return anthropic
        case _:
            said = raw.get("object") or raw.get("type")
            what = f" with object or type {said!r}" if isinstance(said, str) else ""
            raise TypeError(f"{type(response).__name__}{what} is no response: {_TAKEN} is taken")
