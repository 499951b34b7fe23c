"""Rebuilding: a new generation beside the live one, compared, and put in its place."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import psycopg
import pytest

import agentjournal as aj
from agentjournal.errors import IntegrityError
from agentjournal.ids import Partition, Position
from agentjournal.log import Log
from agentjournal.settings import Settings
from consumers.filling import Fillers
from consumers.kafka_log_reader import KafkaLogReader
from consumers.postgres_pool import PostgresPool
from consumers.postgres_rebuild import FAULT_POINTS, Rebuild, RebuildRunning, Rebuilt
from consumers.postgres_replaced import drop_replaced
from consumers.rebuilding import Filler
from consumers.roles import PROJECTIONS
from projections import postgres_store as store
from projections.conversation import CONVERSATION
from projections.events import EVENTS_PROJECTION
from projections.projection import Projection
from tests.crash.conversations import write_conversations
from tests.crash.row_check import check_rows, everything_projected
from tests.promoted import facts_of_all, promoted_twice
from tests.servers import projector, query, roles, sequencer

pytestmark = pytest.mark.stack


async def rebuilt(
    settings: Settings,
    projections: Sequence[Projection] = PROJECTIONS,
    *,
    check: bool = False,
    fault: Callable[[str], None] = lambda _: None,
    filler: Filler | None = None,
) -> dict[str, Rebuilt]:
    async with (
        PostgresPool(settings, name="rebuild", size=6) as pool,
        KafkaLogReader(settings, most_records=50) as log,
        asyncio.timeout(60),
    ):
        build = Rebuild(pool, log, fault=fault, filler=filler)
        done = await build.run(projections, check=check)
    return {each.projection: each for each in done}


@asynccontextmanager
async def written(settings: Settings) -> AsyncGenerator[Log]:
    """A log that sequencer and projector work on, with a few conversations in it."""
    async with Log(settings) as log, roles(settings, sequencer, projector):
        await write_conversations(log, "before", 4)
        await everything_projected(settings)
        yield log


async def generations(settings: Settings) -> dict[tuple[str, int], str]:
    rows = await query(
        settings, "SELECT projection, generation, state FROM agentjournal.generations"
    )
    return {(row["projection"], row["generation"]): row["state"] for row in rows}


async def test_what_is_rebuilt_equals_what_was_live_and_goes_on_with_new_events(
    fresh: Settings,
) -> None:
    async with written(fresh) as log:
        memory = log.memory(user="u-7")
        await memory.remember("city", "Rome", cardinality="single")
        forgotten = await memory.remember("city", "Oslo", cardinality="single")
        await memory.forget(forgotten)
        extracting = await promoted_twice(log)
        facts = await memory.history()
        assert [fact.ended_by for fact in facts] == [
            *("superseded", "retracted"),  # the city
            *("superseded", None, "superseded", None),  # food and seat
        ]
        shown = await facts_of_all(fresh)
        done = await rebuilt(fresh)
        assert await memory.history() == facts
        # No extractor is asked, and nothing is appended: the same rows come of the log alone.
        assert (extracting.count, await facts_of_all(fresh)) == (3, shown)
        assert {name: each.differences for name, each in done.items()} == {
            each.name: [] for each in PROJECTIONS
        }
        assert all(each.switched and each.generation == 2 for each in done.values())
        await write_conversations(log, "after", 4)
        await everything_projected(fresh)
        again = await rebuilt(fresh)
        assert all(each.differences == [] for each in again.values())
    assert await check_rows(fresh) > 0
    states = await generations(fresh)
    assert states["events", 3] == "live"
    assert states["events", 2] == states["events", 1] == "replaced"


@dataclass
class Watched:
    """Fills with two processes, and notes what was filled once they have ended."""

    settings: Settings
    cut: bool = False
    least: int = 1
    reached: list[Mapping[Partition, Position]] = field(default_factory=list)

    async def fill(
        self, building: Sequence[Projection], until: Mapping[Partition, Position]
    ) -> None:
        filling = asyncio.create_task(Fillers(self.settings, count=2).fill(building, until))
        if self.cut:
            await asyncio.sleep(0)
            filling.cancel()
        await filling
        assert sum(until.values()) > 0
        async with await psycopg.AsyncConnection.connect(self.settings.postgres) as connection:
            for places in await store.positions(connection, building):
                assert places == until
                self.reached.append(places)


async def test_what_is_a_lot_to_read_is_filled_by_processes_that_share_the_partitions(
    fresh: Settings,
) -> None:
    both = [EVENTS_PROJECTION, CONVERSATION]
    async with written(fresh):
        with pytest.raises(asyncio.CancelledError):
            await rebuilt(fresh, both, filler=Watched(fresh, cut=True))
        watched = Watched(fresh)
        done = await rebuilt(fresh, both, filler=watched)
        assert {name: (each.generation, each.differences) for name, each in done.items()} == {
            "events": (2, []),
            "conversation": (2, []),
        }
        assert len(watched.reached) == len(both)
    assert await check_rows(fresh) > 0


async def test_a_rebuild_under_concurrent_appends_loses_and_doubles_nothing(
    fresh: Settings,
) -> None:
    async def write() -> None:
        for number in range(1_000):
            await write_conversations(log, f"meanwhile-{number}", 2)

    async with written(fresh) as log:
        writing = asyncio.create_task(write())
        done = await rebuilt(fresh)
        await rebuilt(fresh, [CONVERSATION])
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
        assert all(each.differences == [] for each in done.values())
        await write_conversations(log, "after", 2)
        await everything_projected(fresh)
    assert await check_rows(fresh) > 0


async def test_check_names_the_first_row_that_differs_and_changes_nothing(
    fresh: Settings,
) -> None:
    async with written(fresh):
        await query(
            fresh,
            "UPDATE agentjournal_internal.messages_1 SET content = 'forged' "
            "WHERE ctid = (SELECT min(ctid) FROM agentjournal_internal.messages_1)",
        )
        forged = await query(fresh, "SELECT * FROM agentjournal.messages WHERE content = 'forged'")
        done = await rebuilt(fresh, [CONVERSATION], check=True)
        (difference,) = done["conversation"].differences or []
        assert (difference.table, difference.rows, list(difference.columns)) == (
            "messages", 1, ["content"],
        )  # fmt: skip
        assert difference.key == {
            name: forged[0][name] for name in ("tenant", "session_id", "message_id")
        }
        assert not done["conversation"].switched
        assert await query(fresh, "SELECT FROM agentjournal.messages WHERE content = 'forged'")
        assert await generations(fresh) == {(each.name, 1): "live" for each in PROJECTIONS}
        await rebuilt(fresh, [CONVERSATION])
        assert not await query(fresh, "SELECT FROM agentjournal.messages WHERE content = 'forged'")
    assert await check_rows(fresh) > 0


async def test_rows_that_only_one_of_them_has_are_differences(fresh: Settings) -> None:
    async with written(fresh):
        await query(fresh, "DELETE FROM agentjournal_internal.tool_calls_1")
        done = await rebuilt(fresh, [CONVERSATION], check=True)
    (difference,) = done["conversation"].differences or []
    assert (difference.table, difference.only_in) == ("tool_calls", "new")


async def test_what_was_interrupted_goes_on(fresh: Settings) -> None:
    class CutError(Exception):
        pass

    async def cut_at(point: str) -> None:
        def cut(reached: str) -> None:
            if reached == point:
                raise CutError

        with pytest.raises(CutError):
            await rebuilt(fresh, both, fault=cut)

    both = [EVENTS_PROJECTION, CONVERSATION]
    points = [point for point in FAULT_POINTS if point != "switched"]
    async with written(fresh) as log:
        for number, point in enumerate(points, start=2):
            await cut_at(point)
            assert (await generations(fresh))["conversation", number] == "building", point
            await write_conversations(log, point, 2)
            done = await rebuilt(fresh, both)
            assert {name: (each.generation, each.differences) for name, each in done.items()} == {
                "events": (number, []),
                "conversation": (number, []),
            }, point
        await everything_projected(fresh)
    assert await check_rows(fresh) > 0


async def test_readers_never_fail_and_a_long_query_ends(fresh: Settings) -> None:
    """The long one holds the views; the switch waits for it, and readers do not wait for both."""
    seen = 0

    async def read() -> None:
        nonlocal seen
        async with await psycopg.AsyncConnection.connect(
            fresh.postgres, autocommit=True
        ) as connection:
            await connection.execute("SET statement_timeout = '5s'")
            while True:
                for view in ("sessions", "messages", "events"):
                    text = f"SELECT count(*) FROM agentjournal.{view}"
                    row = await (await connection.execute(text.encode())).fetchone()
                    assert row is not None
                    assert row[0] > 0
                seen += 1

    async def long_query(began: asyncio.Event, until: asyncio.Event) -> int:
        async with (
            await psycopg.AsyncConnection.connect(fresh.postgres) as connection,
            connection.cursor(name="long") as cursor,
        ):
            await cursor.execute("SELECT * FROM agentjournal.messages, generate_series(1, 1000)")
            count = len(await cursor.fetchmany(10))
            began.set()
            await until.wait()
            return count + len(await cursor.fetchall())

    async with written(fresh):
        began, until = asyncio.Event(), asyncio.Event()
        expected = await query(fresh, "SELECT count(*) * 1000 AS n FROM agentjournal.messages")
        reading = asyncio.create_task(read())
        asking = asyncio.create_task(long_query(began, until))
        await began.wait()
        tried = 0

        def held(point: str) -> None:
            nonlocal tried
            tried += point == "held"
            if tried == 2:
                until.set()  # it was in the way once

        done = await rebuilt(fresh, [CONVERSATION], fault=held)
        assert done["conversation"].switched
        assert await asking == expected[0]["n"]
        before = seen
        while seen < before + 3:
            assert not reading.done(), reading.result()
            await asyncio.sleep(0.01)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def test_two_at_once_are_refused(fresh: Settings) -> None:
    running: list[BaseException] = []

    async def second() -> None:
        try:
            await rebuilt(fresh, [CONVERSATION])
        except RebuildRunning as error:
            running.append(error)

    tasks: list[asyncio.Task[None]] = []

    def begun(point: str) -> None:
        if point == "begun":
            tasks.append(asyncio.create_task(second()))

    async with written(fresh):
        await rebuilt(fresh, [CONVERSATION], fault=begun)
        await asyncio.gather(*tasks)
    assert len(running) == 1


async def test_old_tables_stay_until_they_are_dropped(fresh: Settings) -> None:
    async with written(fresh):
        await rebuilt(fresh, [CONVERSATION])
        old = "SELECT FROM agentjournal_internal.messages_1_g1"
        assert await query(fresh, old)
        async with PostgresPool(fresh, name="drop", size=1) as pool:
            assert await drop_replaced(pool, PROJECTIONS) == [("conversation", 1)]
            assert await drop_replaced(pool, PROJECTIONS) == []
        with pytest.raises(psycopg.errors.UndefinedTable):
            await query(fresh, old)


async def test_other_code_is_refused_until_its_generation_is_built(fresh: Settings) -> None:
    other = "UPDATE agentjournal_internal.projections SET digest = 'of another release'"
    async with Log(fresh) as log, roles(fresh, sequencer):
        async with roles(fresh, projector):
            await write_conversations(log, "before", 2)
            await everything_projected(fresh)
        await query(fresh, f"{other} WHERE projection = 'conversation'")
        with pytest.raises(ExceptionGroup) as refused:
            async with roles(fresh, projector):
                await asyncio.sleep(30)
        assert "agentjournal rebuild conversation" in str(refused.value.exceptions[0])
        assert isinstance(refused.value.exceptions[0], IntegrityError)
        done = await rebuilt(fresh, [CONVERSATION])
        assert done["conversation"].differences is None
        async with roles(fresh, projector):
            await write_conversations(log, "after", 2)
            await everything_projected(fresh)
    assert await check_rows(fresh) > 0


async def test_a_stream_that_only_the_new_one_stops_at_is_not_switched_to(fresh: Settings) -> None:
    async with Log(fresh) as log, roles(fresh, sequencer, projector):
        receipt = await log.session("s-1").append(aj.MessageAdded(role="user", content="poison"))
        await log.caught_up(receipt)

        poison = "CHECK (content <> 'poison') NOT VALID"

        def begun(point: str) -> None:
            if point == "begun":
                with psycopg.connect(fresh.postgres) as connection:
                    connection.execute(
                        f"ALTER TABLE agentjournal_internal.messages_1_g2 ADD {poison}".encode()
                    )

        with pytest.raises(aj.AgentJournalError, match="session/default/s-1 version 2"):
            await rebuilt(fresh, [CONVERSATION], fault=begun)
        state = await log.session("s-1").load()
    assert [message.text for message in state.messages] == ["poison"]
