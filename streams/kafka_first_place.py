"""Where a consumer group begins that was never there: at the end of the log as it is now, for good.

Without a place, a partition would begin at its end each time, until the first commit: what came
between a start that was cut short and the next one would not be read.
"""

from __future__ import annotations

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import CommitFailedError, KafkaError

from agentjournal.kafka_options import client_options
from agentjournal.partitions import PARTITIONS
from agentjournal.settings import Settings
from streams.ports import OutageError


async def commit_first_places(settings: Settings, group: str) -> None:
    """Commit the end of each partition of `events` for which the group has no place.

    A group with living members is left as it is: they have places. Raises OutageError.
    """
    consumer = AIOKafkaConsumer(
        **client_options(settings), group_id=group, enable_auto_commit=False
    )
    try:
        await consumer.start()
        tps = [TopicPartition(settings.events, partition) for partition in range(PARTITIONS)]
        consumer.assign(tps)
        missing = [tp for tp in tps if await consumer.committed(tp) is None]
        if missing:
            await consumer.commit(dict(await consumer.end_offsets(missing)))
    except CommitFailedError:
        pass  # somebody joined meanwhile
    except (KafkaError, OSError) as error:
        raise OutageError(f"Kafka: {error!r}") from error
    finally:
        await consumer.stop()
