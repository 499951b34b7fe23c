"""Kafka as one KRaft node: its settings, its data folder, and when it is ready."""

from __future__ import annotations

import asyncio
import shutil
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from local.home import Home
from local.kafka_jars import class_path, java
from local.ports import HOST, answers
from local.program import Program, run_once

JVM_FLAGS = (
    "-Xms128m",
    "-Xmx384m",
    "-XX:+UseSerialGC",
    "--sun-misc-unsafe-memory-access=allow",  # else Java 25 warns about Kafka's memory maps
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss,SSS",
)

# Paths are relative to the folder that Kafka runs in: its settings file can hold no other
# alphabet than Latin-1, and takes a comma in `log.dirs` for two folders.
DATA = "data"
SETTINGS = "server.properties"
# A killed broker is let in again only when its session has timed out. A service that is stopped for
# more than a week would lose its place in the log: it is kept for ten years.
SETTINGS_TEXT = """\
process.roles=broker,controller
node.id=1
listeners=BROKER://{host}:{port},CONTROLLER://{host}:{controller}
advertised.listeners=BROKER://{host}:{port}
listener.security.protocol.map=BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=BROKER
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers={host}:{controller}
log.dirs={data}
auto.create.topics.enable=false
group.initial.rebalance.delay.ms=0
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
log.cleaner.dedupe.buffer.size=2097152
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
offsets.retention.minutes=5256000
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
"""


class KafkaServer:
    """Kafka on the two ports of this stack."""

    name = "kafka"

    def __init__(
        self, home: Home, port: int, controller_port: int, say: Callable[[str], None]
    ) -> None:
        self._home, self._folder = home, home.path / "kafka"
        self.port, self._controller_port = port, controller_port
        self._java = (str(java()), *JVM_FLAGS, "-cp", class_path(say))

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    def prepare(self) -> None:
        """Write the settings, and format the data folder if it is new. Raises ServerFailed."""
        self._folder.mkdir(exist_ok=True)
        self._write_settings(SETTINGS, DATA)
        if (self._folder / DATA).is_dir():
            return
        # Formatted under another name: what is cut half-way is begun again, never used.
        shutil.rmtree(self._folder / f"{DATA}.new", ignore_errors=True)
        self._write_settings("format.properties", f"{DATA}.new")
        made = self._program(
            "-XX:TieredStopAtLevel=1",  # it is done before compiling well would pay
            *("kafka.tools.StorageTool", "format", "--standalone"),
            *("-t", _new_cluster_id(), "-c", "format.properties"),
        )
        run_once(self._home, self.name, made)
        (self._folder / f"{DATA}.new").rename(self._folder / DATA)

    def program(self) -> Program:
        return self._program("kafka.Kafka", SETTINGS)

    def answers(self) -> bool:
        """Return whether an admin client gets an answer from this very broker."""
        if not answers(self.port):
            return False
        cluster = asyncio.run(_cluster_at(self.address))
        return f"cluster.id={cluster}" in self._meta().splitlines()

    def _meta(self) -> str:
        return (self._folder / DATA / "meta.properties").read_text(encoding="ascii")

    def _program(self, *arguments: str) -> Program:
        # The folder's name reaches Java in the locale's alphabet.
        return Program(
            command=(*self._java, *arguments),
            folder=self._folder,
            environment={"LC_ALL": "C.UTF-8"},
        )

    def _write_settings(self, name: str, data: str) -> None:
        text = SETTINGS_TEXT.format(
            host=HOST, port=self.port, controller=self._controller_port, data=data
        )
        (self._folder / name).write_text(text, encoding="ascii")


async def _cluster_at(address: str) -> str | None:
    admin = AIOKafkaAdminClient(bootstrap_servers=address, request_timeout_ms=5_000)
    try:
        await admin.start()
        described = await admin.describe_cluster()
        return str(described["cluster_id"]) if described["brokers"] else None
    except (KafkaError, OSError):
        return None
    finally:
        await admin.close()


def _new_cluster_id() -> str:
    """Return 22 characters of base64, which is how Kafka writes a UUID; `-` would be an option."""
    return urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "A")
