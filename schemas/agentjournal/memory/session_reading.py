"""Reading a session for its facts: what it says, whom it is about, what was made of it before.

An event at a time, so that a session need not be in memory: of it only the statements are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from agentjournal.envelope import Recorded
from agentjournal.events import (
    Entity,
    Extractor,
    PromotionCompleted,
    SessionDeleted,
    SessionStarted,
    SessionUpdated,
)
from agentjournal.ids import StreamId, Version, parse_stream
from agentjournal.memory.candidates import UNREAD, Statement
from agentjournal.memory.statements import Gone, StatementReader

# What a session is read for; of anything else nothing is learned, so it is nothing new either.
_SAYING = (
    "message.",
    "tool.",
    "conversation.rewound",
    SessionStarted.type,
    SessionUpdated.type,
)


class Deletion(NamedTuple):
    """The event that deleted a session, and when it was recorded, ISO 8601."""

    event_id: str
    version: Version
    at: str


@dataclass(frozen=True, slots=True)
class Reading:
    """A session as it was read.

    `through` is the version of its last event that may say something, `promoted` that through which
    the same extractor had read it before, with what came of it in `completed`. `version` is of its
    last event. `gone` are messages that were retracted or rewound, `ever` all entities that it was
    about at any time. `deleted` is what deleted all of it.
    """

    stream: StreamId
    version: Version
    through: Version
    statements: Sequence[Statement]
    entities: Sequence[Entity]
    promoted: Version = Version(0)
    completed: PromotionCompleted | None = None
    gone: Sequence[Gone] = ()
    ever: Sequence[Entity] = ()
    deleted: Deletion | None = None

    @property
    def session_id(self) -> str:
        return parse_stream(self.stream)[2]

    @property
    def is_promoted(self) -> bool:
        """Whether nothing was said since it was read last, by this very extractor."""
        return self.completed is not None and self.promoted >= self.through

    def marked(self) -> Sequence[Statement]:
        """Return the statements, with a mark where this very extractor has read them before.

        There is none when it could not read a part of them.
        """
        refused = () if self.completed is None else self.completed.refused
        if not self.promoted or any(each.reason.startswith(UNREAD) for each in refused):
            return self.statements
        return [
            replace(each, was_read=True) if each.version <= self.promoted else each
            for each in self.statements
        ]


class SessionReader:
    """Takes the events of one session in their order."""

    def __init__(self, stream: StreamId, extractor: Extractor) -> None:
        """`extractor` is the one that it is read for: of others nothing is known."""
        self._stream, self._extractor = stream, extractor
        self._statements = StatementReader()
        self._user: Entity | None = None
        self._named: Sequence[Entity] = ()
        self._ever: dict[tuple[str, str], Entity] = {}
        self._version = self._through = self._promoted = Version(0)
        self._completed: PromotionCompleted | None = None
        self._deleted: Deletion | None = None

    def add(self, recorded: Recorded) -> None:
        """Take the next event. Raises EventUnreadable."""
        self._version = recorded.version
        if recorded.type.startswith(_SAYING):
            self._through = recorded.version
        self._statements.add(recorded)
        if recorded.type.startswith("session."):
            self._about(recorded)
        elif recorded.type == PromotionCompleted.type:
            self._know(recorded)

    def reading(self) -> Reading:
        """Return what was read so far."""
        user = () if self._user is None else (self._user,)
        return Reading(
            self._stream,
            self._version,
            self._through,
            self._statements.statements(),
            (*user, *(each for each in self._named if each != self._user)),
            self._promoted,
            self._completed,
            self._statements.gone(),
            list(self._ever.values()),
            self._deleted,
        )

    def _about(self, recorded: Recorded) -> None:
        match recorded.event:
            case SessionStarted() as started:
                if started.user is not None:
                    self._user = Entity(kind="user", id=started.user)
                self._named = started.entities
            case SessionUpdated(entities=entities) if entities is not None:
                self._named = entities
            case SessionDeleted():
                self._deleted = Deletion(recorded.id, recorded.version, recorded.recorded_at)
            case _:
                pass
        named = self._named if self._user is None else (self._user, *self._named)
        self._ever |= {(each.kind, each.id): each for each in named}

    def _know(self, recorded: Recorded) -> None:
        event = recorded.event
        if not isinstance(event, PromotionCompleted) or not is_same(
            event.extractor, self._extractor
        ):
            return
        if event.through_version < self._promoted:
            # One that had read less was slower: what it learned may not hold, so it is read again.
            self._through = recorded.version
        elif self._completed is None or event.through_version > self._promoted:
            self._promoted, self._completed = Version(event.through_version), event


def is_same(one: Extractor, other: Extractor) -> bool:
    """Whether two are the same extractor in the same version."""
    return (one.name, one.version) == (other.name, other.version)
