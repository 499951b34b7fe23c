"""The views of files, artifacts, processes, snapshots and surroundings, on real servers."""

from __future__ import annotations

import pytest

from agentjournal import (
    ArtifactSaved,
    EnvironmentChanged,
    FileChanged,
    ProcessEnded,
    ProcessStarted,
    SnapshotRestored,
    SnapshotTaken,
)
from agentjournal.settings import Settings
from tests.servers import connected
from tests.views import recorded, rows

pytestmark = pytest.mark.stack


async def test_files_are_rows_as_they_are_now_and_as_they_came_about(journal: Settings) -> None:
    async with connected(journal) as log:
        await recorded(
            log,
            FileChanged(path="a", reason="create", after_digest="d-1", diff="+\0one\ud800"),
            FileChanged(path="b", reason="create", after_digest="d-2", artifact="art"),
            FileChanged(path="a", reason="delete", before_digest="d-1", call_id="c"),
        )
        b, a = await rows(journal, "files", log)
        history = await rows(journal, "file_changes", log)
    assert (a["path"], a["deleted"], a["digest"], a["changes"]) == ("a", True, None, 2)
    assert (a["version"], a["reason"]) == (4, "delete")
    assert (b["path"], b["deleted"], b["digest"], b["artifact"]) == ("b", False, "d-2", "art")
    assert [row["path"] for row in history] == ["a", "b", "a"]
    assert [row["diff"] for row in history] == ["+\u2400one\ufffd", None, None]
    assert [row["call_id"] for row in history] == [None, None, "c"]


async def test_artifacts_processes_and_snapshots_are_rows(journal: Settings) -> None:
    async with connected(journal) as log:
        await recorded(
            log,
            ArtifactSaved(
                artifact="art", name="n", media_type="text/plain", size=2**40, digest="d"
            ),
            ProcessStarted(process_id="p", command="serve", cwd="/srv", ports=[80, 443]),
            ProcessStarted(process_id="q", command="x", cwd="/", environment_names=["A"]),
            ProcessEnded(process_id="q", exit_status=-9),
            SnapshotTaken(snapshot_id="s", kind="provider", reference="ref", size=7),
            SnapshotRestored(snapshot_id="s"),
        )
        [artifact] = await rows(journal, "artifacts", log)
        p, q = await rows(journal, "processes", log)
        [snapshot] = await rows(journal, "snapshots", log)
    assert (artifact["artifact"], artifact["size"], artifact["call_id"]) == ("art", 2**40, None)
    assert (p["status"], p["ports"], p["ended_at"]) == ("running", [80, 443], None)
    assert (q["status"], q["exit_status"], q["environment_names"]) == ("ended", -9, ["A"])
    assert q["started_at"] <= q["ended_at"]
    assert (snapshot["kind"], snapshot["artifact"], snapshot["reference"]) == (
        *("provider", None),
        "ref",
    )
    assert (snapshot["restores"], snapshot["restored_version"], snapshot["size"]) == (1, 7, 7)


async def test_what_surrounds_an_agent_is_a_row_a_name(journal: Settings) -> None:
    async with connected(journal) as log:
        await recorded(
            log,
            EnvironmentChanged(cwd="/a", variables={"A": "1", "B\0": "2"}, commit="abc"),
            EnvironmentChanged(cwd="/b", unset=["A"]),
        )
        found = await rows(journal, "environment", log)
    assert {(r["kind"], r["name"]): (r["value"], r["is_set"], r["version"]) for r in found} == {
        ("cwd", None): ("/b", True, 3),
        ("commit", None): ("abc", True, 2),
        ("variable", "A"): (None, False, 3),
        ("variable", "B\u2400"): ("2", True, 2),
    }
