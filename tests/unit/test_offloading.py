"""Large values leave an event, and come back exactly."""

from __future__ import annotations

import asyncio

import orjson
import pytest

import agentjournal as aj
from agentjournal.artifacts import Artifacts, digest_of
from agentjournal.errors import AppendRejected, ArtifactNotFound, EventUnreadable
from agentjournal.events import Event
from agentjournal.ids import StreamId
from agentjournal.offloading import (
    MAX_INLINE_BYTES,
    OFFLOADED,
    is_part,
    offload,
    restored,
    whole,
)
from agentjournal.outgoing import outgoing
from agentjournal.requests import NewEvent
from streams.rules import rules_1
from tests.support import Stream, event, request

LARGE = MAX_INLINE_BYTES + 1
HOSTILE = "NUL \0, half \ud800, \u202eright to left, line\n"


class Kept:
    """A store in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    async def put(self, name: str, content: bytes) -> None:
        self.kept[name] = content

    async def get(self, name: str) -> bytes | None:
        return self.kept.get(name)


def back(data: bytes, contents: dict[str, bytes]) -> bytes:
    async def run() -> bytes:
        artifacts = Artifacts(Kept())
        for digest, content in contents.items():
            assert await artifacts.save(content) == digest
        return await restored(data, artifacts)

    return asyncio.run(run())


def written(event: Event) -> tuple[NewEvent, dict[str, bytes]]:
    contents: dict[str, bytes] = {}
    [made] = outgoing("session", event, None, contents)
    return made, contents


def completed(output: str, result: object = None) -> aj.ToolCompleted:
    return aj.ToolCompleted(call_id="c", attempt=1, output=output, result=result, duration_ms=1)


def nested(depth: int, inner: object) -> object:
    return [nested(depth - 1, inner)] if depth else inner


TEXTS = {
    "plain": "x" * LARGE,
    "hostile": HOSTILE * LARGE,
    "two bytes a character": "é" * LARGE,
    "NUL": "\0" * LARGE,
}
EVENTS = {
    f"{kind}, {name}": event
    for name, text in TEXTS.items()
    for kind, event in {
        "output": completed(text),
        "result": completed("ok", {"deep": [text, text]}),
        "message": aj.MessageAdded(role="user", content=text),
        "decision": aj.DecisionMade(question=text, choice={"a": text}, reason=text, by="me"),
        "custom": aj.CustomEvent("custom.x", {"a": [text], "b": {"$int": text}, "c": 1}),
    }.items()
} | {
    "10,000 keys": completed("ok", {f"key {n}": 2**70 + n for n in range(10_000)}),
    "300 deep": completed("ok", nested(300, "x" * LARGE)),
}


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_comes_back_byte_for_byte_and_is_small_and_valid_meanwhile(name: str) -> None:
    event = EVENTS[name]
    made, contents = written(event)
    assert len(made.data) < MAX_INLINE_BYTES
    assert is_part(made.data)
    assert back(made.data, contents) == event.encoded()
    assert rules_1().check("session", made.type, 1, made.data)[1] is None


def test_what_stands_in_its_place_shows_head_and_tail_and_names_the_whole() -> None:
    text = "begin " + "x" * LARGE + " end"
    made, contents = written(aj.MessageAdded(role="user", content=text))
    data = orjson.loads(made.data)
    [(digest, content)] = contents.items()
    shown = data["parts"][0]["text"]
    assert shown.startswith("begin x")
    assert shown.endswith("x end")
    assert f"[{len(text) + 2:,} bytes in {digest}]" in shown
    assert data[OFFLOADED] == [
        {"path": ["parts", 0, "text"], "artifact": digest, "size": len(content)}
    ]
    assert digest == digest_of(orjson.dumps(text))


def test_small_events_and_notes_stay_as_they_are() -> None:
    for small in (
        aj.MessageAdded(role="user", content="x" * (MAX_INLINE_BYTES // 2)),
        aj.NoteSet(key="k", value="x" * LARGE),
    ):
        made, contents = written(small)
        assert (made.data, contents) == (small.encoded(), {})


def test_a_field_of_our_own_name_is_refused() -> None:
    with pytest.raises(AppendRejected) as refused:
        written(aj.CustomEvent("custom.x", {OFFLOADED: [], "a": 1}))
    assert refused.value.path == f"events[0].data.{OFFLOADED}"
    with pytest.raises(AppendRejected):
        outgoing("session", aj.CustomEvent("custom.x", {OFFLOADED: [], "a": 1}), None)


@pytest.mark.parametrize("places", [7, None, [7], [{}], ["a"]])
async def test_what_another_writer_put_under_the_name_is_unreadable(places: object) -> None:
    stream = Stream(StreamId("session/default/s-1"))
    stream.accept(request(event("custom.x")))
    [recorded] = stream.recorded[-1:]
    data = orjson.dumps({OFFLOADED: places, "a": 1})
    with pytest.raises(EventUnreadable) as unreadable:
        await whole(recorded._replace(raw_data=data), Artifacts(Kept()))
    assert (unreadable.value.path, unreadable.value.version) == (OFFLOADED, recorded.version)


def test_text_that_only_mentions_the_name_is_text() -> None:
    made, _ = written(aj.MessageAdded(role="user", content=f'"{OFFLOADED}"'))
    assert not is_part(made.data)


def test_what_is_not_in_the_store_is_missed() -> None:
    made, _ = written(aj.MessageAdded(role="user", content="x" * LARGE))
    with pytest.raises(ArtifactNotFound):
        back(made.data, {})


def test_small_data_is_left_byte_for_byte() -> None:
    data = b'{"a":1}'
    assert offload(data) == (data, {})


def test_an_event_that_is_an_escape_form_as_a_whole_stays_as_it_is() -> None:
    event = aj.CustomEvent("custom.x", {"half \ud800": "x" * LARGE})
    made, contents = written(event)
    assert (made.data, contents) == (event.encoded(), {})
