"""What a session's models and tools have used, as its events say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any

from agentjournal.events import ModelCalled
from agentjournal.stored import Foldable

if TYPE_CHECKING:
    from agentjournal.state import SessionState

_EXACT = Context(prec=100)  # amounts have 30 digits before and after the point at most


@dataclass(frozen=True, slots=True)
class Usage:
    """Sums over the calls of models, whatever came of them; costs by currency."""

    model_calls: int = 0
    input_tokens: int = 0  # cached ones included
    output_tokens: int = 0
    cost: Mapping[str, Decimal] = field(default_factory=dict[str, Decimal])

    @property
    def tokens(self) -> int:
        """Input and output."""
        return self.input_tokens + self.output_tokens


def model_called(state: SessionState, event: ModelCalled, _: Foldable) -> None:
    """Add a call of a model."""
    used = state.usage
    cost = used.cost
    if event.cost is not None:
        currency = event.cost.currency
        before = cost.get(currency, Decimal(0))
        cost = {**cost, currency: _EXACT.add(before, Decimal(event.cost.amount))}
    state.usage = Usage(
        used.model_calls + 1,
        used.input_tokens + event.input_tokens,
        used.output_tokens + event.output_tokens,
        cost,
    )


def usage_of(state: SessionState) -> dict[str, Any]:
    """Return what a session has used, as it stands in the result of a handoff."""
    used = state.usage
    return {
        "model_calls": used.model_calls,
        "tool_calls": sum(1 for call in state.calls.values() if call.started_version),
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
        "cost": {currency: f"{amount:f}" for currency, amount in sorted(used.cost.items())},
    }
