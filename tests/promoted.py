"""What tests of promotion share: sessions that say something, and what was learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import agentjournal as aj
from agentjournal.events import Entity, Extractor, FactLearned, FactRetracted
from agentjournal.memory.candidates import Candidate, Extraction, Refused, Statement
from agentjournal.memory.entity_reading import EntityReading
from agentjournal.settings import Settings
from tests.layers import about
from tests.servers import query

PLAIN = Extractor(name="plain", version="1")


@dataclass(slots=True)
class PlainExtracting:
    """Takes `attribute = value` of users for facts of the session's first entity.

    `project attribute = value` is about its project. `attribute -= value` takes back, `attribute ?=
    value` is refused, `attribute *= value` stands beside others, and `boom` is an error.
    """

    extractor: Extractor = field(default_factory=lambda: PLAIN)
    count: int = 0

    async def extract(
        self, statements: Sequence[Statement], entities: Sequence[Entity]
    ) -> Extraction:
        self.count += 1
        found = Extraction(summary=f"{len(statements)} statements")
        for said in statements:
            if said.role == "user":
                for line in said.text.splitlines():
                    _take(found, line, said, entities)
        return found


def _take(found: Extraction, line: str, said: Statement, about: Sequence[Entity]) -> None:
    if line == "boom":
        raise ValueError("boom")
    attribute, sign, value = map(str.strip, line.partition("="))
    if not sign:
        return
    if attribute.endswith("?"):
        found.refused.append(Refused("not sure", line, said))
        return
    found.candidates.append(
        Candidate(
            entity=next((each for each in about if attribute.startswith(each.kind)), about[0]),
            kind="profile",
            attribute=attribute.rstrip("-*"),
            value=value or None,
            cardinality="multiple" if attribute.endswith("*") else "single",
            quote=line,
            statement=said,
            confidence=0.9,
            valid_from=said.at,
            retracts=attribute.endswith("-"),
        )
    )


def said(text: str, *, role: Any = "user") -> aj.MessageAdded:
    """Return a message."""
    return aj.MessageAdded(role=role, content=text)


async def said_of(log: aj.Log, user: str) -> list[tuple[str, Any]]:
    """Return attribute and value of each fact in a user's stream, as often as it is there."""
    return [
        (event.attribute or "", event.value)
        async for each in about(log, user).events()
        if isinstance(event := each.event, FactLearned | FactRetracted)
    ]


async def known_of(log: aj.Log, user: str) -> EntityReading:
    """Return what a user's stream says."""
    reading = EntityReading()
    async for each in about(log, user).events():
        reading.add(each)
    return reading


async def completed_of(session: aj.Session) -> list[aj.PromotionCompleted]:
    """Return what tells that a session was promoted, as often as it is there."""
    return [
        event
        async for each in session.events()
        if isinstance(event := each.event, aj.PromotionCompleted)
    ]


async def promoted_twice(log: aj.Log) -> PlainExtracting:
    """Promote sessions of a user, one by two versions of an extractor; return the newer one."""
    older, newer = PlainExtracting(), PlainExtracting(Extractor(name="plain", version="2"))
    for number, text in enumerate(("seat=window\nfood=rice", "seat=aisle\nsize?=M", "food=fish")):
        session = log.session(f"said-{number}", user="u-7")
        await session.append(said(text))
        if number == 0:
            await session.promote(extracting=older)
        await session.promote(extracting=newer)
    return newer


async def facts_of_all(settings: Settings) -> list[object]:
    """Return the rows of facts and of promotions, and how many events there are."""
    counted = "SELECT count(*) AS events FROM agentjournal.events WHERE type LIKE 'fact.%'"
    return [
        await query(settings, "SELECT * FROM agentjournal.facts ORDER BY fact_id"),
        await query(
            settings, "SELECT * FROM agentjournal.fact_statements ORDER BY fact_id, version"
        ),
        await query(settings, "SELECT * FROM agentjournal.promotions ORDER BY session_id, version"),
        await query(settings, "SELECT * FROM agentjournal.session_summaries ORDER BY session_id"),
        await query(settings, counted),
    ]
