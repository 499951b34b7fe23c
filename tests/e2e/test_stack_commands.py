"""`agentjournal up`, `down`, `status` and `logs`, as a user has them.

One stack serves the whole file. Its roles only sleep; its servers are real.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

from agentjournal.settings import find_settings
from local.home import Home
from tests.e2e.command_line import (
    COMMAND,
    CommandLine,
    in_foreground,
    kill,
    pids,
    shown_until,
    started,
)
from tests.e2e.kafka_kept import append, everything_in
from tests.waiting import awaited

pytestmark = pytest.mark.stack

SERVERS = ("kafka", "postgres", "redis")
ROLES = ("sequencer", "projector", "cache", "janitor", "promoter", "indexer", "meter")


@pytest.fixture(scope="module")
def agentjournal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    yield from started(tmp_path_factory.mktemp("commands") / "a folder, é")


def test_status_says_where_every_server_is_and_that_every_role_runs(
    agentjournal: CommandLine,
) -> None:
    status = agentjournal("status", "--json")
    assert status.returncode == 0
    found = json.loads(status.stdout)
    assert found == agentjournal.status()
    assert set(found["services"]) == set(SERVERS)
    assert set(found["roles"]) == set(ROLES)
    assert all(psutil.pid_exists(pid) for pid in pids(agentjournal))
    assert {role["state"] for role in found["roles"].values()} == {"running"}
    lines = agentjournal("status").stdout.splitlines()
    assert f"redis running {agentjournal.pid('redis')} {agentjournal.address('redis')}" in lines


def test_a_client_finds_the_addresses_that_status_gives(agentjournal: CommandLine) -> None:
    settings = find_settings(environment={"AGENTJOURNAL_HOME": str(agentjournal.home)})
    stack = json.loads((agentjournal.home / "stack.json").read_text(encoding="utf-8"))
    assert set(stack) == set(SERVERS)
    for name in SERVERS:
        assert getattr(settings, name) == stack[name] == agentjournal.address(name)


def test_servers_listen_on_the_loopback_address_only(agentjournal: CommandLine) -> None:
    for name in SERVERS:
        connections = psutil.Process(agentjournal.pid(name)).net_connections("inet")
        listening = {each.laddr.ip for each in connections if each.status == psutil.CONN_LISTEN}
        assert {ip.removeprefix("::ffff:") for ip in listening} == {"127.0.0.1"}, name


def test_up_again_says_that_it_runs_and_where(agentjournal: CommandLine) -> None:
    before = pids(agentjournal)
    for arguments in (["up"], ["up", "-d"]):
        again = agentjournal(*arguments)
        assert again.returncode == 0
        assert "already running" in again.stdout
        for name in SERVERS:
            assert agentjournal.address(name) in again.stdout
    assert pids(agentjournal) == before


def test_logs_shows_a_server_a_role_and_the_supervisor(agentjournal: CommandLine) -> None:
    assert agentjournal("logs", "sequencer").stdout == "sequencer\n"
    assert "ready to accept connections" in agentjournal("logs", "postgres").stdout
    assert "kafka answers" in agentjournal("logs", "supervisor", "--lines", "100").stdout
    assert re.search(r"^projector +\| projector$", agentjournal("logs").stdout, re.MULTILINE)


def test_logs_follows_what_is_added(agentjournal: CommandLine) -> None:
    command = [*COMMAND, "logs", "projector", "--follow"]
    with subprocess.Popen(
        command, env=agentjournal.environment, stdout=subprocess.PIPE, text=True
    ) as following:
        assert following.stdout is not None
        assert following.stdout.readline() == "projector\n"
        kill(agentjournal, "projector")
        assert following.stdout.readline() == "projector\n"
        following.kill()


def test_logs_of_an_unknown_name_is_wrong_use_and_names_the_known(
    agentjournal: CommandLine,
) -> None:
    wrong = agentjournal("logs", "zookeeper")
    assert wrong.returncode == 2
    for name in (*SERVERS, *ROLES, "supervisor"):
        assert name in wrong.stderr


@pytest.mark.parametrize("name", ROLES)
def test_a_killed_role_comes_back(agentjournal: CommandLine, name: str) -> None:
    killed = kill(agentjournal, name)
    awaited(lambda: agentjournal.pid(name) not in {None, killed})


def test_a_killed_redis_comes_back_on_the_same_port_with_its_data(
    agentjournal: CommandLine,
) -> None:
    address = agentjournal.address("redis")
    with redis.Redis.from_url(address) as client:
        client.set("kept", "yes")
    killed = kill(agentjournal, "redis")
    awaited(lambda: agentjournal.pid("redis") not in {None, killed})
    with redis.Redis.from_url(address) as client:
        awaited(lambda: responds(client))
        assert client.get("kept") == b"yes"


def test_a_killed_postgres_comes_back_on_the_same_port_with_its_data(
    agentjournal: CommandLine,
) -> None:
    address = agentjournal.address("postgres")
    with psycopg.connect(address) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 'yes' AS answer")
    killed = kill(agentjournal, "postgres")
    awaited(lambda: agentjournal.pid("postgres") not in {None, killed})
    assert awaited(lambda: answer_of(address), timeout_s=30) == ("yes",)


async def test_a_killed_kafka_comes_back_on_the_same_port_with_its_data(
    agentjournal: CommandLine,
) -> None:
    address = agentjournal.address("kafka")
    await append(address, b"one")
    killed = kill(agentjournal, "kafka")
    awaited(lambda: agentjournal.pid("kafka") not in {None, killed})
    await append(address, b"two")
    assert await everything_in(address) == [b"one", b"two"]


def test_after_a_kill_of_the_supervisor_up_stops_what_it_left_and_starts_anew(
    agentjournal: CommandLine,
) -> None:
    before = agentjournal.status()
    left = [psutil.Process(pid) for pid in pids(agentjournal)]
    os.kill(before["supervisor"]["pid"], signal.SIGKILL)
    awaited(lambda: agentjournal.status()["supervisor"]["state"] == "stopped")
    assert agentjournal("status").returncode == 1
    up = agentjournal("up", "-d")
    assert up.returncode == 0, up.stdout + up.stderr
    after = agentjournal.status()
    assert not any(each.is_running() for each in left)
    for name in SERVERS:
        assert after["services"][name]["address"] == before["services"][name]["address"]
    assert answer_of(agentjournal.address("postgres")) == ("yes",)


def test_a_second_stack_runs_beside_the_first_on_other_ports(
    agentjournal: CommandLine, tmp_path: Path
) -> None:
    first = pids(agentjournal)
    for other in started(tmp_path / "other"):
        for name in SERVERS:
            assert other.address(name) != agentjournal.address(name)
        output = other("logs", "supervisor", "--lines", "100").stdout
        assert re.search(r"port \d+ is taken: kafka listens on \d+", output)
        assert pids(other).isdisjoint(first)
    assert pids(agentjournal) == first


def test_down_stops_everything_and_again_says_that_nothing_runs(
    agentjournal: CommandLine,
) -> None:
    left = [psutil.Process(pid) for pid in pids(agentjournal)]
    assert agentjournal("down").returncode == 0
    assert not any(each.is_running() for each in left)
    again = agentjournal("down")
    assert again.returncode == 0
    assert "no stack runs" in again.stdout
    status = agentjournal("status", "--json")
    assert status.returncode == 1
    assert {role["state"] for role in json.loads(status.stdout)["roles"].values()} == {"stopped"}


async def test_in_the_foreground_it_moves_from_a_taken_port_with_its_data_and_ends_at_ctrl_c(
    agentjournal: CommandLine,
) -> None:
    assert agentjournal("down").returncode == 0
    before = {name: agentjournal.address(name) for name in SERVERS}
    port = int(before["kafka"].rpartition(":")[2])
    with socket.create_server(("127.0.0.1", port)), in_foreground(agentjournal) as running:
        shown = shown_until(running, "everything runs")
        after = {name: agentjournal.address(name) for name in SERVERS}
        assert f"port {port} is taken: kafka listens on" in shown
        assert all(address in shown for address in after.values())
        assert after["kafka"] != before["kafka"]
        assert (after["postgres"], after["redis"]) == (before["postgres"], before["redis"])
        assert await everything_in(after["kafka"]) == [b"one", b"two"]
        left = [psutil.Process(pid) for pid in pids(agentjournal)]
        running.send_signal(signal.SIGINT)
        assert running.wait(40) == 0
    assert not any(each.is_running() for each in left)
    ports = json.loads(Home(agentjournal.home).ports_file.read_text(encoding="utf-8"))
    assert after["kafka"] == f"127.0.0.1:{ports['kafka']}"


def responds(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False


def answer_of(address: str) -> object:
    try:
        with psycopg.connect(address) as connection:
            return connection.execute("SELECT answer FROM kept").fetchone()
    except psycopg.OperationalError:
        return None
