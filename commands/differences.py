"""What changed in a session from one state to another."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from agentjournal.state import Compaction, Message, SessionState
from agentjournal.tool_calls import ToolCall

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

_FIELDS = ("title", "status", "user", "agent", "turn_id")


@dataclass(frozen=True, slots=True)
class Pair(Generic[T]):
    """The same thing before and after."""

    before: T
    after: T


@dataclass(frozen=True, slots=True)
class Changes(Generic[T]):
    """Things of one kind: those that came, those that are another way now, those that went."""

    added: list[T]
    changed: list[Pair[T]]
    removed: list[T]

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


@dataclass(frozen=True, slots=True)
class Differences:
    """All that the second state says otherwise than the first."""

    before: SessionState
    after: SessionState
    fields: dict[str, Pair[Any]]
    messages: Changes[Message]
    calls: Changes[ToolCall]
    compactions: Changes[Compaction]
    events: dict[str, int]  # by type, that stand between the two

    def __bool__(self) -> bool:
        return bool(self.fields or self.messages or self.calls or self.compactions or self.events)


def differences(before: SessionState, after: SessionState) -> Differences:
    """Return what changed; `after` may be the older one, then additions are removals."""
    fields = {name: Pair(getattr(before, name), getattr(after, name)) for name in _FIELDS}
    return Differences(
        before,
        after,
        {name: pair for name, pair in fields.items() if pair.before != pair.after},
        _changes(*({m.version: m for m in state.messages} for state in (before, after))),
        _changes(before.calls, after.calls),
        _changes(*({c.version: c for c in state.compactions} for state in (before, after))),
        _between(before, after),
    )


def _changes(before: Mapping[K, T], after: Mapping[K, T]) -> Changes[T]:
    return Changes(
        [found for key, found in after.items() if key not in before],
        [
            Pair(before[key], found)
            for key, found in after.items()
            if key in before and before[key] != found
        ],
        [found for key, found in before.items() if key not in after],
    )


def _between(before: SessionState, after: SessionState) -> dict[str, int]:
    earlier, later = sorted((before.summary, after.summary), key=lambda each: each.version)
    counts = {kind: n - earlier.events.get(kind, 0) for kind, n in later.events.items()}
    return {kind: n for kind, n in counts.items() if n}
