"""What a session changes in what is known: facts that are new, known already, or hold no longer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from agentjournal.events import FactLearned, FactRetracted
from agentjournal.memory.entity_reading import Known, known_as, retracted_as
from agentjournal.memory.facts import Held, Learned, Retracted, Said, facts_of


class Counts(NamedTuple):
    """Facts, each as it was learned first."""

    learned: Sequence[FactLearned]
    confirmed: Sequence[FactLearned]
    superseded: Sequence[FactLearned]


def counts_of(
    events: Sequence[FactLearned | FactRetracted],
    known: Sequence[Known],
    retractions: Sequence[Retracted],
    is_of_before: Callable[[Learned], bool],
) -> Counts:
    """Return what `events` change, beside the facts of the same slots that are `of before`.

    So what this very promotion appended in an earlier attempt counts as if it were not there yet.
    """
    slots = {each.attribute for each in events}
    own = {each.fact_id for each in events}
    before = [
        each for each in known if each.learned.attribute in slots and is_of_before(each.learned)
    ]
    there = {each.learned.fact_id for each in before}
    last = max((each.learned.version for each in known), default=0)
    new = [
        known_as(event, last + place, event.said_at or event.valid_from)
        for place, event in enumerate(events, start=1)
        if isinstance(event, FactLearned) and event.fact_id not in there
    ]
    taken_back = [
        retracted_as(event, event.said_at or "")
        for event in events
        if isinstance(event, FactRetracted)
    ]
    others = [each for each in retractions if each.fact_id not in own]
    held_before = facts_of(Said([each.learned for each in before], others))
    held = facts_of(Said([each.learned for each in (*before, *new)], [*others, *taken_back]))
    written = {each.learned.fact_id: each.fact for each in (*new, *before)}
    return _compared(held_before, held, {each.learned.fact_id for each in new}, written)


def _compared(
    before: Sequence[Held], after: Sequence[Held], new: set[str], written: dict[str, FactLearned]
) -> Counts:
    learned, confirmed, ended = list[FactLearned](), list[FactLearned](), set[str]()
    for fact in after:
        ids = {each.fact_id for each in fact.said}
        first = written[fact.said[0].fact_id]
        if ids <= new:
            learned.append(first)
        elif ids & new:
            confirmed.append(first)
        if fact.valid_to is not None:
            ended |= ids
    superseded = [
        written[fact.said[0].fact_id]
        for fact in before
        if fact.valid_to is None and fact.said[-1].fact_id in ended
    ]
    return Counts(learned, confirmed, superseded)
