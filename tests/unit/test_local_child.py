"""A supervised child: it comes back, and ends when it is told to."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from pathlib import Path

import psutil
import pytest

from local.child import Child
from local.errors import ServerFailed
from local.home import Home, open_home
from local.program import Program
from local.records import living
from tests.waiting import awaited

SLEEP = "import time; time.sleep(1000)"
DEAF = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); {SLEEP}"

Make = Callable[..., Child]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return open_home(tmp_path)


@pytest.fixture
def child(home: Home) -> Generator[Make]:
    made: list[Child] = []

    def make(code: str, *, restart: bool = True) -> Child:
        program = Program(command=(sys.executable, "-c", code), folder=home.path)
        made.append(Child(home, "sequencer", lambda: program, restart=restart))
        return made[-1]

    yield make
    for each in made:
        each.stop()


def test_a_killed_child_comes_back_under_another_pid(home: Home, child: Make) -> None:
    sleeping = child(SLEEP)
    sleeping.start()
    first = sleeping.pid
    assert first is not None
    psutil.Process(first).kill()
    second = awaited(lambda: sleeping.pid if sleeping.pid != first else None)
    assert second != first
    awaited(lambda: (record := living(home, "sequencer")) and record.pid == second)


def test_without_restart_a_killed_child_stays_dead_until_it_is_started(child: Make) -> None:
    sleeping = child(SLEEP, restart=False)
    sleeping.start()
    first = sleeping.pid
    sleeping.kill()
    assert sleeping.pid is None
    assert not sleeping.is_watched
    sleeping.start()
    assert sleeping.pid not in {None, first}


def test_a_stopped_child_does_not_come_back_and_leaves_no_record(home: Home, child: Make) -> None:
    sleeping = child(SLEEP)
    sleeping.start()
    sleeping.stop()
    assert sleeping.pid is None
    assert not sleeping.is_watched
    assert not home.record("sequencer").exists()


def test_a_child_that_keeps_dying_is_stopped_in_the_middle_of_its_wait(child: Make) -> None:
    dying = child("raise SystemExit(3)")
    dying.start()
    awaited(lambda: dying.deaths >= 3)
    dying.stop()
    assert not dying.is_watched


def test_a_child_that_ignores_its_signal_is_killed(
    home: Home, child: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local.child.STOP_S", 0.2)
    deaf = child(DEAF)
    deaf.start()
    awaited(lambda: home.log("sequencer").read_bytes())
    deaf.stop()
    assert deaf.pid is None


def test_what_a_child_writes_is_in_its_log(home: Home, child: Make) -> None:
    child("import sys; print('out'); print('err', file=sys.stderr)", restart=False).start()
    log = home.log("sequencer")
    awaited(lambda: sorted(log.read_text(encoding="utf-8").split()) == ["err", "out"])


def test_a_command_that_does_not_exist_is_an_error_that_names_the_child(home: Home) -> None:
    program = Program(command=("/nowhere/kafka",), folder=home.path)
    with pytest.raises(ServerFailed, match="kafka cannot be run"):
        Child(home, "kafka", lambda: program).start()
