"""Starting a supervisor that outlives the command: what is said when it fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SUPERVISORS = {
    "tells why": "print('2026-01-01 00:00:00,000 ERROR   the reason', flush=True)",
    "says something": "print('2026-01-01 00:00:00,000 INFO    hello', flush=True)",
    "says nothing": "",
    "hangs": "import time; time.sleep(1000)",
}
CODE = """
import sys
from pathlib import Path
from agentjournal.errors import AgentJournalError
from local.detached import start_detached
home, code = Path(sys.argv[1]), sys.argv[2]
try:
    start_detached(home, command=lambda _: (sys.executable, "-c", code), timeout_s=2, say=print)
except AgentJournalError as error:
    sys.exit(f"{error}")
"""


def start(home: Path, code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", CODE, str(home), code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )


@pytest.mark.parametrize(
    ("supervisor", "shown", "error"),
    [
        ("tells why", "", "the reason"),
        ("says something", "hello\n", "ended before everything ran, after 'hello'; its log is"),
        ("says nothing", "", "the supervisor ended before everything ran; its log is"),
        ("hangs", "", "the stack is not ready after 2 s; its log is"),
    ],
)
def test_a_supervisor_that_does_not_get_ready_is_one_line_of_error(
    tmp_path: Path, supervisor: str, shown: str, error: str
) -> None:
    ended = start(tmp_path / "home", SUPERVISORS[supervisor])
    assert ended.returncode == 1
    assert ended.stdout == shown
    assert error in ended.stderr
    assert ended.stderr.count("\n") == 1
