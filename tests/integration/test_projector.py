"""The projector on real servers: what it does with what it cannot store, and with half a log."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import pytest

from agentjournal import (
    AppendRejected,
    ApprovalExpired,
    CheckpointSaved,
    EnvironmentChanged,
    Event,
    FileChanged,
    HandoffAccepted,
    InputRequested,
    IntegrityError,
    MessageAdded,
    ModelCalled,
    NotCaughtUp,
    NoteSet,
    PlanCreated,
    PlannedStep,
    ProcessEnded,
    SnapshotRestored,
    StreamParked,
)
from agentjournal.envelope import parse_record
from agentjournal.ids import MAX_STREAM_BYTES, Partition, Position, StreamId
from agentjournal.settings import Settings
from consumers.kafka_events import KafkaEvents
from consumers.projector import ProjectorOptions, TooManyParkedError
from consumers.roles import run_projector
from streams.ports import Bounds
from tests.crash.row_check import check_rows, everything_projected
from tests.servers import connected, inside, projector, query, roles, sequencer, within
from tests.support import Stream, message, request, said, session_in

pytestmark = pytest.mark.stack


@asynccontextmanager
async def written(settings: Settings, log: Sequence[bytes]) -> AsyncGenerator[None]:
    """Put canonical records into partition 3 of the log, whoever would have decided them."""
    async with KafkaEvents(settings) as events:
        pairs = [(parse_record(record).stream.encode(), record) for record in log]
        await events.write({Partition(3): pairs})
        yield


POISON = (
    "ALTER TABLE agentjournal_internal.messages_1 ADD CONSTRAINT no_poison"
    " CHECK (content <> 'poison')"
)


async def test_a_row_that_postgres_refuses_parks_its_stream_and_no_other(fresh: Settings) -> None:
    await query(fresh, POISON)
    async with roles(fresh, sequencer, projector), connected(fresh) as log:
        same_partition = [StreamId(session_in(3, n, log.settings.tenant)) for n in range(3)]
        one, two, three = (log.session(stream.split("/")[2]) for stream in same_partition)
        await one.append(message("before"))
        await two.append([message("a"), message("b")])
        poisoned = await one.append([message("first"), message("poison"), message("behind")])
        await one.append(message("later"))
        after = await two.append(message("c"))
        await log.caught_up(after)
        assert [m.text for m in (await two.load()).messages] == ["a", "b", "c"]
        await log.caught_up(await three.append(message("new")))
        assert (await three.load()).version == 2
        with pytest.raises(StreamParked) as parked:
            await log.caught_up(poisoned)
        place = poisoned.first_version + 1
        assert (parked.value.projection, parked.value.version) == ("conversation", place)
        # The events are all there: who reads nothing else is not stopped.
        for looking in (one, log.session(one.id)):
            texts = [m.text for m in (await looking.load()).messages]
            assert texts == ["before", "first", "poison", "behind", "later"]
        assert len((await one.window()).messages) == 5
        found = await query(fresh, "SELECT stream, version, error FROM agentjournal.parked")
        assert [(row["stream"], row["version"]) for row in found] == [(one.stream, place)]
        assert "no_poison" in found[0]["error"]
        shown = await query(fresh, "SELECT session_id, content FROM agentjournal.messages")
        mine = [row["content"] for row in shown if row["session_id"] == one.id]
        assert sorted(mine) == ["before", "first"]
        # What is parked in one read model goes on in the others.
        [stored] = await query(
            fresh, f"SELECT count(*) FROM agentjournal.events WHERE stream = '{one.stream}'"
        )
        assert stored["count"] == 6


async def test_a_long_backlog_behind_a_poisoned_row_is_worked_off(fresh: Settings) -> None:
    await query(fresh, POISON)
    async with roles(fresh, sequencer), connected(fresh) as log:
        await log.session("poisoned").append(message("poison"))
        batch: list[Event] = [message(str(n)) for n in range(900)]
        large = [log.session(f"s-{n}").append(batch) for n in range(6)]
        many = [log.session(f"t-{n}").append(message("x")) for n in range(60)]
        receipts = await asyncio.gather(*large, *many)
        async with roles(fresh, projector):
            for receipt in receipts:
                await log.caught_up(receipt, timeout_s=20)
    [found] = await query(fresh, "SELECT count(*) FROM agentjournal.sessions")
    assert found["count"] == 67
    assert len(await query(fresh, "SELECT FROM agentjournal.parked")) == 1


async def test_a_sum_that_no_column_holds_is_poison_too(fresh: Settings) -> None:
    huge = ModelCalled(
        model_call_id="mc",
        provider="p",
        request_model="m",
        input_tokens=2**63 - 1,
        output_tokens=0,
        duration_ms=1,
        status="completed",
    )
    async with roles(fresh, sequencer, projector), connected(fresh) as log:
        session = log.session("s")
        await log.caught_up(await session.append(huge))
        second = await session.append(huge.model_copy(update={"model_call_id": "mc-2"}))
        with pytest.raises(StreamParked):
            await log.caught_up(second)
        await log.caught_up(await log.session("t").append(message("x")))


async def test_the_longest_ids_there_can_be_are_held_by_every_index(fresh: Settings) -> None:
    def hard_to_compress(characters: int) -> str:
        chances = random.Random(characters)
        return "".join(chr(chances.randint(0x10000, 0x10FFFF)) for _ in range(characters))

    # Percent-encoded, 12 bytes a character: as long as a stream may be, to the last character.
    async with (
        roles(fresh, sequencer, projector),
        connected(fresh, tenant=hard_to_compress(200)) as log,
    ):
        room = (MAX_STREAM_BYTES - len("session//")) // 12 - 200
        session = log.session(hard_to_compress(room))
        with pytest.raises(AppendRejected):
            log.session(hard_to_compress(room + 1))
        named = hard_to_compress(255)
        said = MessageAdded(role="user", content="x", message_id=named)
        await session.append(said)
        step = PlannedStep(step_id=named, title="x")
        others: list[Event] = [
            PlanCreated(plan_id=named, goal="x", steps=[step]),
            CheckpointSaved(checkpoint_id=named, schema_version=1, state=1),
            NoteSet(key=named, value=1),
            HandoffAccepted(handoff_id=named),
            ApprovalExpired(approval_id=named),
            InputRequested(input_id=named, question="x"),
            FileChanged(path=named * 100, reason="edit"),
            ProcessEnded(process_id=named),
            SnapshotRestored(snapshot_id=named),
            EnvironmentChanged(variables={named * 100: "x"}),
        ]
        await log.caught_up(await session.append(others))
        assert (await session.load()).messages[0].message_id == named
        assert await query(fresh, "SELECT FROM agentjournal.parked") == []


async def test_a_read_model_that_was_added_later_reads_the_log_from_its_beginning(
    fresh: Settings,
) -> None:
    async with roles(fresh, sequencer), connected(fresh) as log:
        async with roles(fresh, projector):
            session = log.session("s")
            await session.append([message("a"), NoteSet(key="k", value=1)])
            await log.caught_up(await session.append(FileChanged(path="p", reason="edit")))
        for table in ("notes_1", "files_1", "file_changes_1"):
            await query(fresh, f"DELETE FROM agentjournal_internal.{table}")
        await query(
            fresh,
            "UPDATE agentjournal_internal.projection_checkpoints SET next_position = 0,"
            " input_position = -1, batch_index = -1, record_hash = ''"
            " WHERE projection NOT IN ('events', 'conversation')",
        )
        last = await session.append([message("b"), NoteSet(key="k", value=2)])
        async with roles(fresh, projector):
            await log.caught_up(last)
            await everything_projected(fresh)
            assert await check_rows(fresh) > 0
        [note] = await query(fresh, "SELECT version, value FROM agentjournal.notes")
        [file] = await query(fresh, "SELECT changes FROM agentjournal.files")
    assert (note, file) == ({"version": last.last_version, "value": 2}, {"changes": 1})


async def test_too_many_parked_streams_stop_the_projector(fresh: Settings) -> None:
    await query(fresh, POISON)
    async with roles(fresh, sequencer), connected(fresh) as log:
        for number in range(4):
            await log.session(f"s-{number}").append(message("poison"))
        options = ProjectorOptions(poll_s=0.02, heartbeat_s=0.2, most_parked=2)
        running = run_projector(fresh, asyncio.Event(), options=options)
        with pytest.raises(TooManyParkedError, match="conversation: more than 2 streams parked"):
            await within(running)


async def test_half_an_append_is_not_shown_until_it_is_whole(fresh: Settings) -> None:
    stream = Stream(session_in(3))
    stream.accept(request(said("a")))
    stream.accept(request(*[said(text) for text in "bcd"]))
    count = "SELECT version FROM agentjournal.streams"
    async with roles(fresh, projector), connected(fresh) as log:
        views = inside(log).views
        async with written(fresh, stream.records[:3]):
            await views.wait_for_output(Partition(3), Position(1), 10)
            with pytest.raises(NotCaughtUp):
                await views.wait_for_output(Partition(3), Position(2), 0.5)
            assert await query(fresh, count) == [{"version": 1}]
        async with written(fresh, stream.records[3:]):
            await views.wait_for_output(Partition(3), Position(4), 10)
            assert await query(fresh, count) == [{"version": 4}]


async def test_repeats_at_the_end_of_the_log_do_not_hold_up_a_reader(fresh: Settings) -> None:
    stream = Stream(session_in(3))
    stream.accept(request(said("a"), said("b")))
    stream.accept(request(said("c")))
    log_with_repeats = [*stream.records, *stream.records[1:]]
    async with (
        roles(fresh, projector),
        written(fresh, log_with_repeats),
        connected(fresh, tenant="default") as log,
    ):
        state = await log.session(stream.stream.split("/")[2]).load(timeout_s=10)
    assert [m.text for m in state.messages] == ["a", "b", "c"]


async def test_a_gap_parks_its_stream(fresh: Settings) -> None:
    stream, other = Stream(session_in(3, 0)), Stream(session_in(3, 1))
    for text in "abc":
        stream.accept(request(said(text)))
    other.position = 9
    other.accept(request(said("x")))
    async with roles(fresh, projector), connected(fresh, tenant="default") as log:
        async with written(fresh, [stream.records[0], stream.records[2], *other.records]):
            await inside(log).views.wait_for_output(Partition(3), Position(3), 10)
        found = await query(fresh, "SELECT projection, version, error FROM agentjournal.parked")
        assert {(row["projection"], row["version"]) for row in found} == {
            ("events", 3),
            ("conversation", 3),
        }
        assert {row["error"] for row in found} == {
            "version 3 came after 1: events are missing between"
        }
        with pytest.raises(StreamParked):
            await log.session(stream.stream.split("/")[2]).load()
        assert (await log.session(other.stream.split("/")[2]).load()).version == 1


@pytest.mark.parametrize("fault", ["fork", "hash"])
async def test_a_fork_or_a_changed_record_stops_the_projector(fresh: Settings, fault: str) -> None:
    stream, twin = Stream(session_in(3)), Stream(session_in(3))
    stream.accept(request(said("a")))
    twin.position = 5
    twin.accept(request(said("b")))
    wrong = twin.records[0] if fault == "fork" else stream.records[0].replace(b'"a"', b'"b"')

    async with KafkaEvents(fresh) as events:
        pairs = [(stream.stream.encode(), each) for each in (stream.records[0], wrong)]
        await events.write({Partition(3): pairs})
        assert await events.bounds(Partition(3)) == Bounds(Position(0), Position(2))
    with pytest.raises(IntegrityError):
        await within(projector(fresh, asyncio.Event()))
