"""A small model that makes vectors, where one is installed."""

from __future__ import annotations

from evals.data import Absent
from evals.searching import Embed


def embedder() -> Embed:
    """Return what makes vectors of texts; raises Absent where no model is installed."""
    raise Absent("no model is installed")
