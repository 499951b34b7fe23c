"""An exported session is read as it was: ids, bytes, order; what is damaged is named by place."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal.artifacts import digest_of
from agentjournal.envelope import build_record, parse_record
from agentjournal.events import (
    CustomEvent,
    Event,
    LeaseAcquired,
    MessageAdded,
    NoteSet,
    SessionExpired,
    SessionStarted,
    ToolCompleted,
)
from agentjournal.ids import stream_id
from agentjournal.offloading import offload
from agentjournal.requests import NewEvent
from commands.export_lines import artifact_line
from importers.formats import read_file
from importers.imported import RECORD, Imported, NotRecognised
from tests.exported import STREAM, exported

SESSION: list[list[Event | NewEvent]] = [
    [SessionStarted(user="u-1", agent="support"), MessageAdded(role="user", content="hi")],
    [MessageAdded(role="assistant", content="hello"), NoteSet(key="k", value=[1, "\0", None])],
    [MessageAdded(role="user", content="bye")],
]


def read(raw: bytes, *, user: str | None = None) -> Imported:
    found = read_file(raw, name="file", source="file.jsonl", user=user)
    assert isinstance(found, Imported), found
    assert found.format == "agentjournal"
    return found


def joined(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def test_events_keep_their_ids_bytes_and_order_and_the_times_at_which_they_were_recorded() -> None:
    lines = exported(*SESSION)
    found = read(joined(lines))
    [session] = found.sessions
    assert (session.session_id, session.native_key) == ("s-1", STREAM)
    expected = [parse_record(line) for line in lines]
    assert [(each.id, each.type, each.data, each.schema_version) for each in session.events] == [
        (each.id, each.type, each.raw_data, each.schema_version) for each in expected
    ]
    assert [each.time for each in session.events] == [each.recorded_at for each in expected]
    report = found.report
    assert (report.records, report.sessions, report.messages) == (5, 1, 3)
    assert (report.left_out, report.notes) == ([], [])


def test_what_an_event_has_beside_its_data_is_kept() -> None:
    given_ = NewEvent("i", "note.deleted", b'{"key":"k"}', 1, "2020-01-01", 7, "c", "d", "t")
    [session] = read(joined(exported([given_]))).sessions
    [event] = session.events
    beside = event.tokens, event.correlation_id, event.causation_id, event.traceparent
    assert beside == (7, "c", "d", "t")


def test_what_an_importer_wrote_keeps_the_time_of_its_source() -> None:
    line = exported([NewEvent("i", "note.deleted", b'{"key":"k"}', 1, "2020-01-01T00:00:00Z")])[0]
    attributes = {**orjson.loads(line), "source": "/acme/import"}
    for name in ("data", "prevhash", "hash"):
        del attributes[name]
    record, _ = build_record(attributes, b'{"key":"k"}', "0" * 64)
    [session] = read(record).sessions
    assert session.events[0].time == "2020-01-01T00:00:00Z"


def test_what_is_true_of_one_log_alone_is_kept_as_a_record_at_its_place() -> None:
    lease = LeaseAcquired(holder="w", fence=2, lease_s=60)
    found = read(joined(exported([SESSION[0][0]], [lease], [SessionExpired(idle_s=60)])))
    [session] = found.sessions
    assert [each.type for each in session.events] == ["session.started", RECORD, RECORD]
    kept = session.events[1].event
    assert isinstance(kept, CustomEvent)
    raw = orjson.loads(session.events[1].data)["raw"]
    assert (raw["type"], raw["schemaversion"], raw["data"]["holder"]) == ("lease.acquired", 1, "w")
    assert session.events[1].id == f"{STREAM}-1-0"
    assert [note.split(": ")[0] for note in found.report.notes] == ["line 2", "line 3"]


def test_several_sessions_in_one_file_are_several_in_any_mixture() -> None:
    other = stream_id("session", "acme", "s/2")
    one, two = exported(*SESSION), exported(*SESSION, stream=other)
    mixed = [line for pair in zip(one, two, strict=True) for line in pair]
    found = read(joined(mixed))
    assert {each.session_id: len(each.events) for each in found.sessions} == {"s-1": 5, "s/2": 5}


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (b"hullo", "is damaged: its hash is that of other"),
        (None, "is no record of a log, or is cut"),
        (b"garbage", "is no record of a log, or is cut"),
        (b"\xff\xfe\0", "is no record of a log, or is cut"),
        (b"[" * 100_000, "is no record of a log, or is cut"),
    ],
)
def test_a_damaged_line_is_named_by_its_place_and_what_is_chained_to_it_is_left_out(
    damage: bytes | None, reason: str
) -> None:
    lines = exported(*SESSION)
    offset = len(joined(lines[:2]))
    if damage == b"hullo":
        lines[2] = lines[2].replace(b"hello", damage)
    else:
        lines[2] = lines[2][:-20] if damage is None else damage
    found = read(joined(lines))
    [session] = found.sessions
    assert len(session.events) == 2
    damaged, behind = found.report.left_out
    assert (damaged.place, damaged.offset, damaged.size) == ("line 3", offset, len(lines[2]))
    assert damaged.reason.startswith(reason)
    assert behind.place == "lines 4 to 5"
    assert "2 records" in behind.reason
    assert "follow its version 3, which is missing or damaged" in behind.reason


def test_a_missing_a_foreign_and_a_repeated_line_are_told_apart() -> None:
    lines = exported(*SESSION)
    [left_out] = read(joined(lines[1:])).report.left_out
    size = sum(map(len, lines[1:]))
    assert (left_out.place, left_out.offset, left_out.size) == ("lines 1 to 4", 0, size)
    assert f"4 records of {STREAM} follow its version 1" in left_out.reason
    assert read(joined(lines[1:])).sessions == []
    again = read(joined([*lines, lines[1]]))
    assert (again.report.repeated, again.report.left_out) == (1, [])
    others = exported([MessageAdded(role="user", content="other")], *SESSION)
    mixed = read(joined([*lines[:1], others[1], others[0]]))
    assert [(each.place, each.reason) for each in mixed.report.left_out] == [
        ("line 2", f"is not chained to version 1 of {STREAM}"),
        ("line 3", "is another record of version 1"),
    ]
    about_user = exported([NoteSet(key="k", value=1)], stream=stream_id("user", "acme", "u-1"))
    [left_out] = read(joined([*lines, *about_user])).report.left_out
    assert left_out.reason == "is of user/acme/u-1: only sessions are imported"


@pytest.mark.parametrize(
    "wrong",
    [
        {"subject": 7},
        {"subject": "session/acme"},
        {"subject": "session/acme/a b"},
        {"type": None},
        {"schemaversion": "1"},
        {"tokens": 2**40},
        {"time": 3},
        {"version": "x"},
        {"dataencoding": "json+aes256gcm"},
    ],
)
def test_a_forged_record_with_a_hash_that_fits_is_left_out(wrong: dict[str, object]) -> None:
    line = exported([NoteSet(key="k", value=1)])[0]
    attributes = {**orjson.loads(line), **wrong}
    for name in ("data", "prevhash", "hash"):
        del attributes[name]
    forged, _ = build_record(attributes, b"{}", "0" * 64)
    found = read(forged)
    assert found.sessions == []
    assert found.report.left_out[0].place == "line 1"


def test_what_left_an_event_comes_with_it_and_is_checked() -> None:
    event = ToolCompleted(call_id="c", output="x" * 100_000, duration_ms=1)
    data, contents = offload(event.encoded())
    [(digest, content)] = contents.items()
    lines = exported([NewEvent("i", event.type, data)])
    found = read(joined([artifact_line(digest, content), *lines]))
    [session] = found.sessions
    assert (session.contents, set(session.needed)) == ({digest: content}, {digest})
    assert (digest_of(content), found.report.records) == (digest, 1)
    [session] = read(joined(lines)).sessions
    assert (session.contents, set(session.needed)) == ({}, {digest})
    wrong = artifact_line(digest, b'"y"')
    [left_out] = read(joined([wrong, *lines])).report.left_out
    assert (left_out.place, left_out.reason) == ("line 1", f"is not the content of {digest}")
    [left_out] = read(joined([b'{"artifact":"x"}', *lines])).report.left_out
    assert left_out.reason == "is no artifact"


def test_line_ends_and_marks_of_other_systems_are_no_damage() -> None:
    lines = exported(*SESSION)
    raw = b"\xef\xbb\xbf" + b"\r\n".join([*lines, b"", b""])
    found = read(raw, user="u-2")
    assert len(found.sessions[0].events) == 5
    assert found.report.notes == ["the file says whose its sessions are, not --user u-2"]


def test_a_file_of_another_kind_is_none_of_ours() -> None:
    found = read_file(b'{"hello": 1}', name="f", source="f.json")
    assert isinstance(found, NotRecognised)
    assert "agentjournal export" in found.reason


@given(st.lists(st.integers(0, 4), max_size=6), st.binary(max_size=40), st.integers(0, 3_000))
def test_whatever_is_done_to_a_file_what_is_read_is_a_beginning_of_the_session(
    order: list[int], garbage: bytes, at: int
) -> None:
    lines = exported(*SESSION)
    raw = joined([lines[place] for place in order])
    raw = raw[:at] + garbage + raw[at:]
    found = read_file(raw, name="f", source="f")
    if isinstance(found, NotRecognised):
        return
    ids = [parse_record(line).id for line in lines]
    for session in found.sessions:
        assert [each.id for each in session.events] == ids[: len(session.events)]


@pytest.mark.parametrize(("version", "notes"), [(1, 1), (99, 0)])
def test_an_event_that_this_release_cannot_read_is_kept_as_it_is(version: int, notes: int) -> None:
    newer = NewEvent("i", "message.added", b'{"new":true}', version)
    found = read(joined(exported([newer])))
    [session] = found.sessions
    assert (session.events[0].data, session.events[0].schema_version) == (b'{"new":true}', version)
    noted = ["line 1: message.added cannot be read here: kept as it is"]
    assert found.report.notes == noted[:notes]
