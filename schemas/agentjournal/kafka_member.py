"""A member of a Kafka consumer group that reads the log of events."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import (
    CommitFailedError,
    IllegalStateError,
    KafkaError,
    RebalanceInProgressError,
)
from aiokafka.structs import OffsetAndMetadata

from agentjournal.envelope import Recorded, parse_record
from agentjournal.errors import IntegrityError, Unavailable
from agentjournal.ids import Partition, Position, StreamId
from agentjournal.kafka_consumers import start_consumer, stop_consumer
from agentjournal.kafka_options import client_options
from agentjournal.settings import Settings
from agentjournal.subscriptions import MOST_RECORDS, NO_ORDER, Joining, Place, Shares

_FETCH_BYTES = 2_200_000  # a partition; above the largest record
_SILENCE_S = 30.0  # without a record that the broker says it has
_SESSION_MS = 10_000  # after which a member that says nothing is taken for dead


class KafkaMember(ConsumerRebalanceListener):  # type: ignore[misc]  # aiokafka has no types
    """Reads its share of the partitions, and tells `shares` when it changes."""

    def __init__(self, settings: Settings, joining: Joining, shares: Shares) -> None:
        self._settings, self._joining, self._shares = settings, joining, shares
        self._consumer = AIOKafkaConsumer(
            **client_options(settings),
            group_id=joining.group,
            group_instance_id=joining.member,
            enable_auto_commit=False,
            auto_offset_reset=joining.start,  # places are always sought: it decides nothing
            fetch_min_bytes=1,
            session_timeout_ms=_SESSION_MS,
            max_partition_fetch_bytes=_FETCH_BYTES,
        )
        self._held: set[Partition] = set()
        self._is_settled = False
        self._trouble: Exception | None = None

    async def start(self) -> None:
        """Join the group. Raises Unavailable when there is no broker, or no topic."""
        await start_consumer(self._consumer, self._settings.events)
        self._consumer.subscribe([self._settings.events], listener=self)

    async def poll(
        self, timeout_s: float, most: int = MOST_RECORDS
    ) -> Mapping[Partition, Iterable[Recorded]]:
        """Return what comes next; see `Member`."""
        if self._trouble is not None:
            raise self._trouble
        try:
            polled = await self._consumer.getmany(
                timeout_ms=int(timeout_s * 1_000), max_records=most
            )
        except (KafkaError, OSError) as error:
            raise Unavailable("Kafka", error) from error
        if not self._is_settled:
            return {}  # it is read again from where the new owner, or this one, begins
        return {Partition(tp.partition): _parsed(records) for tp, records in polled.items()}

    async def commit(self, places: Mapping[Partition, Place]) -> None:
        """Keep how far the group is. Raises Unavailable."""
        offsets = {
            self._tp(partition): OffsetAndMetadata(place.position, _written(place.order))
            for partition, place in places.items()
            if partition in self._held
        }
        if not offsets:
            return
        try:
            await self._consumer.commit(offsets)
        except (CommitFailedError, IllegalStateError, RebalanceInProgressError):
            pass  # the partitions go to another member of the group: it reads these events again
        except (KafkaError, OSError) as error:
            raise Unavailable("Kafka", error) from error

    def pause(self, partition: Partition) -> None:
        """Return nothing more of a partition, until `resume`."""
        if partition in self._held:
            self._consumer.pause(self._tp(partition))

    def resume(self, partition: Partition) -> None:
        """Return what comes of a partition again."""
        if partition in self._held and self._is_settled:
            self._consumer.resume(self._tp(partition))

    async def read(
        self, partition: Partition, start: Position, end: Position, stream: StreamId
    ) -> AsyncGenerator[Recorded]:
        """Yield the events of a stream in a part of the log. Raises Unavailable."""
        tp, key = self._tp(partition), stream.encode()
        consumer = AIOKafkaConsumer(
            **client_options(self._settings),
            auto_offset_reset="none",
            enable_auto_commit=False,
            max_partition_fetch_bytes=_FETCH_BYTES,
        )
        try:
            await consumer.start()
            consumer.assign([tp])
            consumer.seek(tp, start)
            while await consumer.position(tp) < end:
                polled = await consumer.getmany(
                    tp, timeout_ms=int(_SILENCE_S * 1_000), max_records=MOST_RECORDS
                )
                if not polled:
                    raise Unavailable("Kafka", f"nothing of {tp.topic} came for {_SILENCE_S:g} s")
                for record in polled.get(tp, ()):
                    if record.key == key and record.offset < end:
                        yield _recorded(record)
        except (KafkaError, OSError) as error:
            raise Unavailable("Kafka", error) from error
        finally:
            await stop_consumer(consumer)

    async def leave(self) -> None:
        """Commit what was handled, and leave the group."""
        try:
            if self._held:
                await self.on_partitions_revoked([self._tp(each) for each in self._held])
        finally:
            await stop_consumer(self._consumer)

    async def on_partitions_revoked(  # pyright: ignore[reportIncompatibleMethodOverride] - may be
        self, revoked: Iterable[TopicPartition]
    ) -> None:
        """Finish what is being handled; it can still be committed."""
        self._is_settled = False
        try:
            await self._shares.lost([Partition(tp.partition) for tp in revoked])
        except Exception as error:  # noqa: BLE001 - the consumer would only log it
            self._trouble = self._trouble or error
        self._held.clear()

    async def on_partitions_assigned(  # pyright: ignore[reportIncompatibleMethodOverride] - may be
        self, assigned: Iterable[TopicPartition]
    ) -> None:
        """Begin where the group is, or where a new one is to begin."""
        tps = list(assigned)
        try:
            places = await self._places(tps)
            await self._shares.taken(places)
        except (KafkaError, OSError) as error:
            self._trouble = self._trouble or Unavailable("Kafka", error)
        except Exception as error:  # noqa: BLE001 - the consumer would only log it
            self._trouble = self._trouble or error
        else:
            # What was fetched meanwhile is fetched again: nobody has seen it.
            for partition, place in places.items():
                self._consumer.seek(self._tp(partition), place.position)
            self._held, self._is_settled = set(places), True

    async def _places(self, tps: list[TopicPartition]) -> dict[Partition, Place]:
        """Raises IntegrityError when the log does not hold what a place names."""
        if not tps:
            return {}
        starts = await self._consumer.beginning_offsets(tps)
        ends = await self._consumer.end_offsets(tps)
        kept = await group_places(self._settings, self._joining.group)
        begin = starts if self._joining.start == "earliest" else ends
        places: dict[Partition, Place] = {}
        for tp in tps:
            partition = Partition(tp.partition)
            place = places[partition] = kept.get(partition, Place(Position(begin[tp])))
            if not starts[tp] <= place.position <= ends[tp]:
                raise IntegrityError(
                    f"group {self._joining.group} goes on at position {place.position} of partition"
                    f" {partition} of {tp.topic}, which holds {starts[tp]} to {ends[tp]}: the log "
                    "was trimmed or replaced; nothing is skipped until the group's offsets are set"
                )
        # A new group has its place before its first event comes, which else might be skipped.
        self._held = set(places)
        await self.commit({each: place for each, place in places.items() if each not in kept})
        return places

    def _tp(self, partition: Partition) -> TopicPartition:
        return TopicPartition(self._settings.events, partition)


async def group_places(settings: Settings, group: str) -> dict[Partition, Place]:
    """Return how far a group is, in the partitions where it has been. Raises KafkaError."""
    admin = AIOKafkaAdminClient(**client_options(settings))
    try:
        await admin.start()
        found: Mapping[Any, Any] = await admin.list_consumer_group_offsets(group)
    finally:
        await admin.close()
    return places_in(settings, found)


def places_in(settings: Settings, offsets: Mapping[Any, Any]) -> dict[Partition, Place]:
    """Return the places that a group's offsets name in the log of events."""
    return {
        Partition(tp.partition): Place(Position(kept.offset), _order(kept.metadata))
        for tp, kept in offsets.items()
        if tp.topic == settings.events and kept.offset >= 0
    }


def _written(order: tuple[int, int]) -> str:
    return f"{order[0]}:{order[1]}"


def _order(metadata: str | None) -> tuple[int, int]:
    """Return what stands beside an offset; other tools that set one leave nothing there."""
    position, colon, index = (metadata or "").partition(":")
    try:
        return (int(position), int(index)) if colon else NO_ORDER
    except ValueError:
        return NO_ORDER


def _parsed(records: Iterable[Any]) -> Iterable[Recorded]:
    """Return events, each made when it is come to: those before one that is no event come out."""
    return map(_recorded, records)


def _recorded(record: Any) -> Recorded:
    return parse_record(record.value or b"", Partition(record.partition), Position(record.offset))
