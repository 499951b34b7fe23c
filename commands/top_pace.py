"""How often a figure is counted: the longer it takes, the more seldom."""

from __future__ import annotations

from dataclasses import dataclass, field

_SHARE = 20  # of the time that passes, at most one part goes into a figure


@dataclass(slots=True)
class Pace:
    """When each figure is due again, in seconds of one clock."""

    _due_at: dict[str, float] = field(default_factory=dict[str, float])

    def is_due(self, name: str, now: float) -> bool:
        """Return whether to count it now."""
        return now >= self._due_at.get(name, now)

    def took(self, name: str, began: float, ended: float) -> None:
        """Note how long it took."""
        self._due_at[name] = ended + (ended - began) * (_SHARE - 1)
