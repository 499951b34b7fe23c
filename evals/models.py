"""A small model that makes vectors, where one is installed."""

from __future__ import annotations

import time
from collections.abc import Sequence

from agentjournal.memory.embedding import Embedder, local_embedder
from evals.data import Absent


class Vectors:
    """Makes vectors of texts, each once, and keeps the time that it takes."""

    def __init__(self, model: Embedder) -> None:
        self._model = model
        self._known: dict[str, Sequence[float]] = {}
        self._seconds = 0.0

    @property
    def model(self) -> str:
        """The name of the model."""
        return self._model.model

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector for each text."""
        return [list(vector) for vector in self(texts)]

    def __call__(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Return a vector for each text."""
        missing = list(dict.fromkeys(text for text in texts if text not in self._known))
        if missing:
            began = time.perf_counter()
            made = self._model.embed(missing)
            self._seconds += time.perf_counter() - began
            self._known.update(zip(missing, made, strict=True))
        return [self._known[text] for text in texts]

    @property
    def a_second(self) -> float | None:
        """How many texts became vectors in a second; None: none did."""
        return len(self._known) / self._seconds if self._seconds else None


def vectors() -> Vectors:
    """Return what makes vectors of texts; raises Absent where no model is installed."""
    model = local_embedder()
    if model is None:
        raise Absent("the extra agentjournal[recall] is not installed")
    return Vectors(model)
