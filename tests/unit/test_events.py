"""The event models: what a user writes is what is recorded, or is refused with its place."""

from __future__ import annotations

import re
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from agentjournal.codec import decode
from agentjournal.errors import AppendRejected
from agentjournal.events import (
    BUILT_IN,
    EVENT_TYPES,
    CheckpointSaved,
    CustomEvent,
    Entity,
    InputRequested,
    MessageAdded,
    ModelCalled,
    NoteSet,
    Part,
    PlanCreated,
    SessionStarted,
    SessionUpdated,
    TextPart,
    ToolCallPart,
    ToolCompleted,
    TurnStarted,
    UnknownEvent,
    allowed_on,
    validated,
)
from tests.unit.event_strategies import values

FAMILIES = {
    "session": "started updated ended expired resumed deleted",
    "turn": "started ended",
    "message": "added retracted",
    "conversation": "rewound compacted",
    "model": "called",
    "tool": "started completed failed settled",
    "plan": "created revised completed abandoned",
    "step": "started completed failed skipped rolled_back settled",
    "decision": "made",
    "note": "set deleted",
    "lease": "acquired renewed released",
    "checkpoint": "saved restored",
    "handoff": "requested accepted completed failed",
    "approval": "requested granted denied expired",
    "input": "requested provided",
    "environment": "changed",
    "file": "changed",
    "artifact": "saved",
    "process": "started ended",
    "snapshot": "taken restored",
    "fact": "learned retracted",
    "memory": "recalled",
    "promotion": "completed",
    "limit": "exceeded",
    "feedback": "given",
}
TYPES = [f"{family}.{what}" for family, happens in FAMILIES.items() for what in happens.split()]


ID_RULE = "must have 1 to 255 characters and no control characters"
NO_NAME = "is a name that is no text"
HALF = "holds half of a surrogate pair where no text can have it"


def written(event: Any) -> Any:
    return orjson.loads(event.encoded())


def refusal(event_type: str, **fields: Any) -> tuple[str, str]:
    with pytest.raises(AppendRejected) as refused:
        validated(event_type, fields)
    return refused.value.path, refused.value.reason


def test_the_catalogue_holds_every_published_type_and_no_other() -> None:
    assert sorted(BUILT_IN) == sorted(TYPES)
    assert all(EVENT_TYPES[name].type == name for name in TYPES)


def test_content_is_short_for_one_text_part() -> None:
    event = MessageAdded(role="user", content="hello")
    assert event.parts == [TextPart(text="hello")]
    assert event.text == "hello"
    assert written(event) == {
        "message_id": event.message_id,
        "role": "user",
        "parts": [{"type": "text", "text": "hello"}],
        "status": "complete",
    }


def test_text_and_tool_calls_of_a_message_are_read_from_its_parts() -> None:
    call = ToolCallPart(call_id="c", name="refund", arguments_text='{"order":7}')
    parts: list[Part] = [TextPart(text="one"), call, TextPart(text="two")]
    event = MessageAdded(role="assistant", parts=parts)
    assert event.text == "one\ntwo"
    assert event.tool_calls == [call]


