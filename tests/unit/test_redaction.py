"""The ready-made redaction: no secret is left, nothing else is touched, and the event says so."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import sys
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal import (
    CustomEvent,
    EnvironmentChanged,
    Event,
    FileChanged,
    MessageAdded,
    NotConfigured,
    NoteSet,
    Part,
    ReasoningPart,
    Redactor,
    SessionStarted,
    TextPart,
    ToolCallPart,
    ToolCompleted,
    ToolFailed,
    ToolFailure,
    ToolStarted,
)
from agentjournal.codec import decode
from agentjournal.events.decode import decode_event
from tests.planted_secrets import pem, planted, token

TOKEN = token()
MARK = "[redacted:github-pat]"


def said(*texts: str) -> MessageAdded:
    parts: list[Part] = [TextPart(text=each) for each in texts]
    return MessageAdded(role="assistant", parts=parts, message_id="m")


def asked(arguments_text: str) -> MessageAdded:
    part = ToolCallPart(call_id="c", name="t", arguments_text=arguments_text)
    return MessageAdded(role="assistant", parts=[part], message_id="m")


def ended(output: Any, result: Any = None) -> ToolCompleted:
    return ToolCompleted(call_id="c", attempt=1, output=output, result=result, duration_ms=1)


def written(event: Event, **options: Any) -> dict[str, Any]:
    """Return the fields of an event as they are recorded, and check that they can be read."""
    redacted = Redactor(**options)(event)
    raw = redacted.encoded()
    assert decode_event(redacted.type, redacted.schema_version, raw).encoded() == raw
    found: dict[str, Any] = decode(raw)
    return found


def test_nothing_is_left_of_a_secret_of_any_kind_that_the_detector_knows() -> None:
    assert len(planted()) > 350
    for kind, text, secret in planted():
        event = Redactor(fields=())(said(f"before {text} after"))
        assert isinstance(event, MessageAdded)
        assert secret not in event.text, kind
        assert "$redacted" in (event.model_extra or {}), kind


WHEREVER: dict[str, Callable[[str], Event]] = {
    "message": lambda text: said(f"it is {text}, use it"),
    "reasoning": lambda text: MessageAdded(
        role="assistant", parts=[ReasoningPart(provider="p", text=text, summary=text)]
    ),
    "title": lambda text: SessionStarted(agent="a", title=text, labels={"x": text}),
    "arguments": lambda text: asked(json.dumps({"a": [1.0, {"b": text}]})),
    "arguments that are no JSON": lambda text: asked(f"{{{text}"),
    "JSON in JSON": lambda text: asked(json.dumps({"a": json.dumps({"b": json.dumps([text])})})),
    "escaped": lambda text: asked('{"a": "' + "".join(f"\\u{ord(c):04x}" for c in text) + '"}'),
    "started": lambda text: ToolStarted(
        call_id="c",
        tool="t",
        arguments_text=json.dumps([text]),
        arguments_digest="d",
        effect="read",
        idempotency_key="k",
        attempt=1,
        lease_s=1,
    ),
    "output": lambda text: ended(f"line\n{text}\nline"),
    "parts of an output": lambda text: ended([TextPart(text=text)]),
    "result": lambda text: ended("x", result={"deep": [[{"er": text}]], text: text}),
    "error": lambda text: ToolFailed(
        call_id="c", attempt=1, error=ToolFailure(message=text, code="c"), output=text
    ),
    "note": lambda text: NoteSet(key="k", value=text),
    "bytes": lambda text: NoteSet(key="k", value=text.encode()),
    "diff": lambda text: FileChanged(path="a", reason="edit", diff=f"-{text}\n+{text}\n"),
    "environment": lambda text: EnvironmentChanged(variables={"ANY": text}),
    "custom": lambda text: CustomEvent("custom.x", {"a": text}),
    "field of nobody": lambda text: NoteSet.model_validate({"key": "k", "value": 1, "new": text}),
    "as if UTF-16": lambda text: said("a\0b\0c\0" * 50 + text),
    "half a pair": lambda text: said("\ud800" + text),
}


@pytest.mark.parametrize("where", WHEREVER)
@pytest.mark.parametrize("secret", [TOKEN, pem()], ids=["token", "lines"])
def test_a_secret_is_taken_out_wherever_it_stands(where: str, secret: str) -> None:
    event = WHEREVER[where](secret)
    found = written(event)
    shown = repr(found).replace("\\\\", "\\").replace("\\n", "\n")
    assert secret not in shown
    assert secret.splitlines()[len(secret.splitlines()) // 2] not in shown
    assert "[redacted:" in shown
    assert {each["kind"] for each in found["$redacted"]} <= {"github-pat", "private-key"}
    again = Redactor()(event)
    assert again.encoded() == Redactor()(event).encoded()
    assert Redactor()(again) is again


def test_the_event_says_where_of_which_kind_and_how_many_there_were() -> None:
    other = token("other")
    event = ToolCompleted(
        call_id="c", attempt=1, output=f"{TOKEN} {other}", result={"k": pem()}, duration_ms=1
    )
    found = written(event)
    assert found["output"] == f"{MARK} {MARK}"
    assert found["result"] == {"k": "[redacted:private-key]"}
    assert found["$redacted"] == [
        {"path": ["output"], "kind": "github-pat", "count": 2},
        {"path": ["result", "k"], "kind": "private-key", "count": 1},
    ]


def test_a_secret_that_is_cut_into_parts_is_found() -> None:
    found = written(said(f"it is {TOKEN[:9]}", TOKEN[9:20], f"{TOKEN[20:]}, use it"))
    assert [each["text"] for each in found["parts"]] == [f"it is {MARK}", MARK, f"{MARK}, use it"]
    assert [each["count"] for each in found["$redacted"]] == [1, 0, 0]
    answer = [{"type": "text", "text": TOKEN[:9]}, {"type": "text", "text": TOKEN[9:]}]
    assert TOKEN[9:] not in repr(written(ended("x", result=answer)))


def test_parts_that_do_not_follow_on_each_other_are_no_secret_together() -> None:
    call = ToolCallPart(call_id="c", name="t", arguments_text="{}")
    parts: list[Part] = [TextPart(text=TOKEN[:9]), call, TextPart(text=TOKEN[9:])]
    event = MessageAdded(role="assistant", parts=parts)
    assert Redactor()(event) is event


def test_json_stays_json_and_all_else_in_it_stays_as_it_was() -> None:
    text = '{ "a":1.50, "big":123456789012345678901234, "u":"\\u00e9",\n "t":"%s" , "a":2}'
    found = written(asked(text % TOKEN))
    assert found["parts"][0]["arguments_text"] == text % MARK


def test_a_secret_in_a_megabyte_of_output_is_found() -> None:
    lines = "".join(f"line {n} of some output, as tools give it\n" for n in range(25_000))
    found = written(ended(lines + TOKEN + lines))
    assert found["output"] == lines + MARK + lines
    rows = [{"n": n, "name": 'é\n"x"'} for n in range(3_000)]
    for hidden in ({"t": TOKEN}, {"db_password": "x y"}, {"in": json.dumps({"t": f"\n{TOKEN}"})}):
        text = json.dumps([*rows, hidden])
        read = json.loads(written(ended(text))["output"])
        assert read[:-1] == rows
        assert "[redacted:" in repr(read[-1])
    event = ended(json.dumps(rows * 10))
    assert Redactor()(event) is event


SHARED = {
    "sha256": f"sha256:{hashlib.sha256(b'x').hexdigest()}",
    "hex": hashlib.sha256(b"y").hexdigest(),
    "commit": hashlib.sha1(b"z").hexdigest(),
    "uuid": str(UUID(int=2**127 + 12345)),
    "call": "call_vB9Qz3kL0mNpR7sT2uWxYzAb",
    "tool": "toolu_01A09q90qw90lq917835lq9",
    "response": "resp_67cb71b351908190a308f3859487620d06981a8637e6bc44",
    "trace": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "integrity": "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdB",
    "image": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAA",
}


@pytest.mark.parametrize("name", SHARED)
def test_ids_and_digests_are_no_secrets(name: str) -> None:
    text = SHARED[name]
    for event in (said(f"see {text}"), ended("x", result={name: text, "id": text, "token": text})):
        assert Redactor()(event) is event


@given(st.binary(min_size=16, max_size=64), st.sampled_from(["id", "digest", "key", "etag", ""]))
def test_what_only_looks_random_is_no_secret(raw: bytes, name: str) -> None:
    event = CustomEvent("custom.x", {name: raw.hex(), "of": [{"sha": raw.hex().upper()}]})
    assert Redactor()(event) is event


def test_what_is_to_go_back_as_it_is_is_not_looked_at() -> None:
    part = ReasoningPart(provider="p", signature=TOKEN, encrypted=TOKEN, id=TOKEN)
    event = MessageAdded(role="assistant", parts=[part], message_id=TOKEN)
    assert Redactor()(event) is event


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.just(TOKEN) | st.binary(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=5) | st.just(f"k{TOKEN}"), inner, max_size=4)
    ),
    max_leaves=12,
)


def _without_secret(value: Any) -> bool:
    return TOKEN not in repr(value)


@given(_VALUES)
def test_what_comes_out_depends_on_the_event_alone_and_stays_as_it_is(value: Any) -> None:
    event = CustomEvent("custom.x", {"v": value, "json": json.dumps(repr(value))})
    once = Redactor()(event)
    assert isinstance(once, CustomEvent)
    assert _without_secret(once.fields)
    assert once.encoded() == Redactor()(event).encoded()
    assert Redactor()(once) is once
    assert (once is event) == _without_secret(event.fields)


def test_names_of_objects_are_taken_out_too_and_stay_apart() -> None:
    found = written(NoteSet(key="k", value={TOKEN: 1, token("b"): 2, "c": 3}))
    assert found["value"] == {MARK: 1, f"{MARK}#2": 2, "c": 3}
    assert TOKEN not in repr(found)


@pytest.mark.parametrize(
    "name", ["password", "DB_PASSWORD", "clientSecret", "x-api-key", "Authorization"]
)
def test_what_a_field_of_secrets_holds_is_one_whatever_it_looks_like(name: str) -> None:
    found = written(asked(json.dumps({name: "hunter 2", "user": "bob"})))
    arguments = json.loads(found["parts"][0]["arguments_text"])
    assert arguments["user"] == "bob"
    assert arguments[name].startswith("[redacted:field.")
    assert "hunter 2" not in repr(found)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("A=1\nDB_PASSWORD=hunter-2\nB=2\n", "A=1\nDB_PASSWORD=[redacted:field.password]\nB=2\n"),
        ("export API_KEY='a b' LANG=C", "export API_KEY='[redacted:field.apikey]' LANG=C"),
        ('docker run -e "X_SECRET=s3" i', 'docker run -e "X_SECRET=[redacted:field.secret]" i'),
        ('{"Env": ["DB_PASSWORD=x"]}', '{"Env": ["DB_PASSWORD=[redacted:field.password]"]}'),
    ],
)
def test_the_value_of_a_variable_in_a_text_is_a_secret_by_its_name(text: str, left: str) -> None:
    once = Redactor()(ended(text))
    assert isinstance(once, ToolCompleted)
    assert once.output == left
    assert Redactor()(once) is once


def test_a_variable_in_a_text_in_long_json_is_found() -> None:
    text = json.dumps([{"n": n, "name": "some row"} for n in range(3_000)])
    hidden = json.dumps({"rows": text, "env": "A=1\nDB_PASSWORD=hunter-2\n"})
    read = json.loads(written(ended(hidden))["output"])
    assert read == {"rows": text, "env": "A=1\nDB_PASSWORD=[redacted:field.password]\n"}


@pytest.mark.parametrize(
    "text",
    [
        "PASSWORD=",
        "DB_PASSWORD=$DB_PASSWORD",
        "DB_PASSWORD=${PASS:-x}",
        'DB_PASSWORD="<password>"',
        "API_KEY=****",
        "if PASSWORD==x",
        "login(password=given)",
        "SECRET_KEY=env('KEY')",
        "MAX_TOKENS=4096 NO_SECRETS=1",
        "$API_KEY=x %API_KEY=x",
    ],
)
def test_a_variable_that_holds_no_secret_stays(text: str) -> None:
    event = ended(text)
    assert Redactor()(event) is event


@pytest.mark.parametrize("value", ["", "$DB", "${DB}", "{{ db }}", "<password>", "****", None, 7])
def test_where_a_secret_is_to_be_had_is_none(value: Any) -> None:
    event = ended("x", result={"password": value, "user_authorization": "no", "secrets": "x"})
    assert Redactor()(event) is event


def test_the_value_of_a_variable_that_is_recorded_by_its_digest_stays() -> None:
    digest = f"sha256:{hashlib.sha256(b'x').hexdigest()}"
    event = EnvironmentChanged(variables={"DB_PASSWORD": digest, "LANG": "C"})
    assert Redactor()(event) is event
    plain = written(EnvironmentChanged(variables={"DB_PASSWORD": "x", "LANG": "C"}))
    assert plain["variables"] == {"DB_PASSWORD": "[redacted:field.password]", "LANG": "C"}


def test_kinds_and_fields_may_be_chosen() -> None:
    event = said(TOKEN)
    assert Redactor(keep={"github-pat"})(event) is event
    other = ended("x", result={"password": "x", "pin": "1234"})
    assert written(other, fields=["pin"])["result"] == {
        "password": "x",
        "pin": "[redacted:field.pin]",
    }


def test_with_a_key_the_same_secret_has_the_same_mark_and_no_other() -> None:
    key = b"0123456789abcdef"
    digits = hmac.new(key, TOKEN.encode(), "sha256").hexdigest()[:8]
    found = written(said(f"{TOKEN} {token('b')}"), key=key)["parts"][0]["text"]
    first, second = found.split(" ")
    assert first == f"[redacted:github-pat:{digits}]"
    assert second != first
    redactor = Redactor(key=key)
    redacted = redactor(said(TOKEN))
    assert redactor(redacted) is redacted
    with pytest.raises(ValueError, match="16 bytes"):
        Redactor(key=b"short")


def test_rules_of_ones_own_are_added(tmp_path: Any) -> None:
    rules = tmp_path / "company.yml"
    rules.write_text(
        "rules:\n- name: Company\n  id: company.badge\n  pattern: '\\b(badge-[0-9]{6})\\b'\n"
    )
    found = written(said(f"badge-123456 {TOKEN}"), rules=[rules])
    assert found["parts"][0]["text"] == f"[redacted:company.badge] {MARK}"


def test_it_counts_and_says_what_it_did_without_the_secret(
    caplog: pytest.LogCaptureFixture,
) -> None:
    redactor = Redactor()
    with caplog.at_level(logging.WARNING, "agentjournal"):
        redactor(said(f"{TOKEN} and {token('b')}"))
        redactor(ended(pem()))
        redactor(said("nothing"))
    assert redactor.counts == {"github-pat": 2, "private-key": 1}
    assert [each.getMessage() for each in caplog.records] == [
        "redacted in message.added: 2 github-pat",
        "redacted in tool.completed: 1 private-key",
    ]


def test_what_was_redacted_before_keeps_saying_so() -> None:
    once = Redactor(keep={"private-key"})(ended(f"{TOKEN}\n{pem()}"))
    found = written(once)
    assert [each["kind"] for each in found["$redacted"]] == ["github-pat", "private-key"]


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "agentjournal.kingfisher_secrets", raising=False)
    monkeypatch.setitem(sys.modules, "kingfisher_sdk", None)
    with pytest.raises(NotConfigured, match=r"agentjournal\[redact\]"):
        Redactor()
