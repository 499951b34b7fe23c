"""The gates on labelled sessions: what a careful model may add, what the worst one gets past."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pytest

from agentjournal.events import Entity
from agentjournal.memory.candidates import Statement
from agentjournal.memory.model_gates import Judging
from agentjournal.memory.rules import default_rules
from agentjournal.memory.slots import default_slots
from agentjournal.memory.statements import statements_of
from evals.labelled import LabelledSession, load
from evals.promoting import recorded
from tests.model_server import fact

TRAPS = ("hobby", "likes")  # slots that take any text


class Read(NamedTuple):
    """A session of the part that is only measured."""

    labelled: LabelledSession
    about: Mapping[str, Entity]
    said: Mapping[str, Statement]  # by users, by event id


@pytest.fixture(scope="module")
def sessions() -> list[Read]:
    return [_read(session) for case in load("measured") for session in case.sessions]


def _read(session: LabelledSession) -> Read:
    kinds = Counter(each.kind for each in session.entities)
    about = {
        each.kind: Entity.model_validate(each._asdict())
        for each in session.entities
        if kinds[each.kind] == 1
    }
    statements = statements_of(recorded(session))
    users = {each.event_id: each for each in statements if each.role == "user"}
    return Read(session, about, users)


def _kept(read: Read, said: Statement, value: str, about: str, attribute: str) -> bool:
    judging = Judging(read.about, default_slots(), default_rules(), [])
    proposed = fact(said.version, attribute, value, value, about=about)
    judging.take([proposed], {said.version: said}, said)
    return bool(judging.candidates)


def _written(said: Statement, values: tuple[Any, ...]) -> str | None:
    """Return a value as a text has it."""
    for each in map(str, values):
        place = said.text.casefold().find(each.casefold())
        if place >= 0:
            return said.text[place : place + len(each)]
    return None


def _wanted(read: Read) -> Iterator[bool]:
    """Yield of each fact that a user says in so many words whether it may be learned."""
    for gold in read.labelled.facts:
        if gold.op == "retract" or gold.optional or gold.kind == "outcome":
            continue
        for event_id in gold.evidence:
            said = read.said.get(event_id)
            written = None if said is None else _written(said, (gold.value, *gold.accept))
            if said is not None and written is not None:
                yield _kept(read, said, written, gold.entity.partition(":")[0], gold.attribute)
                break


def test_most_of_what_users_say_in_so_many_words_may_be_learned(sessions: list[Read]) -> None:
    kept = [each for read in sessions for each in _wanted(read)]
    assert len(kept) > 200
    assert sum(kept) / len(kept) >= 0.80


def test_of_traps_that_a_model_falls_into_each_few_get_past(sessions: list[Read]) -> None:
    passed: list[bool] = []
    for read in sessions:
        for value, event_id, _ in read.labelled.distractors:
            said = read.said.get(event_id)
            written = None if said is None else _written(said, (value,))
            passed.append(
                said is not None
                and written is not None
                and any(_kept(read, said, written, "user", slot) for slot in TRAPS)
            )
    assert len(passed) > 100
    assert sum(passed) / len(passed) <= 0.35
