"""What is shown of what was found: no more tokens than asked for, and what stands around it.

A sentence alone may not tell what it is about. Where there is room, it is shown with those before
and behind it; so a short message is shown whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from agentjournal.memory.recalls import Event, Hit, Recalled, Source, Texts
from agentjournal.windows.tokens import Count

# What one hit may take of what is left: a long message leaves as much for all that is behind it.
PART_FOR_ONE = 0.5
Line: TypeAlias = Callable[[Hit, str], str]  # how a text of a hit is shown


def _text(_: Hit, text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class Budget:
    """What there is room for: so many of the hits, and so many tokens, as `count` counts them."""

    k: int
    max_tokens: int
    count: Count
    line: Line = _text

    def tokens(self, hit: Hit, text: str) -> int:
        """Return how many tokens a text of a hit takes."""
        return self.count(self.line(hit, text))


def best_alone(hits: Iterable[tuple[Hit, float]], k: int) -> list[Recalled]:
    """Return the best `k` of the hits, each by itself."""
    return [_recalled(hit, score, hit.text, None) for hit, score in islice(hits, k)]


def best_within(hits: Iterable[tuple[Hit, float]], texts: Texts, budget: Budget) -> list[Recalled]:
    """Return the best hits that a budget has room for.

    `texts` has the passages of the events that may be shown around their hits. A hit that does not
    fit is left out, and a shorter one behind it may fit.
    """
    chosen: list[Recalled] = []
    taken: defaultdict[Event, set[int]] = defaultdict(set)
    left = budget.max_tokens
    for hit, score in hits:
        if len(chosen) == budget.k or left <= 0:
            break
        alone = budget.tokens(hit, hit.text)
        if hit.number in taken[hit.event] or alone > left:
            continue
        passages, room = texts.get(hit.event, ()), left * PART_FOR_ONE - alone
        places = _stretch(hit.number, passages, taken[hit.event], room, budget.count)
        text = " ".join(passages[place] for place in places) if len(places) > 1 else hit.text
        tokens = budget.tokens(hit, text)
        if tokens > left:  # the parts by themselves were fewer
            places, text, tokens = range(hit.number, hit.number + 1), hit.text, alone
        taken[hit.event].update(places)
        left -= tokens
        chosen.append(_recalled(hit, score, text, tokens))
    return chosen


def _stretch(
    number: int, passages: Sequence[str], taken: Collection[int], room: float, count: Count
) -> range:
    """Return which passages of an event are shown: one, and what is nearest around it."""
    first = last = number
    nearest = sorted(range(len(passages)), key=lambda place: (abs(place - number), place < number))
    for place in nearest[1:]:
        if place in taken or place not in {first - 1, last + 1}:
            continue  # on this side something is shown already
        room -= count(" " + passages[place])
        if room < 0:
            break
        first, last = min(first, place), max(last, place)
    return range(first, last + 1)


def events_of(shown: Iterable[Recalled]) -> set[Event]:
    """Return the events of which more can be shown than was found: a fact is all there is of it."""
    return {(each.source.stream, each.source.version) for each in shown if each.kind != "fact"}


def _recalled(hit: Hit, score: float, text: str, tokens: int | None) -> Recalled:
    return Recalled(
        kind=hit.tier,
        text=text,
        score=score,
        said_at=hit.said_at,
        source=Source(hit.stream, hit.version, hit.event_id),
        role=hit.role,
        fact_id=hit.ref if hit.tier == "fact" else None,
        message_id=hit.ref if hit.tier == "message" else None,
        tokens=tokens,
    )
