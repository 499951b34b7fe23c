"""Sessions of others with known answers, where a folder has them: labels and questions.

The folder is `AGENTJOURNAL_EVAL_DATA`, else `shared/data` beside the checkout. Each file is
optional: what is absent is skipped, and the report says so.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from evals.labelled import Case, Entity, Gold, Happened, LabelledSession, final_state

CHECKOUT = Path(__file__).resolve().parents[1]
READING = ("get_", "search_", "list_", "find_", "think", "calculate", "transfer_to_")


class Absent(Exception):
    """There is no such data here: skip what needs it, and say so."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """Cases that others labelled. `wrong`: labels that say what nobody said, kept apart."""

    cases: list[Case]
    wrong: list[str]


class Question(NamedTuple):
    """A question about what somebody said, and the answers that are right."""

    entity: str
    text: str
    answers: tuple[str, ...]
    source: str


class Corpus(NamedTuple):
    """What was said about each entity, in order, and questions about it."""

    messages: Mapping[str, list[str]]
    questions: list[Question]


def folder() -> Path:
    """Return the folder of the data; raises Absent when there is none."""
    given = os.environ.get("AGENTJOURNAL_EVAL_DATA")
    place = Path(given) if given else CHECKOUT.parent / "shared" / "data"
    if not place.is_dir():
        raise Absent(f"{place} is no folder")
    return place


def labelled(name: str) -> Foreign:
    """Return the labelled sessions of a file; raises Absent."""
    events: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for each in _lines(f"{name}.events.jsonl"):
        events[each["session_id"]].append(each)
    labels: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    wrong: list[str] = []
    said = {
        each["event_id"]: orjson.dumps(each["payload"]).decode()
        for one in events.values()
        for each in one
    }
    for label in _lines(f"{name}.labels.jsonl"):
        if _is_wrong(label, said):
            wrong.append(f"{label['session_id']}: {label['attribute']} = {label['value']}")
        else:
            labels[label["session_id"]].append(label)
    people: dict[str, list[str]] = defaultdict(list)
    for key, happened in events.items():
        # Trials of one task repeat a person's day: only what is told apart by days is one story.
        person = key if name == "tau_airline" else happened[0]["entity"]["user"]
        people[person].append(key)
    cases = [
        _case(name, person, [(key, events[key], labels[key]) for key in keys])
        for person, keys in people.items()
    ]
    return Foreign(cases, wrong)


def corpus(name: str = "bfcl_memory") -> Corpus:
    """Return what people said, and questions about it; raises Absent."""
    messages: dict[str, list[str]] = defaultdict(list)
    for each in _lines(f"{name}.events.jsonl"):
        if each["type"] == "message.user":
            messages[each["entity"]["user"]].append(each["payload"]["text"])
    questions = [
        Question(
            each["entity"]["user"], each["question"], tuple(each["answers"]), each["source_hint"]
        )
        for each in _lines(f"{name}.questions.jsonl")
    ]
    return Corpus(dict(messages), questions)


def _lines(name: str) -> Iterable[Mapping[str, Any]]:
    path = folder() / name
    if not path.is_file():
        raise Absent(f"{path} is not there")
    return [orjson.loads(line) for line in path.read_bytes().splitlines() if line.strip()]


def _is_wrong(label: Mapping[str, Any], said: Mapping[str, str]) -> bool:
    """Whether the value is the attribute's own last word, or stands in none of its evidence."""
    value = str(label["value"])
    if value == str(label["attribute"]).rpartition("_")[2]:
        return True
    return not any(value in said.get(key, "") for key in label["evidence"])


def _case(
    name: str,
    person: str,
    sessions: Iterable[tuple[str, list[Mapping[str, Any]], list[Mapping[str, Any]]]],
) -> Case:
    held: dict[tuple[str, str], Any] = {}
    read = [_session(key, events, labels, held) for key, events, labels in sessions]
    facts = sorted((fact for each in read for fact in each.facts), key=lambda fact: fact.valid_from)
    return Case(f"{name} {person}", name, "others", tuple(read), final_state(facts))


def _session(
    key: str,
    events: list[Mapping[str, Any]],
    labels: list[Mapping[str, Any]],
    held: dict[tuple[str, str], Any],
) -> LabelledSession:
    user = events[0]["entity"]["user"]
    times = {each["event_id"]: each["ts"] for each in events}
    facts: list[Gold] = []
    for label in labels:
        entity, attribute = _slot(label, user)
        value = label["value"]
        evidence = tuple(label["evidence"])
        before = held.get((entity, attribute))
        held[entity, attribute] = value
        if before == value:
            continue
        facts.append(
            Gold(
                entity=entity,
                kind=label["kind"],
                attribute=attribute,
                value=value,
                op="add" if before is None else "supersede",
                valid_from=times[evidence[-1]],
                evidence=evidence,
                quote=str(value),
            )
        )
    noise = {each["event_id"] for each in events if each["type"] == "scratchpad.note"}
    return LabelledSession(
        key,
        (Entity("user", user),),
        tuple(_happened(each) for each in events),
        tuple(facts),
        frozenset(noise),
        (),
    )


def _slot(label: Mapping[str, Any], user: str) -> tuple[str, str]:
    """Return whose attribute a label is: what was done to a thing is the user's."""
    kind, _, name = str(label["entity"]).partition(":")
    if kind in ("user", "account", "project"):
        return str(label["entity"]), label["attribute"]
    return f"user:{user}", f"{kind}/{name}/{label['attribute']}"


def _happened(raw: Mapping[str, Any]) -> Happened:
    payload = raw["payload"]
    match raw["type"]:
        case "message.user" | "message.assistant":
            role = raw["type"].partition(".")[2]
            parts = [{"type": "text", "text": payload["text"]}]
            message = {"message_id": raw["event_id"], "role": role, "parts": parts}
            return _as(raw, "message.added", {**message, "status": "complete"})
        case "tool.called":
            return _as(raw, "tool.started", _called(raw["event_id"], payload))
        case "tool.result":
            return _as(raw, "tool.completed", _ended(payload))
        case "scratchpad.note":
            return _as(raw, "note.set", {"key": "scratch", "value": payload["text"]})
        case "session.started":
            about = {"kind": "user", "id": raw["entity"]["user"]}
            start = {"agent": "assistant", "labels": {}, "entities": [about]}
            return _as(raw, "session.started", start)
        case other:
            return _as(raw, other, payload)


def _as(raw: Mapping[str, Any], type_: str, fields: Mapping[str, Any]) -> Happened:
    return Happened(raw["event_id"], raw["ts"], type_, fields)


def _called(event_id: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    arguments = orjson.dumps(payload["args"]).decode()
    digest = sha256(arguments.encode()).hexdigest()
    reads = payload["tool"].startswith(READING)
    return {
        "call_id": payload["call_id"],
        "tool": payload["tool"],
        "arguments_text": arguments,
        "arguments_digest": digest,
        "effect": "read" if reads else "external",
        "idempotency_key": sha256(event_id.encode()).hexdigest()[:32],
        "attempt": 1,
        "lease_s": 60,
        "kind": "function",
    }


def _ended(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "call_id": payload["call_id"],
        "attempt": 1,
        "output": payload["result"],
        "duration_ms": 0,
    }
