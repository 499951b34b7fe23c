"""What the collector need not look at, and what it still does."""

from __future__ import annotations

import subprocess
import sys

import pytest

from agentjournal.settings import Settings
from consumers import running

# In a process of its own: what is frozen stays so, and would for all tests that follow.
_PROGRAM = """
import gc, weakref
from agentjournal.collecting import freeze_loaded

class Cycle:
    def __init__(self):
        self.me = self

young, middle, old = gc.get_threshold()
loaded = len(gc.get_objects())
before = weakref.ref(Cycle())
freeze_loaded()
assert before() is None, "what is garbage by then is not kept"
assert len(gc.get_objects()) < loaded / 10, "what is loaded is still looked at"
after = weakref.ref(Cycle())
gc.collect()
assert after() is None, "what becomes garbage later is not found"
assert gc.isenabled()
assert gc.get_threshold()[:2] == (young, middle)
assert gc.get_threshold()[2] > old, "old objects are looked at as often as before"
print("as it should be")
"""


def test_loaded_objects_are_let_alone_and_later_garbage_is_found() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr) == ("as it should be\n", "")


def test_roles_run_once_what_is_loaded_is_let_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    async def run(*_: object) -> int:
        done.append("run")
        return 0

    monkeypatch.setattr(running, "_run", run)
    monkeypatch.setattr(running, "configure_logging", lambda: None)
    monkeypatch.setattr(running, "freeze_loaded", lambda: done.append("frozen"))
    assert running.run_roles(Settings("none:1", "", "redis://none"), []) == 0
    assert done == ["frozen", "run"]
