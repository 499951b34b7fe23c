"""embeddings: the vector of each passage, as a model makes it.

A vector is a function of model and text, so the read model is built again from the log like any
other. It is one of its own, since a model is slow: nothing else waits for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from agentjournal.envelope import Recorded
from agentjournal.memory.embedding import Embedder, vector_text
from projections.folding import FOLD_ERRORS
from projections.projection import Context, Projection, read_sql
from projections.recall import passages_in, place_of
from projections.recall_tables import EMBEDDINGS as TABLE
from projections.rows import Changes

EMBEDDINGS = "embeddings"
_TYPES = ("message.added", "promotion.completed", "fact.learned")


class Vectors:
    """The vectors of the passages of a few events, made before these are folded."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._made: dict[str, str] = {}

    def make(self, events: Iterable[Recorded]) -> None:
        """Make the vectors of these events' passages, and forget those of others. Takes long."""
        texts = {text for each in events if each.type in _TYPES for text in _texts(each)}
        self._made = self._found(texts)

    def of(self, texts: Sequence[str]) -> list[str]:
        """Return vectors as Postgres reads them; those that were not made yet are made now."""
        found = self._found(set(texts))
        return [found[text] for text in texts]

    def _found(self, texts: set[str]) -> dict[str, str]:
        """Return the vectors of texts, those that are there and those that are made now."""
        missing = sorted(texts - self._made.keys())
        made = map(vector_text, self.embedder.embed(missing) if missing else ())
        there = {text: self._made[text] for text in texts if text in self._made}
        return there | dict(zip(missing, made, strict=True))


def embeddings(vectors: Vectors) -> Projection:
    """Return the projection whose vectors come from there."""

    def fold(r: Recorded, context: Context, changes: Changes) -> Context:
        whose = {**place_of(r), "version": r.version, "model": vectors.embedder.model}
        texts = [passage.found_by for passage in passages_in(r, r.data)]
        for number, vector in enumerate(vectors.of(texts)):
            changes.add("embeddings", {**whose, "number": number, "vector": vector})
        return context

    return Projection(
        name=EMBEDDINGS,
        tables=(TABLE,),
        fold=fold,
        kinds=frozenset({"session", "user", "account", "project"}),
        types=dict.fromkeys(_TYPES, 1),
        sql=read_sql("embeddings.sql"),
        every_event=False,
    )


def _texts(recorded: Recorded) -> list[str]:
    try:
        data: Any = recorded.data
        return [passage.found_by for passage in passages_in(recorded, data)]
    except FOLD_ERRORS:
        return []  # the fold says so, and parks the stream
