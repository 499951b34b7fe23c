"""limits: those that sessions say themselves, the last of each name, and which were exceeded.

What holds for all sessions of a tenant is configuration, not history: it is in no event.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentjournal.envelope import Recorded
from agentjournal.limits import NAMES
from projections.columns import Apply, folding, session_row
from projections.limits_tables import LIMITS_EXCEEDED, SESSION_LIMITS
from projections.projection import Projection, read_sql
from projections.rows import Changes


def _said(r: Recorded, data: Any, changes: Changes) -> None:
    limits = data.get("limits") or {}
    for name in NAMES:
        if (limit := limits.get(name)) is not None:
            policy, maximum = limit.get("policy") or "warn", float(limit["maximum"])
            changes.add("session_limits", session_row(r, name=name, maximum=maximum, policy=policy))


def _exceeded(r: Recorded, data: Any, changes: Changes) -> None:
    row = session_row(
        r,
        name=data["limit"],
        stream=r.stream,
        value=float(data["value"]),
        maximum=float(data["maximum"]),
        policy=data["policy"],
        recorded_at=r.recorded_at,
    )
    changes.add("limits_exceeded", row)


_APPLY: Mapping[str, Apply] = {
    "session.started": _said,
    "session.updated": _said,
    "limit.exceeded": _exceeded,
}

LIMITS = Projection(
    name="limits",
    tables=(SESSION_LIMITS, LIMITS_EXCEEDED),
    fold=folding(_APPLY),
    kinds=frozenset({"session"}),
    types=dict.fromkeys(_APPLY, 1),
    sql=read_sql("limits.sql"),
    every_event=False,
)
