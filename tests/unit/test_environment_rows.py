"""The read model `environment`: the rows that files, processes and surroundings come to."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentjournal import (
    ArtifactSaved,
    EnvironmentChanged,
    Event,
    FileChanged,
    ProcessEnded,
    ProcessStarted,
    SnapshotRestored,
    SnapshotTaken,
)
from projections.environment import ENVIRONMENT
from projections.rows import Row
from tests.unit.environment_strategies import events
from tests.unit.folded_rows import at, rows_of


def only(table: str, *events: Event) -> Row:
    [row] = rows_of(ENVIRONMENT, *events)[table]
    return row


def test_a_file_is_as_it_was_changed_last_and_every_change_is_a_row() -> None:
    found = rows_of(
        ENVIRONMENT,
        FileChanged(path="a", reason="create", after_digest="d-1", artifact="art", call_id="c"),
        FileChanged(path="b", reason="create", after_digest="d-2"),
        FileChanged(path="a", reason="delete", before_digest="d-1"),
    )
    a, b = sorted(found["files"], key=lambda row: str(row["path"]))
    assert a == {
        "path": "a",
        "version": 3,
        "reason": "delete",
        "digest": "",
        "artifact": "",
        "changes": 2,
        "changed_at": at(2),
    }
    assert (b["digest"], b["changes"], b["version"]) == ("d-2", 1, 2)
    first, _, last = found["file_changes"]
    assert first == {
        "version": 1,
        "path": "a",
        "reason": "create",
        "after_digest": "d-1",
        "artifact": "art",
        "call_id": "c",
        "changed_at": at(0),
    }
    assert (last["version"], last["reason"], last["before_digest"]) == (3, "delete", "d-1")


@given(st.lists(events, max_size=12))
def test_there_is_a_row_for_every_path_also_for_those_that_look_alike(given: list[Event]) -> None:
    changes: dict[str, list[FileChanged]] = {}
    for each in given:
        if isinstance(each, FileChanged):
            changes.setdefault(each.path, []).append(each)
    found = rows_of(ENVIRONMENT, *given)["files"]
    assert sorted((row["changes"], row["reason"], row["digest"]) for row in found) == sorted(
        (len(of), of[-1].reason, of[-1].after_digest or "") for of in changes.values()
    )


def test_what_was_saved_is_a_row_each_time() -> None:
    saved = ArtifactSaved(
        artifact="art", name="n\0", media_type="text/plain", size=7, digest="d", call_id="c"
    )
    first, second = rows_of(ENVIRONMENT, saved, saved)["artifacts"]
    assert first == {
        "version": 1,
        "artifact": "art",
        "name": "n\u2400",
        "media_type": "text/plain",
        "size": 7,
        "digest": "d",
        "call_id": "c",
        "saved_at": at(0),
    }
    assert second["version"] == 2


def test_a_process_runs_until_its_first_end() -> None:
    started = ProcessStarted(process_id="p", command="serve", cwd="/srv")
    row = only(
        "processes",
        started,
        ProcessEnded(process_id="p"),
        ProcessEnded(process_id="p", exit_status=1),
    )
    assert row == {
        "process_id": "p",
        "version": 1,
        "started_version": 1,
        "started_at": at(0),
        "command": "serve",
        "cwd": "/srv",
        "outcome": "ended",
        "ended_version": 2,
        "ended_at": at(1),
    }
    assert only("processes", started, ProcessEnded(process_id="p", exit_status=-9))[
        "exit_status"
    ] == (-9)


def test_a_snapshot_stays_as_it_was_taken_and_counts_how_often_it_was_used() -> None:
    taken = SnapshotTaken(snapshot_id="s", kind="files", artifact="art", size=7)
    again = SnapshotTaken(snapshot_id="s", kind="provider", reference="ref", size=8)
    assert only("snapshots", taken, again, SnapshotRestored(snapshot_id="s")) == {
        "snapshot_id": "s",
        "version": 1,
        "taken_version": 1,
        "taken_at": at(0),
        "kind": "files",
        "artifact": "art",
        "reference": "",
        "size": 7,
        "restores": 1,
        "restored_version": 3,
        "restored_at": at(2),
    }


def test_what_surrounds_an_agent_is_a_row_a_name() -> None:
    found = rows_of(
        ENVIRONMENT,
        EnvironmentChanged(cwd="/a", variables={"A": "1", "B": "2"}, packages={"A": "1.0"}),
        EnvironmentChanged(branch="main", variables={"A": "3", "C": ""}, unset=["A", "B"]),
    )["environment"]
    rows = {(row["kind"], row["name"]): row for row in found}
    assert {key: (row["value"], row["is_set"], row["version"]) for key, row in rows.items()} == {
        ("cwd", ""): ("/a", True, 1),
        ("branch", ""): ("main", True, 2),
        ("variable", "A"): ("3", True, 2),
        ("variable", "B"): ("", False, 2),
        ("variable", "C"): ("", True, 2),
        ("package", "A"): ("1.0", True, 1),
    }
    assert rows["cwd", ""]["changed_at"] == at(0)
