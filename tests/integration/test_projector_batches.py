"""Read models in the real database: it never matters how events are cut into batches."""

from __future__ import annotations

from collections.abc import Generator
from datetime import datetime
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from psycopg import sql

from agentjournal import Event, LeaseAcquired, NoteSet, PlanCreated, PlannedStep, SessionStarted
from agentjournal.envelope import Recorded
from agentjournal.errors import IntegrityError
from agentjournal.ids import Position
from consumers.roles import PROJECTIONS
from local.stack import Stack
from projections import postgres_store as store
from projections.folding import Place, ProjectionFold
from projections.projection import Projection
from projections.rows import Row, Table
from tests.database import PARTITION, Database, database_of
from tests.leased import in_order
from tests.support import Stream, event, request, session_in, task_in, typed
from tests.unit import (
    environment_strategies,
    execution_strategies,
    memory_strategies,
    plan_strategies,
)
from tests.unit.conversation_strategies import (
    each_message_once,
    events,
    model_calls,
    odd_messages,
)
from tests.unit.event_strategies import fields_of
from tests.unit.facts_strategies import USER

pytestmark = pytest.mark.stack

STREAMS = [session_in(3, 0), session_in(3, 1), task_in(3)]
FAMILIES = [
    events | model_calls | odd_messages,
    plan_strategies.events,
    memory_strategies.events,
    execution_strategies.events,
    environment_strategies.events,
]


@pytest.fixture(scope="module")
def database(stack: Stack) -> Generator[Database]:
    with database_of(stack) as opened:
        yield opened


@st.composite
def logs(draw: st.DrawFn) -> list[Recorded]:
    """Return the events of three streams as they stand in their partition, some repeated."""
    writers = [Stream(stream) for stream in STREAMS]
    given = draw(st.sampled_from(FAMILIES).flatmap(lambda family: st.lists(family, max_size=12)))
    written: list[Recorded] = []
    made: list[Event] = [SessionStarted(user="u-7", agent="a"), *each_message_once(given)]
    position = 0  # of the next request in their partition
    for each in made:
        writer = draw(st.sampled_from(writers)) if position else writers[0]
        writer.position = position
        asked = typed(each)._replace(tokens=draw(st.none() | st.integers(0, 5)))
        before = len(writer.records)
        writer.ask(in_order(writer, asked, leased=draw(st.booleans())))
        position = writer.position
        written += writer.recorded[before:]
        written += draw(st.sampled_from([[], [], written[-2:]]))
    return [each._replace(position=Position(at)) for at, each in enumerate(written)]


@settings(max_examples=30)
@given(st.data())
def test_batch_size_never_matters(database: Database, data: st.DataObject) -> None:
    log = data.draw(logs())
    batches: list[list[Recorded]] = []
    rest = log
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        batches.append(rest[:size])
        rest = rest[size:]
    one_by_one = database.stored([[each] for each in log])
    assert database.stored(batches) == one_by_one
    assert one_by_one["events"]


def comparable(table: Table, row: Row) -> Row:
    """Return a row of Python as Postgres gives it back."""
    full = {name: row.get(name) for name in table.columns}
    for name, value in full.items():
        if isinstance(value, str) and name.endswith("_at") and name != "resume_at":
            full[name] = datetime.fromisoformat(value)
    return full


@settings(max_examples=30)
@given(logs())
def test_rows_merged_in_python_are_rows_merged_by_the_database(
    database: Database, log: list[Recorded]
) -> None:
    found = database.stored([[each] for each in log])
    for projection in PROJECTIONS:
        fold = ProjectionFold(projection)
        fold.places[PARTITION] = Place(Position(0), (-1, -1), "")
        fold.put(fold.missing(log), {})
        changes = fold.fold({PARTITION: log}).changes
        for table in projection.tables:
            expected = [comparable(table, row) for row in changes.sorted_rows(table.name)]
            key = {name: [row[name] for row in found[table.name]] for name in table.key}
            assert key == {name: [row[name] for row in expected] for name in table.key}
            # What the database works out of a row by itself is no column of the projection.
            kept = [{name: row[name] for name in table.columns} for row in found[table.name]]
            assert kept == expected


def test_a_task_has_rows_of_its_own(database: Database) -> None:
    task = Stream(STREAMS[2])
    step = PlannedStep(step_id="s", title="x", arguments={"a": 1})
    for made in (
        PlanCreated(plan_id="p", goal="g", steps=[step]),
        NoteSet(key="k", value=[1]),
        LeaseAcquired(holder="w", fence=3, lease_s=1),
    ):
        task.accept(request(typed(made)))
    log = [e._replace(position=Position(at)) for at, e in enumerate(task.recorded)]

    async def shown() -> list[tuple[Any, ...]]:
        for projection in PROJECTIONS:
            await database.store(projection, log)
        cursor = await database.connection.execute(
            "SELECT task_id, session_id, version, arguments, in_plan FROM agentjournal.steps"
            " UNION ALL SELECT task_id, session_id, version, value, deleted FROM agentjournal.notes"
            " UNION ALL SELECT task_id, session_id, version, NULL, NULL FROM agentjournal.leases"
            " ORDER BY version"
        )
        return await cursor.fetchall()

    task_id = task.stream.split("/")[2]
    assert database.run(shown()) == [
        (task_id, None, 1, {"a": 1}, True),
        (task_id, None, 2, [1], False),
        (task_id, None, 3, None, None),
    ]


