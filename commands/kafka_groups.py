"""Who subscribes to the log of events, and how far they are."""

from __future__ import annotations

from typing import Any, NamedTuple

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from agentjournal.errors import Unavailable
from agentjournal.ids import Partition, Position
from agentjournal.kafka_member import places_in
from agentjournal.kafka_options import client_options
from agentjournal.settings import Settings


class Group(NamedTuple):
    """A group of subscribers: its members that are alive, and what is next in each partition."""

    name: str
    members: int
    places: dict[Partition, Position]


async def groups_of(settings: Settings) -> list[Group]:
    """Return the groups that have a place in the log, by name. Raises Unavailable."""
    admin = AIOKafkaAdminClient(**client_options(settings))
    try:
        await admin.start()
        found: list[tuple[Any, ...]] = await admin.list_consumer_groups()
        groups = [await _group(admin, settings, str(each[0])) for each in sorted(found)]
    except (KafkaError, OSError) as error:
        raise Unavailable("Kafka", error) from error
    finally:
        await admin.close()
    return [each for each in groups if each.places]


async def _group(admin: AIOKafkaAdminClient, settings: Settings, name: str) -> Group:
    places = places_in(settings, await admin.list_consumer_group_offsets(name))
    if not places:
        return Group(name, 0, {})
    described: list[Any] = await admin.describe_consumer_groups([name])
    members = sum(len(group[5]) for response in described for group in response.groups)
    return Group(name, members, {p: place.position for p, place in places.items()})
