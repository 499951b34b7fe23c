"""A vector of a query that is there already."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Made:
    """Gives the vector to whoever awaits it, as often as it is awaited."""

    vector: Sequence[float]

    def __await__(self) -> Generator[Any, None, Sequence[float]]:
        yield from ()
        return self.vector
