"""Alarms of the meter: each raised once about a subject, until it is over."""

from __future__ import annotations

from typing import TypeAlias

from agentjournal.alerts import Alert, AlertKind, raised
from agentjournal.envelope import iso_time
from agentjournal.ids import Milliseconds

SOURCE = "meter"
_OVER_BELOW = 0.5  # of the threshold: a figure that swings about it is one alarm, not many

Subject: TypeAlias = tuple[AlertKind, str, str]  # kind, tenant, what it is about


class Alarms:
    """What is raised now, and the alerts that nobody has taken yet."""

    def __init__(self) -> None:
        self._raised: set[Subject] = set()
        self._new: list[Alert] = []

    def level(
        self, subject: Subject, *, text: str, at_ms: int, value: float, threshold: float
    ) -> None:
        """Raise an alarm where a figure is over its threshold; it is over at half of that."""
        if subject in self._raised:
            if value <= threshold * _OVER_BELOW:
                self._raised.discard(subject)
        elif value > threshold:
            self._raised.add(subject)
            self.raise_(subject, text=text, at_ms=at_ms, value=value, threshold=threshold)

    def end(self, subject: Subject) -> None:
        """Let what was raised be over."""
        self._raised.discard(subject)

    def raise_(
        self,
        subject: Subject,
        *,
        text: str,
        at_ms: int,
        value: float,
        threshold: float,
        began: str | None = None,
    ) -> None:
        """Raise an alarm whose beginning the caller tells from others."""
        kind, tenant, about = subject
        self._new.append(
            raised(
                kind,
                tenant=tenant,
                subject=about,
                text=text,
                at=iso_time(Milliseconds(at_ms)),
                source=SOURCE,
                began=began,
                value=round(value, 3),
                threshold=threshold,
            )
        )

    def taken(self) -> list[Alert]:
        """Return the alerts that are new since the last time."""
        new, self._new = self._new, []
        return new
