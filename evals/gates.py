"""What must be reached, and what others report for the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from evals.intervals import Share


class Gate(NamedTuple):
    """A bound that a share has to keep: at least, or at most."""

    measure: str
    bound: float
    at_least: bool = True
    published: str = ""

    def passes(self, share: Share | None) -> bool | None:
        """Whether the share keeps the bound; None: there was nothing to count."""
        if share is None or (value := share.value) is None:
            return None
        return value >= self.bound if self.at_least else value <= self.bound

    @property
    def text(self) -> str:
        """The bound as a reader takes it."""
        return f"{'≥' if self.at_least else '≤'} {self.bound:g}"


SESSIONS = (
    Gate("precision", 0.90),
    Gate("recall", 0.75, published="best 0.74, Mem0 0.43 (HaluMem)"),
    Gate("precision identifier", 0.99),
    Gate("recall identifier", 0.99),
    Gate("precision outcome", 0.99),
    Gate("recall outcome", 0.99),
    Gate("grounding", 1.0),
    Gate("provenance", 0.95),
    Gate("noise", 0.05, at_least=False),
    Gate("scratchpad", 0.0, at_least=False),
    Gate("false-memory resistance", 0.95, published="0.45 to 0.81"),
    Gate("update correct", 0.85, published="best 0.62, Mem0 0.255 (HaluMem)"),
    Gate("stale-active", 0.02, at_least=False),
    Gate("over-invalidation", 0.005, at_least=False, published="0.41 of a production graph"),
    Gate("as-of", 0.98),
    Gate("redundancy", 0.02, at_least=False),
    Gate("invariance", 1.0),
    Gate("compaction", 1.0),
)
AIRLINE = (
    Gate("precision identifier", 0.99),
    Gate("recall identifier", 0.99),
    Gate("precision outcome", 0.99),
    Gate("recall outcome", 0.99),
    Gate("scratchpad", 0.0, at_least=False),
)
COLOURS = (
    Gate("recall", 0.75),
    Gate("update correct", 0.85),
    Gate("stale-active", 0.02, at_least=False),
)
ANSWERS = (Gate("answer in 10 sentences", 0.85, published="BM25 0.806, MiniLM 0.826, both 0.852"),)


def missed(gates: tuple[Gate, ...], shares: Mapping[str, Share]) -> list[str]:
    """Return the gates that are missed, each with what was reached."""
    found: list[str] = []
    for gate in gates:
        share = shares.get(gate.measure)
        if gate.passes(share) is False and share is not None:
            found.append(f"{gate.measure} {share.value:.3f}, to be {gate.text}")
    return found
