"""The package without asyncio on real servers: an agent, many threads, and a fork."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from uuid import uuid4

import pytest

import agentjournal as aj
from agentjournal import sync
from agentjournal.settings import Settings
from local.roles import python_path
from tests.servers import addresses_of

PAID: Counter[str] = Counter()


@pytest.fixture
def places(journal: Settings) -> dict[str, str]:
    """Where a log is that no other test has, as the environment says it."""
    return addresses_of(replace(journal, tenant=f"tenant-{uuid4().hex[:8]}"))


@pytest.fixture
def log(places: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Generator[sync.Log]:
    for name, value in places.items():
        monkeypatch.setenv(name, value)
    with sync.connect() as connected:
        yield connected


@aj.tool(effect="external")
def refund(order: int, *, call: sync.Call) -> str:
    PAID[call.idempotency_key] += 1
    return f"refunded {order}"


def model(window: aj.Window) -> aj.MessageAdded:
    """Stand for a model: asks for a refund, then says that it is done."""
    if window.messages[-1]["role"] == "tool":
        return aj.MessageAdded(role="assistant", content="Order 4711 is refunded.")
    call = aj.ToolCallPart(call_id="call-1", name="refund", arguments_text='{"order": 4711}')
    return aj.MessageAdded(role="assistant", parts=[call])


def test_the_agent_without_asyncio(log: sync.Log) -> None:
    PAID.clear()
    with log.session("s-42", user="u-7", agent="support").resume() as run:
        run.say("Please refund order 4711.")
        while not run.answered:
            run.finish_open_calls({"refund": refund})
            window = run.window(max_tokens=8_000)
            run.record(model(window))
    state = log.session("s-42").load()
    assert state.messages[-1].text == "Order 4711 is refunded."
    assert [(call.outcome, call.output) for call in state.calls.values()] == [
        ("completed", "refunded 4711")
    ]
    assert list(PAID.values()) == [1]
    assert [info.session_id for info in log.sessions()] == ["s-42"]
    with log.session("s-42").resume() as again:
        assert again.answered


def test_many_threads_share_a_log(log: sync.Log) -> None:
    def work(number: int) -> tuple[int, list[str]]:
        session = log.session(f"s-{number % 4}")
        for nth in range(5):
            session.append(aj.MessageAdded(role="user", content=f"{number}.{nth}"))
        return number, [message.text for message in session.load().messages]

    with ThreadPoolExecutor(16) as threads:
        seen = dict(threads.map(work, range(16)))
    for number, texts in seen.items():
        own = [text for text in texts if text.startswith(f"{number}.")]
        assert own == [f"{number}.{nth}" for nth in range(5)]
    counts = [len(log.session(f"s-{number}").load().messages) for number in range(4)]
    assert counts == [20] * 4


PROGRAM = """
import gc, os, warnings
from agentjournal import ConnectedBeforeFork, MessageAdded, sync

warnings.simplefilter("ignore", DeprecationWarning)  # of fork, where there are threads

def said(text):
    return MessageAdded(role="user", content=text)

log = sync.connect()
session = log.session("s-1")
session.append(said("of the parent"))
assert len(session.load().messages) == 1
following = session.events(follow=True)
next(following)
child = os.fork()
if child == 0:
    for refused in (lambda: session.append(said("lost")), lambda: next(following)):
        try:
            refused()
        except ConnectedBeforeFork:
            print("refused")
    del log, session, following, refused
    gc.collect()  # nothing of the parent's is closed by it
    with sync.connect() as log:
        log.session("s-1").append(said("of the child"))
        gc.collect()
else:
    assert os.waitpid(child, 0)[1] == 0
    session.append(said("of the parent again"))
    print([message.text for message in log.session("s-1").load().messages])
    print([next(following).type for _ in range(3)])
    log.close()
"""


def test_a_child_connects_for_itself_and_its_parent_goes_on(places: dict[str, str]) -> None:
    environment = {**os.environ, **places, "PYTHONPATH": python_path()}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "refused",
        "refused",
        "['of the parent', 'of the child', 'of the parent again']",
        "['message.added', 'message.added', 'message.added']",
    ]
