"""What outlived its supervisor is stopped, and nothing else ever is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator, Sequence
from dataclasses import asdict
from pathlib import Path

import psutil
import pytest

from local.detached import stop_stack
from local.home import Home, open_home, write_json
from local.orphans import orphans, stop_orphans
from local.program import Program, spawn
from local.records import Record, living, record_of, write_record
from tests.waiting import awaited

SLEEP = ("sleep", "1000")  # dies of a signal from its first moment on, as Python does not


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return open_home(tmp_path / "home")


@pytest.fixture
def stranger() -> Generator[psutil.Process]:
    """A program that has nothing to do with the stack."""
    with subprocess.Popen(SLEEP) as running:
        yield psutil.Process(running.pid)
        running.kill()


# What a shell started in the background ignores SIGINT, and so do its children.
MINDS_SIGINT = (
    sys.executable,
    "-c",
    (
        "import signal, time; signal.signal(signal.SIGINT, signal.SIG_DFL); "
        "print('ready', flush=True); time.sleep(1000)"
    ),
)


def left_behind(home: Home, name: str, command: Sequence[str] = SLEEP) -> subprocess.Popen[bytes]:
    with home.open_log(name) as log:
        return spawn(home, name, Program(command=tuple(command), folder=home.path), log)


def test_a_stale_pid_file_never_ends_another_program(home: Home, stranger: psutil.Process) -> None:
    record = record_of(stranger.pid)
    assert record is not None
    for name in ("kafka", "postgres", "redis", "sequencer", "supervisor"):
        write_record(home, name, record)  # even with the very start time of the other program
    assert not stop_stack(home.path, say=print)
    assert stranger.status() != psutil.STATUS_ZOMBIE


def test_a_pid_that_was_given_to_another_program_is_not_ours(
    home: Home, stranger: psutil.Process
) -> None:
    write_record(home, "kafka", Record(stranger.pid, "at another time"))
    assert living(home, "kafka") is None


@pytest.mark.parametrize("content", [{}, {"pid": "x", "started": "1", "ready": True}, {"pid": 1}])
def test_a_damaged_record_is_as_none(home: Home, content: dict[str, object]) -> None:
    write_json(home.record("kafka"), content)
    assert living(home, "kafka") is None


def test_a_record_of_a_process_that_ended_is_as_none(home: Home) -> None:
    with subprocess.Popen(SLEEP) as ended:
        record = record_of(ended.pid)
        assert record is not None
        write_json(home.record("kafka"), asdict(record))
        assert living(home, "kafka") == record
        ended.kill()
    assert living(home, "kafka") is None


def test_what_was_left_behind_is_stopped_even_without_a_pid_file(home: Home) -> None:
    with left_behind(home, "sequencer") as role, left_behind(home, "kafka") as server:
        assert set(orphans(home)) == {"sequencer", "kafka"}
        assert stop_stack(home.path, say=print)
        assert role.wait(5) == server.wait(5) == -15


def test_postgres_is_asked_not_to_wait_for_its_clients(home: Home) -> None:
    with left_behind(home, "postgres", MINDS_SIGINT) as server:
        awaited(lambda: "ready" in home.log("postgres").read_text())
        assert stop_orphans(home) == ["postgres"]
        assert server.wait(5) == -2


def test_the_children_of_another_stack_are_left_alone(home: Home, tmp_path: Path) -> None:
    other = open_home(tmp_path / "home2")
    with left_behind(other, "kafka") as server:
        assert stop_orphans(home) == []
        assert server.poll() is None
        assert stop_orphans(other) == ["kafka"]


def test_nothing_to_stop_is_no_error(tmp_path: Path) -> None:
    assert not stop_stack(tmp_path / "nowhere", say=print)
