"""A small model that makes vectors, where one is installed."""

from __future__ import annotations

from collections.abc import Sequence

from agentjournal.memory.embedding import local_embedder
from evals.data import Absent
from evals.searching import Embed


def embedder() -> Embed:
    """Return what makes vectors of texts, each once; raises Absent where no model is installed."""
    model = local_embedder()
    if model is None:
        raise Absent("the extra agentjournal[recall] is not installed")
    known: dict[str, Sequence[float]] = {}

    def embed(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        missing = list(dict.fromkeys(text for text in texts if text not in known))
        if missing:
            known.update(zip(missing, model.embed(missing), strict=True))
        return [known[text] for text in texts]

    return embed
