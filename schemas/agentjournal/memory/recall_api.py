"""Recalling what is known of an entity, and of those that a session is about."""

from __future__ import annotations

from collections.abc import Sequence

from agentjournal.events import MemoryRecalled
from agentjournal.handle import Handle
from agentjournal.ids import StreamId
from agentjournal.memory.embedding import Embedder
from agentjournal.memory.recalling import (
    DEFAULT_K,
    HEADING,
    block_of,
    checked,
    find,
    find_of_each,
    line_of,
    ranked,
    within,
)
from agentjournal.memory.recalls import Found, Hit, Recalled, Recalls
from agentjournal.windows.tokens import Count, default_count


async def recall(  # noqa: PLR0913 - a keyword for each thing one may ask for
    recalls: Recalls,
    entity: StreamId,
    query: str,
    *,
    k: int = DEFAULT_K,
    max_tokens: int | None = None,
    count: Count | None = None,
    embedder: Embedder | None = None,
) -> list[Recalled]:
    """Return what answers a query best, of what is known of one entity."""
    checked(k, max_tokens)
    if max_tokens is not None and count is None:
        count = default_count()
    found = await find(recalls, entity, query, embedder)
    return within(ranked(found), k, max_tokens, count)


class EntityRecall(Handle):
    """Recall from the memory of an entity."""

    async def recall(
        self,
        query: str,
        *,
        k: int = DEFAULT_K,
        max_tokens: int | None = None,
        count: Count | None = None,
    ) -> list[Recalled]:
        """Return at most `k` facts, summaries and sentences of messages that answer best.

        Found are facts that hold, summaries of sessions, and what user and assistant said in
        sessions about the entity, word for word: by their words, and where the extra
        `agentjournal[recall]` is installed by their meaning. The best comes first; together the
        texts have at most `max_tokens` tokens, which `count` counts. What was said in the last
        moments may be missing: recall waits for nothing.

        Raises ValueError for numbers that make no sense, or where tokens are to be counted and no
        tokenizer is installed; Unavailable.
        """
        recalls = self._servers.recalls
        return await recall(recalls, self.stream, query, k=k, max_tokens=max_tokens, count=count)


async def recall_all(
    recalls: Recalls, entities: Sequence[StreamId], query: str, without: StreamId
) -> list[tuple[Hit, float]]:
    """Return what answers a query of several entities, without what one session says itself."""
    found = await find_of_each(recalls, entities, query)
    hits = {hit.place: hit for each in found for hit in each.hits if hit.stream != without}
    lowest = min((each.lowest for each in found if each.lowest is not None), default=None)
    return ranked(Found(list(hits.values()), lowest))


def block_within(
    hits: Sequence[tuple[Hit, float]], k: int, max_tokens: int, count: Count
) -> tuple[str, list[Recalled]]:
    """Return a block of at most `max_tokens` tokens, heading and all, and what is in it."""
    chosen: list[Recalled] = []
    left = max_tokens - count(HEADING)
    for each in within(hits, k * 2, None, None):
        tokens = count("\n" + line_of(each))
        if tokens <= left and len(chosen) < k:
            chosen.append(each)
            left -= tokens
    # Tokens of joined lines may be more than those of each: the last goes until it fits.
    while chosen and count(block_of(chosen)) > max_tokens:
        chosen.pop()
    return block_of(chosen), chosen


def recalled_event(query: str, shown: Sequence[Recalled], tokens: int) -> MemoryRecalled:
    """Return the event that says what was shown."""
    return MemoryRecalled(
        query=query,
        fact_ids=[each.fact_id for each in shown if each.fact_id is not None],
        event_ids=[each.source.event_id for each in shown if each.fact_id is None],
        tokens=tokens,
    )
