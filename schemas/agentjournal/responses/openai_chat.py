"""An OpenAI chat completion as an answer."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from agentjournal.errors import AppendRejected
from agentjournal.events import AudioPart, Part, ReasoningPart, TextPart
from agentjournal.responses.answer import COMPUTED, Answer, Naming, given_of, tokens_of
from agentjournal.responses.chat_message import message_event
from agentjournal.responses.chat_parts import PROVIDER, unknown_fields

CUT_OFF = ("length", "content_filter")  # finish reasons of an answer that is not whole
USED = ("prompt", "completion")  # the words for what was asked and answered in `usage`

Raw = Mapping[str, Any]


def openai_chat(response: Raw, taken: Container[str]) -> Answer:
    """Return the answer of a chat completion.

    Raises AppendRejected when it is not one answer, ValidationError when no event can say it.
    """
    choice = _choice(response.get("choices"))
    message = given_of(choice["message"])
    if isinstance(calls := message.get("tool_calls"), list):
        message["tool_calls"] = [_as_said(call) for call in calls]
    response_id, usage = response.get("id"), response.get("usage")
    naming = Naming(response_id, response.get("created"), choice["message"], taken)
    audio, details = message.pop("audio", None), message.pop("reasoning_details", None)
    said = message_event({**message, "role": "assistant"}, naming.message_id, naming.call)
    beside = {n: v for n, v in response.items() if n not in {"id", "object", "model", "choices"}}
    more = given_of({n: v for n, v in choice.items() if n not in _OF_A_CHOICE})
    return Answer(
        naming=naming,
        provider=PROVIDER,
        response_id=response_id,
        response_model=response.get("model"),
        parts=[*_reasoned(details, said.parts), *_spoken(audio)],
        finish_reason=choice.get("finish_reason"),
        tokens=tokens_of(usage, *USED) if isinstance(usage, Mapping) else {},
        beside={**beside, "choice": more},
        said_beside={**(said.model_extra or {}), "name": said.name},
        was_cut=choice.get("finish_reason") in CUT_OFF,
    )


_OF_A_CHOICE = frozenset({"index", "message", "finish_reason"})


def _choice(choices: Any) -> Raw:
    if not isinstance(choices, list) or not choices:
        raise AppendRejected("response.choices", "is empty: there is no answer in it")
    if len(choices) > 1:
        reason = f"has {len(choices)}: a conversation goes on from one, so ask with n=1"
        raise AppendRejected("response.choices", reason)
    (choice,) = choices
    if not isinstance(choice, Mapping) or not isinstance(choice.get("message"), Mapping):
        raise AppendRejected("response.choices[0].message", "is missing")
    return choice


def _as_said(call: Any) -> Any:
    """Return a tool call without what an SDK made of its arguments."""
    match call:
        case {"function": Mapping() as function}:
            said = {name: value for name, value in function.items() if name not in COMPUTED}
            return {**call, "function": said}
        case _:
            return call


def _reasoned(details: Any, parts: list[Part]) -> list[Part]:
    """Return parts with what a server gave of its reasoning besides the text."""
    if details is None:
        return parts
    thoughts = [part for part in parts if isinstance(part, ReasoningPart)][:1]
    thought = thoughts[0] if thoughts else ReasoningPart(provider=PROVIDER)
    with_details = thought.model_copy(update={"reasoning_details": details})
    return [with_details, *(part for part in parts if part is not thought)]


def _spoken(audio: Any) -> list[Part]:
    """Return what was spoken: what it says as text, since the sound is kept only for a while."""
    if not isinstance(audio, Mapping):
        return []
    rest = unknown_fields(given_of(audio), ("id", "transcript"), AudioPart)
    transcript = audio.get("transcript")
    parts: list[Part] = [TextPart(text=transcript)] if isinstance(transcript, str) else []
    sound = {**rest, "media_type": "audio/*", "file_id": audio.get("id")}
    return [*parts, AudioPart.model_validate(sound)]
