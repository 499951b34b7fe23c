"""What a handoff lets the other agent do: checked by its run before it does anything."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from agentjournal.errors import ConstraintViolated
from agentjournal.events import Constraints, Failure, ToolFailure
from agentjournal.handoffs import VIOLATED
from agentjournal.usage import Usage


@dataclass(frozen=True, slots=True)
class Violation:
    """A constraint, what it allows, and what there is or would be."""

    constraint: str
    limit: Any
    value: Any

    @property
    def text(self) -> str:
        return f"{self.constraint} is {self.limit}, and this is {self.value}"

    def failure(self) -> Failure:
        """Return how it stands in the end of a turn, and in the handoff's result."""
        return Failure(type=VIOLATED, message=self.text, code=self.constraint)

    def tool_failure(self) -> ToolFailure:
        """Return how it stands in the end of a call, which the model reads."""
        return ToolFailure(type="denied", message=self.text, code=VIOLATED)

    def error(self, stream: str) -> ConstraintViolated:
        """Return the error for who must stop."""
        return ConstraintViolated(stream, self.constraint, self.limit, self.value)


def broken(constraints: Constraints, usage: Usage, now: datetime) -> Violation | None:
    """Return the constraint under which no more may be done at all."""
    deadline, most = constraints.deadline_at, constraints.max_tokens
    if deadline is not None and datetime.fromisoformat(deadline) <= now:
        return Violation("deadline_at", deadline, now.isoformat())
    if most is not None and usage.tokens >= most:
        return Violation("max_tokens", most, usage.tokens)
    money = constraints.max_cost
    if money is not None:
        spent = usage.cost.get(money.currency, Decimal(0))
        if spent >= Decimal(money.amount):
            return Violation("max_cost", money.amount, f"{spent:f} {money.currency}")
    return None


def refused(
    constraints: Constraints, begun: Collection[str], call_id: str, tool: str
) -> Violation | None:
    """Return the constraint that a call would violate; `begun` are the ids of those before it."""
    tools, most = constraints.tools, constraints.max_tool_calls
    if tools is not None and tool not in tools:
        return Violation("tools", ", ".join(tools) or "none", tool)
    if most is not None and call_id not in begun and len(begun) >= most:
        return Violation("max_tool_calls", most, len(begun) + 1)
    return None