def test_ids_that_name_the_event_itself_are_made_when_none_is_given() -> None:
    made = [
        MessageAdded(role="user", content="").message_id,
        MessageAdded(role="user", content="").message_id,
        TurnStarted(trigger="user").turn_id,
        ModelCalled(
            provider="p", request_model="m", input_tokens=1, output_tokens=1, duration_ms=1
        ).model_call_id,
    ]
    assert len(set(made)) == 4
    assert all(re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-.{17}", one) for one in made)
    assert TurnStarted(trigger="user", turn_id="t").turn_id == "t"


def test_optional_fields_that_are_not_set_are_not_written() -> None:
    event = SessionStarted(agent="support", title=None, entities=[Entity(kind="user", id="u")])
    assert written(event) == {
        "agent": "support",
        "labels": {},
        "entities": [{"kind": "user", "id": "u"}],
    }


def test_none_that_is_a_users_value_is_written() -> None:
    assert written(NoteSet(key="k", value=None)) == {"key": "k", "value": None}
    done = ToolCompleted(call_id="c", output="", duration_ms=0, result=None)
    assert "result" in written(done)
    assert "result" not in written(ToolCompleted(call_id="c", output="", duration_ms=0))


@given(values)
def test_the_value_of_a_user_is_recorded_exactly(value: Any) -> None:
    assert ascii(decode(NoteSet(key="k", value=value).encoded())["value"]) == ascii(value)


def test_ten_thousand_levels_go_through_a_model() -> None:
    value: Any = "end"
    for _ in range(10_000):
        value = [value]
    read = decode(NoteSet(key="k", value=value).encoded())["value"]
    for _ in range(10_000):
        [read] = read
    assert read == "end"


@given(st.text(st.characters()))
def test_any_text_is_recorded_exactly_with_halves_of_surrogate_pairs_too(text: str) -> None:
    assert decode(MessageAdded(role="user", content=text).encoded())["parts"][0]["text"] == text


def test_unknown_fields_are_kept_at_every_level() -> None:
    fields = {
        "plan_id": "p",
        "goal": "g",
        "steps": [{"step_id": "s", "title": "t", "depends_on": [], "effect": "read", "later": 1}],
        "$schema": {"$int": 5},
    }
    event = validated("plan.created", fields)
    assert isinstance(event, PlanCreated)
    assert decode(event.encoded()) == fields


def test_fields_with_names_that_pydantic_uses_keep_their_name_in_the_log() -> None:
    asked = InputRequested(input_id="i", question="q", schema={"type": "integer"})
    assert written(asked)["schema"] == {"type": "integer"}
    saved = CheckpointSaved(checkpoint_id="c", schema_version=3, state=[])
    assert written(saved) == {"checkpoint_id": "c", "schema_version": 3, "state": []}
    assert saved.state_schema_version == 3


@pytest.mark.parametrize(
    ("fields", "path", "reason"),
    [
        ({}, "role", "is missing"),
        ({"role": "user"}, "parts", "is missing"),
        ({"role": "tool", "parts": []}, "role", "is not one of system, developer, user, assistant"),
        ({"role": "user", "parts": "hi"}, "parts", "is not a list"),
        ({"role": "user", "parts": ["hi"]}, "parts[0]", "has no known type"),
        ({"role": "user", "parts": [{"type": "x"}]}, "parts[0]", "has no known type"),
        ({"role": "user", "parts": [{"type": "text"}]}, "parts[0].text", "is missing"),
        ({"role": "user", "content": 5}, "parts[0].text", "is not text"),
        ({"role": "user", "content": "a", "name": ""}, "name", ID_RULE),
        ({"role": "user", "content": "a", "\ud800": 1}, "data", HALF),
        ({"role": "user", "parts": [{"type": "text", "text": "a", 5: 1}]}, "parts[0][5]", NO_NAME),
    ],
)
def test_a_wrong_field_is_named_by_its_place_in_plain_words(
    fields: dict[str, Any], path: str, reason: str
) -> None:
    assert refusal("message.added", **fields) == (path, reason)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("input_tokens", "1"),
        ("input_tokens", 1.0),
        ("input_tokens", True),
        ("duration_ms", "1"),
        ("duration_ms", True),
        ("duration_ms", float("nan")),
        ("duration_ms", float("inf")),
        ("duration_ms", -1),
        ("input_tokens", 2**63),
        ("attempt", 0),
        ("request_model", 4),
        ("cost", {"amount": 0.1, "currency": "USD", "source": "client"}),
        ("cost", {"amount": "0,1", "currency": "USD", "source": "client"}),
        ("cost", {"amount": "1", "currency": "usd", "source": "client"}),
        ("window", {"first_version": 1, "last_version": 1.0, "digest": "d"}),
    ],
)
def test_nothing_is_coerced(field: str, value: Any) -> None:
    fields = {
        "provider": "p",
        "request_model": "m",
        "input_tokens": 1,
        "output_tokens": 1,
        "duration_ms": 1.5,
    }
    assert validated("model.called", fields)
    with pytest.raises(AppendRejected, match=f"^{field}"):
        validated("model.called", {**fields, field: value})


def test_a_number_keeps_being_whole_or_not() -> None:
    whole = written(ToolCompleted(call_id="c", output="", duration_ms=1))
    assert type(whole["duration_ms"]) is int


def test_one_of_several_fields_is_needed() -> None:
    fields = {"checkpoint_id": "c", "schema_version": 1}
    assert refusal("checkpoint.saved", **fields) == ("data", "needs one of state, artifact")
    assert validated("checkpoint.saved", {**fields, "state": None})


def test_an_object_that_would_read_as_an_escape_form_is_refused() -> None:
    path, reason = refusal("session.updated", **{"$text": []})
    assert (path, reason) == ("data", "is an escape form, not an object with fields")


def test_what_cannot_be_written_is_named_by_its_place() -> None:
    event = NoteSet(key="k", value={"a": [(1,)]})
    with pytest.raises(AppendRejected) as refused:
        event.encoded()
    assert refused.value.path == "value.a[0]"


def test_events_do_not_change() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        SessionUpdated(title="a").title = "b"  # type: ignore[misc]  # what is tested


def test_an_event_of_a_users_own_type_needs_no_model() -> None:
    event = CustomEvent("custom.order_returned", {"type": 1, "schema_version": "x", "\ud800": b"y"})
    assert (event.type, event.schema_version) == ("custom.order_returned", 1)
    assert decode(event.encoded()) == {"type": 1, "schema_version": "x", "\ud800": b"y"}
    assert validated("custom.order_returned", event.fields) == event
    assert event != CustomEvent("custom.other", event.fields)
    assert isinstance(event, UnknownEvent)


def test_a_name_that_is_no_type_is_refused() -> None:
    reason = "'message.addet' is no event type; yours are named custom.<name>"
    assert refusal("message.addet") == ("type", reason)


@pytest.mark.parametrize(
    ("event_type", "kinds"),
    [
        ("session.started", {"session"}),
        ("turn.ended", {"session"}),
        ("message.added", {"session"}),
        ("fact.learned", {"user", "account", "project"}),
        ("note.set", {"session", "task", "user", "account", "project"}),
        ("lease.acquired", {"session", "task", "user", "account", "project"}),
        ("custom.x", {"session", "task", "user", "account", "project"}),
    ],
)
def test_a_type_belongs_on_the_streams_where_it_makes_sense(
    event_type: str, kinds: set[str]
) -> None:
    all_kinds = ("session", "task", "user", "account", "project")
    assert {kind for kind in all_kinds if allowed_on(event_type, kind)} == kinds
