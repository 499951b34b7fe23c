"""What a log gives to those who ask what is known: memory of entities, and layers of context."""

from __future__ import annotations

from urllib.parse import quote

from agentjournal.context import Context, load_context
from agentjournal.events import SessionStarted
from agentjournal.handle import Writer
from agentjournal.ids import StreamId, stream_id
from agentjournal.log_subscriptions import LogSubscriptions
from agentjournal.memory.api import Memory
from agentjournal.outgoing import checked_id
from agentjournal.session import Session
from agentjournal.settings import Settings
from agentjournal.task import Task

DEFAULT_AGENT = "agent"


class LogMemory(LogSubscriptions):
    """The part of a log that is about what is known."""

    settings: Settings

    def memory(
        self,
        *,
        user: str | None = None,
        account: str | None = None,
        project: str | None = None,
        agent: str | None = None,
    ) -> Memory:
        """Return the long-term memory of a user, an account or a project of the tenant.

        Nothing is written before something is remembered or forgotten, by `agent`. Raises
        ValueError unless one of the three is named, AppendRejected when an id is empty, too long,
        or holds control characters.
        """
        named = {"user": user, "account": account, "project": project}
        entities = [(kind, name) for kind, name in named.items() if name is not None]
        if len(entities) != 1:
            raise ValueError("a memory is of one user=, one account= or one project=")
        return self._memory(*entities[0], agent)

    async def context(
        self,
        *,
        session: str | None = None,
        task: str | None = None,
        user: str | None = None,
        account: str | None = None,
        project: str | None = None,
        timeout_s: float = 5.0,
    ) -> Context:
        """Return what a session, a task and entities have come to, all loaded at once.

        Each is named by its id, and None where it has not begun or is not asked for. Of a user, an
        account and a project there are the facts that hold now. All of it is as fresh as `load()`
        of a new handle: with everything that was acknowledged before this call. The layers are
        streams of their own, so one may have moved on while another was read: `versions` says what
        was read of each.

        Raises what `Session.load` raises, but SessionNotFound.
        """
        asking = self._servers, self._writer(None, None)
        named = {"user": user, "account": account, "project": project}
        ids = {kind: name for kind, name in named.items() if name is not None}
        start = SessionStarted(agent=DEFAULT_AGENT)  # which is not written by who reads
        return await load_context(
            None if session is None else Session(self._stream("session", session), *asking, start),
            None if task is None else Task(self._stream("task", task), *asking),
            {kind: self._memory(kind, name, None) for kind, name in ids.items()},
            timeout_s,
        )

    def _memory(self, kind: str, name: str, agent: str | None) -> Memory:
        return Memory(self._stream(kind, name), self._servers, self._writer(agent, None))

    def _stream(self, kind: str, name: str) -> StreamId:
        return stream_id(kind, self.settings.tenant, name)

    def _writer(self, agent: str | None, worker: str | None) -> Writer:
        name = agent or DEFAULT_AGENT
        source = f"/{quote(self.settings.tenant, safe='')}/{quote(name, safe='')}"
        if worker:
            checked_id("worker", worker)
        return Writer(source, agent or None, worker or None)
