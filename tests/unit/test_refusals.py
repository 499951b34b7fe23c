"""Letters of refused requests become rows, whatever they hold, each place of the topic once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from agentjournal.ids import Milliseconds, Partition, Position
from consumers.refusals import Letter, Refusals, RefusedRow, row_of
from streams.ports import OutageError
from tests.support import BEGAN_MS, event, request, said

CONFLICT = {
    "partition": b"3",
    "position": b"17",
    "reason": b"conflict",
    "expected_version": b"4",
    "actual_version": b"6",
}


def letter(
    position: int, headers: Mapping[str, bytes], key: bytes = b"session/t/s", value: bytes = b""
) -> Letter:
    return Letter(Position(position), Milliseconds(BEGAN_MS), key, value, headers)


def test_a_conflict_says_who_lost_what_to_which_version() -> None:
    lost = request(said("a"), said("b"), event("note.set"), append_id="x", worker="w-1", agent="a")
    row = row_of(letter(0, CONFLICT, b"session/acme%20inc/s-1", lost.encoded()))
    assert row is not None
    assert (row.partition, row.position, row.reason) == (3, 17, "conflict")
    assert (row.tenant, row.session_id, row.task_id) == ("acme inc", "s-1", None)
    assert (row.expected_version, row.actual_version) == (4, 6)
    assert (row.append_id, row.agent, row.worker) == ("x", "a", "w-1")
    assert (row.types, row.events) == (["message.added", "note.set"], 3)
    assert row.recorded_at.isoformat() == "2026-01-31T12:00:00+00:00"


def test_what_has_no_form_is_a_row_all_the_same() -> None:
    headers = {"partition": b"2", "position": b"0", "reason": b"rejected", "path": b"key"}
    row = row_of(letter(0, headers, b"\xff\0", b"rubbish"))
    assert row is not None
    assert (row.stream, row.tenant, row.session_id) == ("\\xff␀", None, None)
    assert (row.path, row.append_id, row.types, row.bytes) == ("key", None, None, 7)


def test_a_record_that_is_no_letter_is_no_row() -> None:
    assert row_of(letter(0, {})) is None
    assert row_of(letter(0, {**CONFLICT, "position": b"-1"})) is None
    assert row_of(letter(0, {**CONFLICT, "position": b"9" * 30})) is None
    assert row_of(letter(0, {**CONFLICT, "position": b"9" * 5_000})) is None
    assert row_of(letter(0, {**CONFLICT, "partition": str(2**31).encode()})) is None
    timeless = letter(0, CONFLICT)._replace(timestamp_ms=Milliseconds(2**62))
    assert row_of(timeless) is None


@given(st.binary(), st.binary(), st.dictionaries(st.sampled_from([*CONFLICT, "text"]), st.binary()))
def test_any_bytes_are_held_by_postgres(
    key: bytes, value: bytes, headers: Mapping[str, bytes]
) -> None:
    row = row_of(letter(0, {**CONFLICT, **headers}, key, value))
    if row is not None:
        for text in (row.stream, row.reason, row.path, row.said):
            assert "\0" not in (text or "")
            (text or "").encode()


@dataclass
class World:
    """A topic of letters and a table, in memory; Postgres is away at every `outage`-th store."""

    log: list[Letter]
    table: dict[tuple[int, int], RefusedRow] = field(
        default_factory=dict[tuple[int, int], RefusedRow]
    )
    next: Position = Position(0)
    at: Position = Position(0)
    stores: int = 0
    rivals: int = 0  # how often somebody else is faster
    stop: asyncio.Event = field(default_factory=asyncio.Event)

    async def assign(self, places: Mapping[Partition, Position]) -> None:
        self.at = places[Partition(0)]

    async def poll(self, *, timeout_s: float) -> Mapping[Partition, Sequence[Letter]]:
        assert timeout_s > 0
        await asyncio.sleep(0)
        found = self.log[self.at : self.at + 2]
        self.at = Position(self.at + len(found))
        if not found:
            self.stop.set()
        return {Partition(0): found} if found else {}

    async def places(self) -> Mapping[Partition, Position]:
        return {Partition(0): self.next}

    async def store(
        self, partition: Partition, before: Position, after: Position, rows: Sequence[RefusedRow]
    ) -> bool:
        assert partition == 0
        self.stores += 1
        if self.stores % 3 == 0:
            raise OutageError("away")
        if self.rivals and self.stores % 2 == 0:
            self.rivals -= 1
            self._keep(after, rows)
        if before != self.next:
            return False
        self._keep(after, rows)
        return True

    def _keep(self, after: Position, rows: Sequence[RefusedRow]) -> None:
        self.next = after
        for row in rows:
            self.table.setdefault((row.partition, row.position), row)


@given(st.lists(st.integers(0, 5), max_size=12), st.integers(0, 3))
def test_every_request_has_one_row_in_spite_of_repeats_outages_and_rivals(
    positions: list[int], rivals: int
) -> None:
    log = [
        letter(n, {**CONFLICT, "position": str(at).encode(), "actual_version": str(n).encode()})
        for n, at in enumerate(positions)
    ]
    world = World(log, rivals=rivals)
    asyncio.run(Refusals(world, world, pause_s=0).run(world.stop))
    first = {at: n for n, at in reversed(list(enumerate(positions)))}
    assert {at: row.actual_version for (_, at), row in world.table.items()} == first
    assert world.next == len(log)
