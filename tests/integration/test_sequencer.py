"""The sequencer on real servers: dead letters, restarts, and requests at the edge of the form."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, RecordsToDelete

from agentjournal import AppendRejected, CustomEvent, Event, Receipt, VersionConflict
from agentjournal.errors import IntegrityError
from agentjournal.ids import Partition, StreamId, stream_id
from agentjournal.kafka_options import client_options
from agentjournal.kafka_producers import abandon_producer, new_producer
from agentjournal.requests import NewEvent, Request, decode_request
from agentjournal.settings import Settings
from tests.servers import connected, eventually, projector, query, roles, sequencer, within
from tests.support import event, message, place_of, request, said, session_in

pytestmark = pytest.mark.stack


async def ask(settings: Settings, *asked: tuple[bytes | None, bytes | None, int]) -> None:
    """Put records into `appends` as any client might: key, value, partition."""
    producer = await new_producer(settings, max_batch_size=2_000_000)
    try:
        for key, value, partition in asked:
            await producer.send_and_wait(
                settings.appends, key=key, value=value, partition=partition
            )
    finally:
        await abandon_producer(producer)


async def dead_letters(settings: Settings, count: int) -> list[tuple[bytes, bytes, dict[str, str]]]:
    """Return the first dead letters: key, value and headers."""
    consumer = AIOKafkaConsumer(**client_options(settings), auto_offset_reset="earliest")
    await consumer.start()
    try:
        consumer.assign([TopicPartition(settings.dead, 0)])
        async with asyncio.timeout(15):
            records: list[Any] = [await consumer.getone() for _ in range(count)]
    finally:
        await consumer.stop()
    return [(r.key, r.value, {name: value.decode() for name, value in r.headers}) for r in records]


def hard_to_compress(seed: int) -> str:
    chance = random.Random(seed)
    return "".join(chr(chance.randint(0x10000, 0x10FFFF)) for _ in range(255))


async def test_what_is_refused_goes_to_the_dead_letters_as_it_came(fresh: Settings) -> None:
    stream = session_in(3)
    elsewhere = request(said("a")).encoded()
    no_message = request(said("a")._replace(data=b"{}")).encoded()
    async with roles(fresh, sequencer), connected(fresh) as log:
        await ask(
            fresh,
            (b"\xff\x00", b"\x00rubbish\xff", 2),
            (stream.encode(), elsewhere, 4),
            (stream.encode(), no_message, 3),
            (None, b"no key", 5),
        )
        await log.session("s").append(message("goes on"))
        letters = await dead_letters(fresh, 4)
    found = {value: (key, headers) for key, value, headers in letters}
    assert found[b"\x00rubbish\xff"] == (
        b"\xff\x00",
        {
            "partition": "2",
            "position": "0",
            "reason": "rejected",
            "path": "key",
            "text": "is not a stream id",
        },
    )
    assert found[elsewhere][1]["path"] == "partition"
    assert found[no_message][0] == stream.encode()
    assert found[no_message][1]["path"].startswith("events[0].data.")
    assert b"no key" in found


async def test_a_conflict_is_answered_and_its_letter_has_both_versions(fresh: Settings) -> None:
    async with roles(fresh, sequencer), connected(fresh) as log:
        session = log.session("s")
        with pytest.raises(VersionConflict):
            await session.append(message("a"), expected_version=5)
        with pytest.raises(AppendRejected):
            await session.append(event_that_only_the_rules_refuse())
        (key, value, headers), (_, _, other) = await dead_letters(fresh, 2)
    assert key == session.stream.encode()
    assert decode_request(value).expected_version == 5
    assert (headers["reason"], other["reason"]) == ("conflict", "rejected")
    assert (headers["expected_version"], headers["actual_version"]) == ("5", "0")


def event_that_only_the_rules_refuse() -> Event:
    return CustomEvent("custom." + "x" * 300, {})


async def test_a_sequencer_that_starts_again_remembers_everything(fresh: Settings) -> None:
    async with connected(fresh) as log:
        session = log.session("s", user="u-7")
        receipts: list[Receipt] = []
        for number in range(3):
            async with roles(fresh, sequencer):
                receipts.append(await session.append(message(f"m{number}"), append_id=f"a{number}"))
                again = await session.append(message("m0"), append_id="a0")
                assert again == receipts[0]._replace(duplicate=True)
        assert [r.first_version for r in receipts] == [2, 3, 4]


async def test_each_of_many_streams_is_saved(fresh: Settings) -> None:
    async with roles(fresh, sequencer), connected(fresh) as log, asyncio.TaskGroup() as group:
        for number in range(600):  # more than a statement takes
            group.create_task(log.session(f"s-{number}").append(message("a")))
    saved = await query(fresh, "SELECT count(*), min(version) FROM agentjournal_internal.heads")
    assert saved == [{"count": 600, "min": 2}]


async def test_heads_that_were_lost_are_built_again_from_the_log(fresh: Settings) -> None:
    async with connected(fresh) as log:
        async with roles(fresh, sequencer):
            handles = [log.session(f"s-{n}", user="u-7") for n in range(20)]
            for handle in handles:
                await handle.append([message("a"), message("b")], append_id="first")
        before = await query(fresh, "SELECT * FROM agentjournal_internal.heads ORDER BY stream")
        assert len(before) == 20
        await query(
            fresh,
            "UPDATE agentjournal_internal.sequencer_checkpoints SET output_digest = 'other'"
            " WHERE next_output > 0",
        )
        await query(fresh, "DELETE FROM agentjournal_internal.heads")
        async with roles(fresh, sequencer):
            for handle in handles:
                again = await handle.append([message("a"), message("b")], append_id="first")
                assert again.duplicate
        after = await query(fresh, "SELECT * FROM agentjournal_internal.heads ORDER BY stream")
        assert after == before


async def test_a_lost_database_is_made_anew_though_the_requests_were_trimmed(
    fresh: Settings,
) -> None:
    async with connected(fresh) as log:
        session = log.session("s", user="u-7")
        async with roles(fresh, sequencer):
            first = await session.append(message("a"), append_id="first")
        await trim(fresh, first.partition, before=first.position + 1)
        await query(
            fresh,
            "UPDATE agentjournal_internal.sequencer_checkpoints SET next_input = 0,"
            " input_digest = '', next_output = 0, output_digest = ''",
        )
        await query(fresh, "DELETE FROM agentjournal_internal.heads")
        async with roles(fresh, sequencer):
            again = await session.append(message("a"), append_id="first")
            assert again == first._replace(duplicate=True)
            second = await session.append(message("b"), expected_version=first.last_version)
            assert second.first_version == first.last_version + 1


async def trim(settings: Settings, partition: Partition, *, before: int) -> None:
    """Let the broker forget the requests before a position, as its retention does."""
    admin = AIOKafkaAdminClient(**client_options(settings))
    await admin.start()
    try:
        tp = TopicPartition(settings.appends, partition)
        await admin.delete_records({tp: RecordsToDelete(before)})
    finally:
        await admin.close()


@pytest.mark.parametrize("column", ["next_input", "input_digest"])
async def test_requests_that_are_not_those_it_knew_stop_it(fresh: Settings, column: str) -> None:
    stream = session_in(3)
    async with roles(fresh, sequencer):
        await ask(fresh, (stream.encode(), request(said("a")).encoded(), 3))
        await saved(fresh, 3, 1)
    wrong = {"next_input": "next_input + 5", "input_digest": "'0123456789abcdef'::bytea"}[column]
    await query(
        fresh,
        f"UPDATE agentjournal_internal.sequencer_checkpoints SET {column} = {wrong}"
        " WHERE partition = 3",
    )
    with pytest.raises(IntegrityError, match="appends, partition 3"):
        await within(sequencer(fresh, asyncio.Event()))


async def test_rules_that_it_does_not_know_stop_it(fresh: Settings) -> None:
    await query(fresh, "UPDATE agentjournal_internal.sequencer_checkpoints SET rules = 2")
    with pytest.raises(IntegrityError, match="rules 2"):
        await within(sequencer(fresh, asyncio.Event()))


async def saved(settings: Settings, partition: int, next_input: int) -> None:
    """Return once the checkpoint of a partition is saved up to `next_input`."""
    async with asyncio.timeout(15):
        while True:
            [row] = await query(
                settings,
                "SELECT next_input FROM agentjournal_internal.sequencer_checkpoints"
                f" WHERE partition = {partition}",
            )
            if row["next_input"] >= next_input:
                return
            await asyncio.sleep(0.02)


def extremes() -> Sequence[tuple[StreamId, Request]]:
    """Return accepted requests that are the largest of their kind."""
    long = "x" * 8_192
    full = NewEvent(long, "custom.x", b"{}", 2**31 - 1, long, 2**31 - 1, long, long, long)
    widest = stream_id("session", hard_to_compress(1)[:85], hard_to_compress(2))
    return [
        (widest, request(event("custom.x"))),
        (
            session_in(1),
            Request(long, [full] * 3, long, 2**53, None, None, long, long, long),
        ),
        (session_in(1), request(*[event("custom.x")._replace(tokens=2**31 - 1)] * 1_000)),
        (session_in(1), request(event("custom.x", text="x" * 899_000))),
    ]


async def test_whatever_is_accepted_can_be_recorded_saved_and_shown(fresh: Settings) -> None:
    positions = dict.fromkeys(map(Partition, range(8)), 0)
    async with roles(fresh, sequencer, projector), connected(fresh, tenant="default") as log:
        for stream, asked in extremes():
            partition = place_of(stream)
            await ask(fresh, (stream.encode(), asked.encoded(), partition))
            positions[partition] += 1
        for partition, count in positions.items():
            await saved(fresh, partition, count)
        assert await query(fresh, "SELECT FROM agentjournal_internal.heads") == [{}] * 2
        session = log.session(session_in(1).split("/")[2])
        assert (await session.load(timeout_s=10)).version == 3 + 1_000 + 1
        found = [recorded async for recorded in session.events()]
        assert [r.tokens for r in found[:4]] == [2**31 - 1] * 4
    async with roles(fresh, projector), connected(fresh, tenant=hard_to_compress(1)[:85]) as log:
        assert (await log.session(hard_to_compress(2)).load()).version == 1


async def test_two_sequencers_share_the_partitions_and_lose_nothing(fresh: Settings) -> None:
    async with roles(fresh, sequencer), connected(fresh) as log:
        handles = [log.session(f"s-{n}") for n in range(16)]
        stop = asyncio.Event()
        versions: dict[str, list[int]] = {handle.id: [] for handle in handles}

        async def write() -> None:
            while not stop.is_set():
                appends = [handle.append(message("x")) for handle in handles]
                for handle, receipt in zip(handles, await asyncio.gather(*appends), strict=True):
                    versions[handle.id].append(receipt.first_version)

        writing = asyncio.create_task(write())
        for _ in range(2):
            async with roles(fresh, sequencer):
                await owners(fresh, 2)
                await longer(versions["s-0"], 4)
            await owners(fresh, 1)
        stop.set()
        await writing
    for found in versions.values():
        assert found == list(range(2, len(found) + 2))


async def longer(versions: list[int], more: int) -> None:
    """Return once there are so many more versions."""
    wanted = len(versions) + more
    await eventually(lambda: len(versions) >= wanted)


async def owners(settings: Settings, count: int) -> None:
    """Return once the partitions have so many owners, all of them one."""
    async with asyncio.timeout(20):
        while True:
            found = await query(
                settings, "SELECT DISTINCT owner FROM agentjournal_internal.sequencer_checkpoints"
            )
            names = {row["owner"] for row in found}
            if len(names) == count and "" not in names:
                return
            await asyncio.sleep(0.05)


async def test_a_partition_without_a_checkpoint_says_what_to_do(fresh: Settings) -> None:
    await query(
        fresh, "DELETE FROM agentjournal_internal.sequencer_checkpoints WHERE partition = 5"
    )
    with pytest.raises(IntegrityError, match="partition 5 has no checkpoint: run"):
        await within(sequencer(fresh, asyncio.Event()))
