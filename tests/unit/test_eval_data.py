"""Sessions of others: how their labels and questions are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from evals import data


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AGENTJOURNAL_EVAL_DATA", str(tmp_path))
    return tmp_path


def written(folder: Path, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    (folder / name).write_bytes(b"\n".join(orjson.dumps(row) for row in rows))


def event(number: int, kind: str, payload: Mapping[str, Any], session: str = "s") -> dict[str, Any]:
    return {
        "event_id": f"{session}:{number}",
        "session_id": session,
        "seq": number,
        "ts": f"2026-01-01T00:00:{number:02}Z",
        "type": kind,
        "actor": "user",
        "entity": {"user": "u-1"},
        "payload": payload,
    }


def label(number: int, value: str, **fields: Any) -> dict[str, Any]:
    given = {
        "session_id": "s",
        "kind": "preference",
        "entity": "user:u-1",
        "attribute": "favourite_tree",
        "value": value,
        "evidence": [f"s:{number}"],
        "op": "ADD",
    }
    return {**given, **fields}


def test_a_second_value_of_a_slot_supersedes_and_the_same_one_says_nothing_new(
    folder: Path,
) -> None:
    texts = ["My favourite tree is the oak.", "oak", "Elm now."]
    events = [event(n, "message.user", {"text": text}) for n, text in enumerate(texts)]
    written(folder, "trees.events.jsonl", events)
    written(folder, "trees.labels.jsonl", [label(0, "oak"), label(1, "oak"), label(2, "Elm")])
    [case] = data.labelled("trees").cases
    assert [(fact.value, fact.op) for fact in case.facts] == [("oak", "add"), ("Elm", "supersede")]
    assert case.final_state == {"user:u-1 favourite_tree": ("Elm",)}


def test_a_label_that_nobody_said_is_kept_apart(folder: Path) -> None:
    written(
        folder, "trees.events.jsonl", [event(1, "message.user", {"text": "Tan, says the tree"})]
    )
    written(folder, "trees.labels.jsonl", [label(1, "tree"), label(1, "elm"), label(1, "Tan")])
    found = data.labelled("trees")
    assert found.wrong == ["s: favourite_tree = tree", "s: favourite_tree = elm"]
    assert [fact.value for fact in found.cases[0].facts] == ["Tan"]


def test_what_was_done_to_a_thing_is_the_users(folder: Path) -> None:
    called = {"tool": "cancel_trip", "args": {"trip_id": "T9"}, "call_id": "c"}
    ended = {"tool": "cancel_trip", "call_id": "c", "result": '{"trip_id": "T9", "ok": true}'}
    written(
        folder,
        "trips.events.jsonl",
        [
            event(1, "tool.called", called),
            event(2, "tool.result", ended),
            event(3, "scratchpad.note", {"text": "done"}),
        ],
    )
    outcome = {
        "kind": "outcome",
        "entity": "trip:T9",
        "attribute": "last_action",
        "evidence": ["s:1", "s:2"],
    }
    written(folder, "trips.labels.jsonl", [label(1, "cancel_trip", **outcome)])
    [case] = data.labelled("trips").cases
    assert [(fact.entity, fact.attribute) for fact in case.facts] == [
        ("user:u-1", "trip/T9/last_action")
    ]
    assert case.noise == case.scratch == {"s:3"}


def test_questions_come_with_what_each_person_said(folder: Path) -> None:
    written(
        folder,
        "bfcl_memory.events.jsonl",
        [
            event(1, "message.user", {"text": "I keep bees."}),
            event(2, "message.assistant", {"text": "Noted."}),
        ],
    )
    question = {
        "id": "q",
        "entity": {"user": "u-1"},
        "question": "What do I keep?",
        "answers": ["bees"],
        "source_hint": "I keep bees.",
    }
    written(folder, "bfcl_memory.questions.jsonl", [question])
    corpus = data.corpus()
    assert corpus.messages == {"u-1": ["I keep bees."]}
    assert corpus.questions[0].answers == ("bees",)


def test_data_that_is_absent_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(data.Absent, match=r"trees\.events\.jsonl is not there"):
        data.labelled("trees")
    monkeypatch.setenv("AGENTJOURNAL_EVAL_DATA", str(folder / "nowhere"))
    with pytest.raises(data.Absent, match="nowhere is no folder"):
        data.corpus()
