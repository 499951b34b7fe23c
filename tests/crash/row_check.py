"""What the tables of a projection must hold: its fold over the whole log, in one go."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from agentjournal.envelope import Recorded, parse_record
from agentjournal.ids import Partition
from agentjournal.kafka_ends import KafkaEnds
from agentjournal.partitions import PARTITIONS
from agentjournal.postgres_views import PostgresViews
from agentjournal.settings import Settings
from consumers.roles import PROJECTIONS
from projections.folding import Place, ProjectionFold
from projections.projection import Projection
from projections.rows import Row, Table
from tests.crash.log_check import read_events

_TIMES = ("_at", "_until", "valid_from", "valid_to")
_JSON = {("facts", "value"), ("facts", "evidence"), ("promotions", "refused")}  # stored as such


async def everything_projected(settings: Settings, within_s: float = 30) -> None:
    """Return once every projection has read the whole log."""
    ends, views = KafkaEnds(settings), PostgresViews(settings)
    try:
        for partition in map(Partition, range(PARTITIONS)):
            end = await ends.end_of(partition)
            await views.wait_for_output(partition, end, within_s)
    finally:
        await ends.close()
        await views.close()


async def check_rows(settings: Settings) -> int:
    """Check that every table equals the fold of the log; return how many rows there are."""
    events = {
        partition: [parse_record(s.record, partition, s.position) for s in stored]
        for partition, stored in (await read_events(settings)).items()
    }
    count = 0
    connection = await psycopg.AsyncConnection[dict[str, Any]].connect(
        settings.postgres, row_factory=dict_row
    )
    async with connection:
        for projection in PROJECTIONS:
            wanted = _folded(projection, events)
            for table in projection.tables:
                found = await _stored(connection, projection, table)
                assert found == wanted[table.name], f"{projection.name}: {table.name}"
                count += len(found)
    return count


def _folded(
    projection: Projection, events: Mapping[Partition, Sequence[Recorded]]
) -> dict[str, list[Row]]:
    fold = ProjectionFold(projection)
    for partition, recorded in events.items():
        fold.places[partition] = Place(recorded[0].position if recorded else 0, (-1, -1), "")  # type: ignore[arg-type]
    every = [r for batch in events.values() for r in batch]
    missing = fold.missing(every)
    fold.put(missing, {})
    changes = fold.fold(events).changes
    return {
        table.name: [_comparable(table, row) for row in changes.sorted_rows(table.name)]
        for table in projection.tables
    }


async def _stored(
    connection: psycopg.AsyncConnection[dict[str, Any]], projection: Projection, table: Table
) -> list[Row]:
    name = sql.Identifier("agentjournal_internal", projection.table_name(table))
    cursor = await connection.execute(sql.SQL("SELECT * FROM {}").format(name))
    rows = [_comparable(table, row) for row in await cursor.fetchall()]
    return sorted(rows, key=lambda row: tuple(row[name] for name in table.key))


def _comparable(table: Table, row: Row) -> Row:
    read = {name: _value(name, row.get(name)) for name in table.columns}
    for of_table, name in _JSON:
        if table.name == of_table and isinstance(read[name], str):
            read[name] = _parsed(read[name])
    return read


def _parsed(text: str) -> Any:
    """Return what JSON says; a text that Postgres gave back as a value is none, and stays."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _value(name: str, value: Any) -> Any:
    if isinstance(value, str) and name.endswith(_TIMES) and name != "resume_at":
        value = datetime.fromisoformat(value)
    return value.astimezone(UTC) if isinstance(value, datetime) else value
