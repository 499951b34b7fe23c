"""The memory of an entity: what is known of a user, an account or a project."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from pydantic import ValidationError

from agentjournal.errors import AppendRejected, FactNotFound
from agentjournal.events import Entity, Extractor, FactLearned, FactRetracted
from agentjournal.events.decode import rejection
from agentjournal.ids import Position, new_event_id, stream_id
from agentjournal.memory.candidates import Cardinality, Kind
from agentjournal.memory.explaining import FactSource, source_of
from agentjournal.memory.fact_events import MAX_FACT_BYTES, fact_id_of, retraction
from agentjournal.memory.known import EntityState, Fact, Known, holding
from agentjournal.memory.recall_api import EntityRecall
from agentjournal.memory.slots import default_slots
from agentjournal.partitions import partition_of
from agentjournal.ports import READ_FOR_FACTS
from agentjournal.requests import MAX_EVENTS
from agentjournal.waiting import wait_until
from agentjournal.working_memory import Needed

REMEMBERED = Extractor(name="remember", version="1")


class Memory(EntityRecall):
    """Long-term memory of one entity. Making a handle writes nothing."""

    @property
    def entity(self) -> Entity:
        """Whom or what it is about."""
        return Entity.model_validate({"kind": self._kind, "id": self.id})

    async def remember(  # noqa: PLR0913 - a keyword for each thing that may be said of a fact
        self,
        attribute: str,
        value: Any,
        *,
        kind: Kind | None = None,
        cardinality: Cardinality | None = None,
        role: Literal["user", "developer"] = "user",
        quote: str | None = None,
        confidence: float = 1.0,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        timeout_s: float = 30.0,
    ) -> str:
        """Remember a value that somebody gave outside of a session; return the id of the fact.

        The slot table says what kind of fact the attribute is and how many values it holds, unless
        that is said here; an attribute that it has not is free text, of which one supersedes no
        other. The value is true from `valid_from` on, by default from now, until `valid_to`. The
        append itself is the evidence.

        Raises AppendRejected when that cannot be a fact, or is more than 32 kB, ValueError for a
        time without a zone, and what `append` raises.
        """
        slot = default_slots().find(self._kind, attribute)
        try:
            fact = FactLearned(
                fact_id=fact_id_of(self.entity, "", new_event_id(), attribute, value),
                kind=kind or (slot.kind if slot else "text"),
                attribute=attribute,
                value=value,
                cardinality=cardinality or (slot.cardinality if slot else "multiple"),
                quote=str(value) if quote is None else quote,
                evidence=[],
                author_role=role,
                confidence=confidence,
                valid_from=_written("valid_from", valid_from or self._servers.now()),
                valid_to=None if valid_to is None else _written("valid_to", valid_to),
                extractor=REMEMBERED,
            )
        except ValidationError as error:
            raise rejection(error) from None
        size = len(fact.encoded())
        if size > MAX_FACT_BYTES:
            raise AppendRejected("value", f"takes {size:,} bytes, at most {MAX_FACT_BYTES:,}")
        await self.append(fact, timeout_s=timeout_s)
        return fact.fact_id

    async def facts(
        self,
        *,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        timeout_s: float = 5.0,
    ) -> list[Fact]:
        """Return the facts that hold, in the order of their attributes.

        `as_of` asks for what was true at another moment, `known_at` for what had been recorded by
        then: both together for what would have been answered. What is acknowledged through this
        handle is in it; through one that has written nothing, what anybody had learned before.

        Raises ValueError for a time without a zone, NotCaughtUp when the read models stay behind
        for `timeout_s`, StreamParked, Unavailable.
        """
        if as_of is not None:
            _checked("as_of", as_of)
        known = await self._known(timeout_s, known_at)
        return holding(known.facts, as_of or known_at, self._servers.now())

    async def history(
        self, *, known_at: datetime | None = None, timeout_s: float = 5.0
    ) -> list[Fact]:
        """Return all facts, also those that ended or were taken back. Raises what `facts` does."""
        return list((await self._known(timeout_s, known_at)).facts)

    async def load(self, *, timeout_s: float = 5.0) -> EntityState:
        """Return the facts that hold, and the version that they are known at.

        Raises what `facts` raises.
        """
        known = await self._known(timeout_s, None)
        facts = holding(known.facts, None, self._servers.now())
        return EntityState(self.stream, known.version, {fact.fact_id: fact for fact in facts})

    async def forget(
        self,
        fact: Fact | str | None = None,
        *,
        attribute: str | None = None,
        quote: str | None = None,
        reason: str = "asked to forget",
        by: str = "user",
        timeout_s: float = 30.0,
    ) -> list[Fact]:
        """Take back a fact, by itself or its id, all of an attribute, or all that quote a text.

        Return the facts that were taken back. They are hidden from now on, and neither a rebuild
        nor another promotion brings them back: everything that had been said of their values until
        now counts no more, also what is learned from older sessions later. What is said from now on
        counts. What they had superseded does not come back. The events stay in the log.

        Raises FactNotFound when there is no fact of this id, ValueError unless one of the three is
        given, AppendRejected when an attribute cannot be one, and what `facts` and `append` raise.
        """
        if sum(each is not None for each in (fact, attribute, quote)) != 1:
            raise ValueError("forget one fact, or one attribute=, or one quote=")
        known = [each for each in await self.history() if each.ended_by != "retracted"]
        if attribute is not None:
            found = [each for each in known if each.attribute == attribute]
        elif fact is not None:
            found = [_found(self.stream, known, fact)]
        else:
            found = _quoting(known, quote)
        try:
            events = _retractions(found, attribute, reason, by)
        except ValidationError as error:
            raise rejection(error) from None
        for place in range(0, len(events), MAX_EVENTS):
            await self.append(events[place : place + MAX_EVENTS], timeout_s=timeout_s)
        return found

    async def explain(self, fact: Fact | str, *, timeout_s: float = 5.0) -> list[FactSource]:
        """Return the events that a fact comes from, as text, the first one in front.

        Those of sessions that cannot be read any more are left out.

        Raises FactNotFound when there is no fact of this id, and what `facts` raises.
        """
        history = await self.history(timeout_s=timeout_s)
        found = _found(self.stream, history, fact)
        views, sources = self._servers.views, list[FactSource]()
        if not found.evidence:
            async for each in views.read_stream(self.stream, after=found.version - 1, most=1):
                sources.append(source_of(each, None))
        for said in found.evidence:
            stream = stream_id("session", self.tenant, said.session_id)
            async for each in views.read_stream(stream, after=said.version - 1, most=1):
                if each.id == said.event_id:
                    sources.append(source_of(each, said.session_id))
        return sources

    async def _known(self, timeout_s: float, known_at: datetime | None) -> Known:
        if known_at is not None:
            _checked("known_at", known_at)
        partition, servers = partition_of(self.stream.encode()), self._servers
        if self._last is not None:
            needed = Needed(partition, Position(0), self._last)
        else:
            end = await servers.ends.end_of(partition, timeout_s=timeout_s)
            needed = Needed(partition, end)
        await wait_until(servers.views, needed, READ_FOR_FACTS, timeout_s)
        return await servers.facts.known(self.stream, known_at)


def _found(stream: str, facts: Sequence[Fact], wanted: Fact | str) -> Fact:
    """Return the fact of an id. Raises FactNotFound."""
    fact_id = wanted if isinstance(wanted, str) else wanted.fact_id
    for each in facts:
        if fact_id in each.fact_ids:
            return each
    raise FactNotFound(stream, fact_id)


def _retractions(
    facts: Sequence[Fact], attribute: str | None, reason: str, by: str
) -> Sequence[FactRetracted]:
    if attribute is not None:
        return [retraction(attribute, reason=reason, by=by)]
    return [
        # Without a value a retraction would be of every one, so none at all goes by its id.
        FactRetracted(fact_id=each.fact_id, reason=reason, by=by)
        if each.value is None
        else retraction(each.attribute, each.value, fact_id=each.fact_id, reason=reason, by=by)
        for each in facts
    ]


def _quoting(facts: Sequence[Fact], quote: str | None) -> list[Fact]:
    wanted = _plain(quote or "")
    if not wanted:
        raise ValueError("quote= is empty")
    return [each for each in facts if wanted in _plain(each.quote)]


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _checked(name: str, time: datetime) -> datetime:
    if time.utcoffset() is None:
        raise ValueError(f"{name}={time} has no zone: use one, like datetime.now(UTC)")
    return time


def _written(name: str, time: datetime) -> str:
    return _checked(name, time).isoformat()
