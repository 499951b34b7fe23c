"""What an agent came to, so that two runs can be compared: effects, and states of its streams."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from pydantic import BaseModel

from agentjournal.state import Message
from agentjournal.summary import Summary
from agentjournal.testing.memory_log import MemoryLog

_MADE_UP = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}")
_MOST_SAID = 5
# Where and when, in how many attempts and by whom: what a crash may change.
_LEFT_OUT = frozenset(
    {
        *("version", "hash", "last", "stream", "seen", "lease", "lease_s", "holder", "trigger"),
        *("turn_id", "attempt", "group", "idempotency_key", "result", "checkpoints", "fence"),
        *("settled_by", "lease_until"),
    }
)
_LEFT_OUT_ENDINGS = ("_version", "_versions", "_at", "_since", "_ms", "_group")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run of an agent came to."""

    effects: Counter[str]
    states: Mapping[str, Any]  # of sessions and tasks, by stream

    def differences(self, other: Outcome) -> list[str]:
        """Return in words what `other` came to instead; empty when it is the same."""
        found = [
            f"effect {effect} happened {other.effects[effect]} times, "
            f"uninterrupted {self.effects[effect]} times"
            for effect in sorted({*self.effects, *other.effects})
            if self.effects[effect] != other.effects[effect]
        ]
        found += _differences(self.states, other.states, "state")
        return found[:_MOST_SAID]


async def outcome_of(log: MemoryLog, effects: Iterable[Any]) -> Outcome:
    """Return what everything in a log and outside of it came to."""
    states: dict[str, Any] = {}
    for kind, tenant, name in log.streams():
        client = log.beside(tenant=tenant)
        if kind == "session":
            state: Any = await client.session(name).load()
        elif kind == "task":
            state = await client.task(name).load()
        else:
            continue
        place = f"{kind}/{tenant}/{_MADE_UP.sub('…', name)}"
        states.setdefault(place, []).append(comparable(state))
    for alike in states.values():
        alike.sort(key=repr)
    return Outcome(Counter(map(str, effects)), states)


def comparable(value: Any) -> Any:
    """Return a value without what a crash may change: places, times, attempts, made-up ids."""
    if is_dataclass(value) and not isinstance(value, type):
        named = {field.name: getattr(value, field.name) for field in fields(value)}
        return _fields(named)
    match value:
        case BaseModel():
            return _fields(vars(value))
        case Mapping():
            return _mapping(value)
        case list() | tuple() | set() | frozenset():
            given: Iterable[Any] = value
            found = [comparable(each) for each in given if not _was_cut_off(each)]
            return sorted(found, key=repr) if isinstance(value, set | frozenset) else found
        case str():
            return _MADE_UP.sub("…", value)
        case _:
            return value


def _was_cut_off(value: Any) -> bool:
    """Whether it is a message that says of a crash how far it had come."""
    return isinstance(value, Message) and value.status == "incomplete"


def _fields(named: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: comparable(value)
        for name, value in named.items()
        if name not in _LEFT_OUT
        and not name.endswith(_LEFT_OUT_ENDINGS)
        and not isinstance(value, Summary)
    }


def _mapping(value: Mapping[Any, Any]) -> Any:
    if value and all(is_dataclass(each) for each in value.values()):  # by their ids
        return sorted((comparable(each) for each in value.values()), key=repr)
    return {comparable(key): comparable(each) for key, each in value.items()}


def _differences(one: Any, other: Any, path: str) -> Iterator[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        mine: dict[Any, Any] = one
        theirs: dict[Any, Any] = other
        for key in [*mine, *(key for key in theirs if key not in mine)]:
            yield from _differences(mine.get(key), theirs.get(key), f"{path}.{key}")
    elif isinstance(one, list) and isinstance(other, list):
        here: list[Any] = one
        there: list[Any] = other
        for index in range(max(len(here), len(there))):
            a, b = (each[index] if index < len(each) else None for each in (here, there))
            yield from _differences(a, b, f"{path}[{index}]")
    elif one != other and repr(one) != repr(other):
        yield f"{path} is {_short(other)}, uninterrupted {_short(one)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:120]} … {text[-60:]}"
