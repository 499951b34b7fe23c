"""Results of tools in a log in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from agentjournal.ids import Version
from agentjournal.testing.world import World


class MemoryResults:
    """Results of tools."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def latest(
        self, tenant: str, call: tuple[str, str], max_age_s: float, only_session: str | None
    ) -> tuple[str, Version] | None:
        """Return session and version of the latest result, None when there is none."""
        rows = self._world.cores.rows
        marks = {(m["tenant"], m["session_id"]): m for m in rows("result_marks")}
        rewinds = [r for r in rows("result_rewinds") if r["tenant"] == tenant]
        found = [
            row
            for row in rows("results")
            if row["tenant"] == tenant
            and (row.get("tool"), row.get("arguments_digest")) == call
            and _counts(row, marks.get((tenant, row["session_id"]), {}), rewinds)
            and self._is_young(row["ended_at"], max_age_s)
        ]
        if only_session is not None:
            found = [
                row
                for row in found
                if row["session_id"] == only_session
                and row["started_version"]
                > marks.get((tenant, only_session), {}).get("changed_version", 0)
            ]
        if not found:
            return None
        latest = max(row["ended_at"] for row in found)
        first = min(
            (row for row in found if row["ended_at"] == latest),
            key=lambda row: (row["session_id"], -row["ended_version"]),
        )
        return first["session_id"], Version(first["ended_version"])

    def _is_young(self, ended_at: str, max_age_s: float) -> bool:
        age = self._world.clock.now() - datetime.fromisoformat(ended_at)
        return age.total_seconds() <= max_age_s


def _counts(
    row: Mapping[str, Any], marks: Mapping[str, Any], rewinds: Sequence[Mapping[str, Any]]
) -> bool:
    """Return whether a result may be used again: as the view `results` says."""
    get, started = row.get, row.get("started_version")
    return (
        (get("outcome"), get("effect"), get("is_cached")) == ("completed", "read", False)
        and (get("attempt_tool"), get("attempt_digest")) == (get("tool"), get("arguments_digest"))
        and started is not None
        and started < row["ended_version"]
        and marks.get("deleted_version") is None
        and not any(
            rewind["session_id"] == row["session_id"]
            and rewind["to_version"] < started < rewind["version"]
            for rewind in rewinds
        )
    )