def test_whole_and_broken_numbers_are_stored_together(database: Database) -> None:
    stream = Stream(STREAMS[0])
    for number, duration_ms in enumerate((7, 0.5)):
        called = {"provider": "p", "request_model": "m", "input_tokens": 1, "output_tokens": 1}
        named = {"model_call_id": f"mc-{number}", "status": "completed", "attempt": 1}
        stream.accept(request(event("model.called", duration_ms=duration_ms, **called, **named)))
        ended = {"call_id": f"c-{number}", "attempt": 1, "output": "x"}
        stream.accept(request(event("tool.completed", duration_ms=duration_ms, **ended)))
    log = [e._replace(position=Position(at)) for at, e in enumerate(stream.recorded)]
    found = database.stored([log])
    for table in ("model_calls", "tool_calls"):
        assert [row["duration_ms"] for row in found[table]] == [7, 0.5]


FACTS = {"fact.learned", "fact.retracted"}  # are not of sessions
_TYPES = sorted(
    {event_type for projection in PROJECTIONS for event_type in projection.types}
    - {"session.started", "session.deleted"}  # the first is there, and after the last nothing is
    - FACTS
)


LARGEST = {"call_id": "c", "attempt": 2**63 - 1, "output": "", "duration_ms": 0}


@settings(max_examples=100)
@example([("tool.completed", LARGEST)])
@given(
    st.lists(
        st.sampled_from(_TYPES).flatmap(lambda t: st.tuples(st.just(t), fields_of(t))), max_size=3
    )
)
def test_whatever_an_event_holds_it_is_stored_and_every_view_shows_it(
    database: Database, given: list[tuple[str, dict[str, Any]]]
) -> None:
    stream = Stream(STREAMS[0])
    stream.accept(request(typed(SessionStarted(agent="a"))))
    for event_type, fields in given:
        asked = in_order(stream, event(event_type, **fields))
        if event_type == "session.expired":  # which is refused of a session that was not idle
            idle = 0 if stream.head is None else stream.head.version
            stream.ask(asked._replace(expected_version=idle))
        else:
            stream.accept(asked)
    database.run(shown_in_every_view(database, stream))


async def shown_in_every_view(database: Database, stream: Stream) -> None:
    log = [e._replace(position=Position(at)) for at, e in enumerate(stream.recorded)]
    for projection in PROJECTIONS:
        await database.store(projection, log)
    cursor = await database.connection.execute(
        "SELECT table_name FROM information_schema.views WHERE table_schema = 'agentjournal'"
    )
    for (view,) in await cursor.fetchall():
        everything = sql.SQL("SELECT * FROM {}").format(sql.Identifier("agentjournal", view))
        await (await database.connection.execute(everything)).fetchall()


@settings(max_examples=30)
@given(
    st.lists(
        st.sampled_from(sorted(FACTS)).flatmap(lambda t: st.tuples(st.just(t), fields_of(t))),
        max_size=3,
    )
)
def test_whatever_a_fact_holds_it_is_stored_and_every_view_shows_it(
    database: Database, given: list[tuple[str, dict[str, Any]]]
) -> None:
    stream = Stream(USER)
    for event_type, fields in given:
        stream.accept(request(event(event_type, **fields)))
    database.run(shown_in_every_view(database, stream))


def test_a_projector_that_is_behind_changes_nothing(database: Database) -> None:
    stream = Stream(STREAMS[0])
    for made in (typed(SessionStarted(agent="a")), event("custom.x"), event("custom.y")):
        stream.accept(request(made))
    log = [e._replace(position=Position(at)) for at, e in enumerate(stream.recorded)]

    async def overtaken(projection: Projection) -> None:
        connection = database.connection
        slow = ProjectionFold(projection)
        await store.load_places(connection, slow, [PARTITION])
        await database.store(projection, log[:2])
        slow.put(slow.missing(log), {})
        before, folded = dict(slow.places), slow.fold({PARTITION: log})
        rows = [await database.rows(projection, table) for table in projection.tables]
        with pytest.raises(store.PlaceLostError) as lost:
            async with connection.transaction():
                await store.write(connection, projection, before, folded)
        assert lost.value.partitions == {PARTITION}
        assert [await database.rows(projection, table) for table in projection.tables] == rows
        with pytest.raises(store.PlaceLostError):
            await store.hold_places(connection, projection, before)

    for projection in PROJECTIONS:
        database.run(overtaken(projection))


def test_a_generation_that_was_built_by_other_code_is_refused(database: Database) -> None:
    async def registered(projection: Projection) -> None:
        connection = database.connection
        await store.register(connection, projection)
        await store.register(connection, projection)
        await connection.execute("UPDATE agentjournal_internal.projections SET digest = 'other'")
        with pytest.raises(IntegrityError, match="agentjournal rebuild"):
            await store.register(connection, projection)

    for projection in PROJECTIONS:
        database.run(registered(projection))
