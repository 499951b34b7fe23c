"""The layers that a piece of work stands on: its session, its task, the user it is for."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from agentjournal.envelope import NO_HASH
from agentjournal.errors import SessionNotFound, TaskNotFound
from agentjournal.events import FactLearned, FactRetracted
from agentjournal.handle import Handle
from agentjournal.ids import StreamId, Version
from agentjournal.session import Session
from agentjournal.state import SessionState
from agentjournal.stored import Foldable
from agentjournal.task import Task
from agentjournal.task_loading import Folding, stored_fold
from agentjournal.task_state import TaskState

T = TypeVar("T")
S_co = TypeVar("S_co", bound=Folding, covariant=True)


@dataclass(slots=True)
class EntityState:
    """What is recorded of an entity, like a user, at `version`: facts as they were learned.

    Those of the same attribute stand beside each other, in the order in which they were recorded:
    which of them holds now is not decided here.
    """

    stream: StreamId
    version: Version = Version(0)
    hash: str = NO_HASH
    facts: dict[str, FactLearned] = field(default_factory=dict[str, FactLearned])
    """By their ids; those that were retracted are left out."""
    retracted: set[str] = field(default_factory=set[str])  # ids of facts

    def apply(self, recorded: Foldable) -> None:
        """Take the next event of the entity."""
        match recorded.event:
            case FactLearned() as fact if fact.fact_id not in self.retracted:
                self.facts.setdefault(fact.fact_id, fact)  # the first fact with an id wins
            case FactRetracted() as retracted:
                self.retracted.add(retracted.fact_id)
                self.facts.pop(retracted.fact_id, None)
            case _:
                pass
        self.version, self.hash = recorded.version, recorded.hash


class EntityStream(Handle):
    """The stream of an entity, to be read."""

    async def load(self, *, timeout_s: float = 5.0) -> EntityState:
        """Return what is recorded of it: an empty state when nothing is.

        Raises what `Task.load` raises, but TaskNotFound.
        """
        await self._catch_up(timeout_s)
        return await stored_fold(self._servers.views, self.stream, EntityState)


@dataclass(frozen=True, slots=True)
class Context:
    """Layers that were loaded together; None: it was not asked for, or has not begun."""

    session: SessionState | None
    task: TaskState | None
    user: EntityState | None
    versions: Mapping[str, Version]
    """Of every stream that was asked for, 0 where it has not begun: what `expected_version` is."""


async def load_context(
    session: Session | None, task: Task | None, user: EntityStream | None, timeout_s: float
) -> Context:
    """Return the layers, all loaded at once. Raises what `load` of each raises, but NotFound."""
    loaded = await asyncio.gather(
        _loaded(session, timeout_s),
        _loaded(task, timeout_s),
        _loaded(user, timeout_s),
        return_exceptions=True,  # so that none is left at work when another fails
    )
    of_session, of_task, of_user = (_raised(loaded[0]), _raised(loaded[1]), _raised(loaded[2]))
    pairs = (session, of_session), (task, of_task), (user, of_user)
    versions: dict[str, Version] = {
        handle.stream: Version(0) if state is None else state.version
        for handle, state in pairs
        if handle is not None
    }
    return Context(of_session, of_task, of_user, versions)


class _Loads(Protocol[S_co]):
    async def load(self, *, timeout_s: float) -> S_co: ...


async def _loaded(handle: _Loads[S_co] | None, timeout_s: float) -> S_co | None:
    """Return the state of a stream, None when it has not begun or there is none to load."""
    if handle is None:
        return None
    try:
        state = await handle.load(timeout_s=timeout_s)
    except (SessionNotFound, TaskNotFound):
        return None
    return state if state.version else None


def _raised(outcome: T | BaseException) -> T:
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome
