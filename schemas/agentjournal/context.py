"""The layers that a piece of work stands on: its session, its task, whom and what it is about."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

from agentjournal.errors import SessionNotFound, TaskNotFound
from agentjournal.handle import Handle
from agentjournal.ids import Version
from agentjournal.memory.api import Memory
from agentjournal.memory.known import EntityState
from agentjournal.session import Session
from agentjournal.state import SessionState
from agentjournal.task import Task
from agentjournal.task_state import TaskState

T = TypeVar("T")
S_co = TypeVar("S_co", bound="_State", covariant=True)


@dataclass(frozen=True, slots=True)
class Context:
    """Layers that were loaded together; None: it was not asked for, or has not begun."""

    session: SessionState | None
    task: TaskState | None
    user: EntityState | None
    account: EntityState | None
    project: EntityState | None
    versions: Mapping[str, Version]
    """Of every stream that was asked for, 0 where it has not begun: what `expected_version` is."""


async def load_context(
    session: Session | None, task: Task | None, entities: Mapping[str, Memory], timeout_s: float
) -> Context:
    """Return the layers, all loaded at once; entities are named by their kinds.

    Raises what `load` of each raises, but NotFound.
    """
    of_session, of_task, of_entities = await asyncio.gather(
        _loaded(session, timeout_s),
        _loaded(task, timeout_s),
        asyncio.gather(
            *(_loaded(entity, timeout_s) for entity in entities.values()), return_exceptions=True
        ),
        return_exceptions=True,  # so that none is left at work when another fails
    )
    session_state, task_state = _raised(of_session), _raised(of_task)
    states = dict(zip(entities, map(_raised, _raised(of_entities)), strict=True))
    pairs: list[tuple[Handle | None, SessionState | TaskState | EntityState | None]] = [
        (session, session_state),
        (task, task_state),
        *((entities[kind], state) for kind, state in states.items()),
    ]
    versions: dict[str, Version] = {
        handle.stream: Version(0) if state is None else state.version
        for handle, state in pairs
        if handle is not None
    }
    user, account, project = (states.get(kind) for kind in ("user", "account", "project"))
    return Context(session_state, task_state, user, account, project, versions)


class _State(Protocol):
    @property
    def version(self) -> Version: ...


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
