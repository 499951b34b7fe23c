"""Recalling what is known of an entity, and of those that a session is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentjournal.events import MemoryRecalled
from agentjournal.handle import Handle
from agentjournal.ids import StreamId
from agentjournal.memory.embedding import Embedder
from agentjournal.memory.recalling import (
    HEADING,
    block_of,
    checked,
    find,
    find_of_each,
    line_of,
    ranked,
)
from agentjournal.memory.recalls import Hit, Recalled, Recalls
from agentjournal.memory.showing import Budget, best_alone, best_within, events_of
from agentjournal.windows.tokens import Count, default_count


async def recall(  # noqa: PLR0913 - a keyword for each thing one may ask for
    recalls: Recalls,
    entity: StreamId,
    query: str,
    *,
    k: int | None = None,
    max_tokens: int | None = None,
    count: Count | None = None,
    embedder: Embedder | None = None,
) -> list[Recalled]:
    """Return what answers a query best, of what is known of one entity."""
    most = checked(k, max_tokens)
    if max_tokens is None:
        return best_alone(ranked(await find(recalls, entity, query, embedder)), most)
    budget = Budget(most, max_tokens, count or default_count())
    hits = ranked(await find(recalls, entity, query, embedder))
    return await _shown(recalls, [entity], hits, budget)


async def _shown(
    recalls: Recalls,
    entities: Sequence[StreamId],
    hits: Sequence[tuple[Hit, float]],
    budget: Budget,
) -> list[Recalled]:
    """Return the best hits that a budget has room for, with what stands around them."""
    alone = best_within(hits, {}, budget)
    if not (events := events_of(alone)):
        return alone
    return best_within(hits, await recalls.texts(entities, events), budget)


class EntityRecall(Handle):
    """Recall from the memory of an entity."""

    async def recall(
        self,
        query: str,
        *,
        k: int | None = None,
        max_tokens: int | None = None,
        count: Count | None = None,
    ) -> list[Recalled]:
        """Return at most `k` facts and sentences of messages or summaries that answer best.

        Found are facts that hold, summaries of sessions, and what user and assistant said in
        sessions about the entity, word for word: by their words, and where the extra
        `agentjournal[recall]` is installed by their meaning. The best comes first. Together the
        texts have at most `max_tokens` tokens, which `count` counts: then there are as many as
        there is room for, each with the sentences around it; else there are ten. What was said in
        the last moments may be missing: recall waits for nothing.

        Raises ValueError for numbers that make no sense, or where tokens are to be counted and no
        tokenizer is installed; Unavailable.
        """
        recalls = self._servers.recalls
        return await recall(recalls, self.stream, query, k=k, max_tokens=max_tokens, count=count)


async def recall_all(
    recalls: Recalls, entities: Sequence[StreamId], query: str, without: StreamId
) -> list[tuple[Hit, float]]:
    """Return what answers a query of several entities, without what one session says itself."""
    found = await find_of_each(recalls, entities, query, without=without)
    return ranked(hit for each in found for hit in each)


async def block_within(
    recalls: Recalls,
    entities: Sequence[StreamId],
    hits: Sequence[tuple[Hit, float]],
    budget: Budget,
) -> tuple[str, list[Recalled]]:
    """Return a block that a budget has room for, heading and all, and what is in it."""
    left = budget.max_tokens - budget.count(HEADING)
    lines = replace(budget, max_tokens=left, line=_line)
    chosen = await _shown(recalls, entities, hits, lines)
    # Tokens of joined lines may be more than those of each: the last goes until it fits.
    while chosen and budget.count(block_of(chosen)) > budget.max_tokens:
        chosen.pop()
    return block_of(chosen), chosen


def _line(hit: Hit, text: str) -> str:
    return "\n" + line_of(hit.tier, hit.said_at, hit.role, text)


def recalled_event(query: str, shown: Sequence[Recalled], tokens: int) -> MemoryRecalled:
    """Return the event that says what was shown."""
    return MemoryRecalled(
        query=query,
        fact_ids=[each.fact_id for each in shown if each.fact_id is not None],
        event_ids=[each.source.event_id for each in shown if each.fact_id is None],
        tokens=tokens,
    )
