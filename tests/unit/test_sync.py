"""The package without asyncio: the same names, from any thread, and after a fork."""

from __future__ import annotations

import asyncio
import contextvars
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import agentjournal as aj
from agentjournal import sync
from agentjournal.background_loop import background_loop
from agentjournal.sync_proxies import as_async, as_sync
from agentjournal.testing import MemoryLog, memory_log
from tests.promoted import PlainExtracting

PAGE = Path(__file__).parents[2] / "docs" / "without-asyncio.md"
LONG_S = 30.0  # longer than any test waits


@pytest.fixture
def log() -> Generator[sync.Log]:
    with sync.log_of(memory_log()) as connected:
        yield connected


def said(text: str) -> aj.MessageAdded:
    return aj.MessageAdded(role="user", content=text)


@aj.tool(effect="external")
def refund(order: int, *, call: sync.Call) -> str:
    assert call.idempotency_key
    return f"refunded {order} as {call.call_id}"


def test_an_agent_without_asyncio(log: sync.Log) -> None:
    with log.session("s-1", user="u-7", agent="support").resume() as run:
        run.say("refund 7, please")
        answers = iter([asks("refund", '{"order": 7}'), says("done")])
        while not run.answered:
            run.finish_open_calls({"refund": refund})
            assert run.window(max_tokens=8_000).messages
            run.record(next(answers))
        assert isinstance(run, sync.Run)
        assert [call.output for call in run.completed] == ["refunded 7 as call-1"]
    state = log.session("s-1").load()
    assert [message.text for message in state.messages] == ["refund 7, please", "", "done"]
    with log.session("s-1").resume() as again:  # the lease was given back
        assert again.answered


def says(text: str) -> aj.MessageAdded:
    return aj.MessageAdded(role="assistant", content=text)


def asks(tool: str, arguments: str) -> aj.MessageAdded:
    call = aj.ToolCallPart(call_id="call-1", name=tool, arguments_text=arguments)
    return aj.MessageAdded(role="assistant", parts=[call])


def test_the_agent_of_the_page_works_as_it_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    (printed,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    log = sync.log_of(memory_log())
    monkeypatch.setattr(sync, "connect", lambda: log)
    asked = [
        {
            "id": "c-1",
            "type": "function",
            "function": {"name": "refund", "arguments": '{"order":7}'},
        }
    ]
    answers: list[dict[str, Any]] = [
        {"role": "assistant", "content": None, "tool_calls": asked},
        {"role": "assistant", "content": "Order 7 is refunded."},
    ]
    windows: list[Any] = []

    def create(*, messages: list[Any], **_: Any) -> dict[str, Any]:
        windows.append(messages)
        choice = {"index": 0, "finish_reason": "stop", "message": answers[len(windows) - 1]}
        return {"object": "chat.completion", "id": f"r-{len(windows)}", "choices": [choice]}

    def pay(order: int, *, idempotency_key: str) -> str:
        return f"refunded {order}" if idempotency_key else "twice"

    llm = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))
    payments = SimpleNamespace(refund=pay)
    given = {"text": "Refund 7", "MODEL": "m", "TOOLS": [], "llm": llm, "payments": payments}
    exec(printed, given)
    assert windows[1][-1] == {"role": "tool", "tool_call_id": "c-1", "content": "refunded 7"}
    assert log.session("s-42").load().messages[-1].text == "Order 7 is refunded."


def test_a_call_around_its_effect_and_one_that_fails(log: sync.Log) -> None:
    session = log.session("s-1")
    with session.call("pay", {"amount": 5}) as call:
        call.complete("paid")
    with pytest.raises(ZeroDivisionError), session.call("pay", {}, effect="read"):
        _ = 1 / 0
    outcomes = [call.outcome for call in session.load().calls.values()]
    assert outcomes == ["completed", "failed"]


def test_what_is_the_same_object_is_equal_and_what_is_returned_is_a_proxy(log: sync.Log) -> None:
    session = log.session("s-1")
    with session.resume() as run:
        assert run.session == run.session
        assert len({run.session, run.session}) == 1
        assert run.session != session
        assert isinstance(run.session, sync.Session)
    assert repr(session).startswith("<sync ")
    fork = session.fork(session_id="s-2")
    assert (type(fork), fork.id, fork.tenant) == (sync.Session, "s-2", "default")
    assert session.append.__doc__ == aj.Session.append.__doc__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        getattr(session, "nothing")  # noqa: B009 - a type checker knows that it is not there


def test_functions_that_are_called_back_are_given_proxies_and_stay_equal() -> None:
    given: list[Any] = []
    loop, session = background_loop(), memory_log().session("s-1")
    called_back = as_async(given.append, loop)
    called_back(session)
    assert given == [as_sync(session, loop)]
    assert as_async(given[0], loop) is session
    assert called_back == as_async(given.append, loop)
    assert hash(called_back) == hash(as_async(given.append, loop))
    held = {"a": [1], "b": {"c": 2}}
    assert as_async(held, loop) is held


def test_many_threads_work_on_one_session(log: sync.Log) -> None:
    session = log.session("s-1")

    def append(number: int) -> aj.Receipt:
        return session.append(said(str(number)))

    with ThreadPoolExecutor(16) as threads:
        receipts = list(threads.map(append, range(200)))
    versions = sorted(each.last_version for each in receipts)
    assert versions == list(range(2, 202))  # 1 is session.started
    texts = {message.text for message in session.load().messages}
    assert texts == {str(number) for number in range(200)}


def test_an_iterator_that_is_left_is_closed(log: sync.Log) -> None:
    closed = threading.Event()

    async def items() -> AsyncIterator[int]:
        try:
            for number in range(3):
                yield number
        finally:
            closed.set()

    following = as_sync(items(), background_loop())
    assert next(following) == 0
    assert not closed.is_set()
    following.close()
    assert closed.is_set()
    assert list(as_sync(items(), background_loop())) == [0, 1, 2]
    session = log.session("s-1")
    session.append(said("a"))
    for recorded in session.events(follow=True):
        if recorded.type == "message.added":
            break  # and the log can be closed


def test_workers_are_given_runs_one_after_the_other_or_many_at_once(log: sync.Log) -> None:
    for number in range(4):
        log.session(f"s-{number}", agent="support").append(said(str(number)))
    both = threading.Barrier(2)

    def answer(run: sync.Run) -> None:
        assert isinstance(run, sync.Run)
        run.window()
        run.record(says("done"))

    def answer_with_another(run: sync.Run) -> None:
        both.wait(LONG_S)  # neither waits for the other, nor for the loop
        answer(run)
        if not any(True for each in log.sessions() if each.messages < 2):
            working.stop()

    done: list[str] = []
    working = log.work(agent="support", poll_s=0.01)
    for run in working:
        with run:
            answer(run)
            done.append(run.session.id)
        if len(done) == 2:
            break
    working.stop()
    assert next(working, None) is None
    working = log.work(agent="support", poll_s=0.01, concurrency=2)
    working.run(answer_with_another)
    assert {each.messages for each in log.sessions()} == {2}


def test_who_is_interrupted_cancels_what_it_waits_for() -> None:
    began, ended = threading.Event(), list[str]()

    async def forever() -> None:
        try:
            began.set()
            await asyncio.sleep(LONG_S)
        except asyncio.CancelledError:
            await asyncio.sleep(0.01)
            ended.append("cancelled, and cleaned up")
            raise

    def interrupt() -> None:
        began.wait(LONG_S)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        background_loop().run(forever)
    assert ended == ["cancelled, and cleaned up"]
    thread.join()


def test_what_asks_to_exit_on_the_loop_exits_the_caller_and_not_the_loop(log: sync.Log) -> None:
    def leaving(_: aj.SessionState) -> None:
        raise SystemExit(3)

    session = log.session("s-1")
    with pytest.raises(SystemExit):
        session.decide(leaving)
    assert session.append(said("a")).last_version == 2

    async def left() -> None:
        raise SystemExit(4)

    async def beside() -> None:
        await asyncio.create_task(left())

    with pytest.raises(SystemExit):
        background_loop().run(beside)
    assert session.append(said("b")).last_version == 3


def test_a_function_that_runs_on_the_loop_cannot_wait_for_it(log: sync.Log) -> None:
    session = log.session("s-1")

    def deciding(_: aj.SessionState) -> None:
        session.append(said("a"))

    with pytest.raises(RuntimeError, match="would wait for itself"):
        session.decide(deciding)


def test_an_outcome_that_is_not_known_is_settled_without_asyncio(log: sync.Log) -> None:
    session = log.session("s-1")
    receipt = session.append(said("a"))

    async def again() -> aj.Receipt:
        return receipt

    def unanswered(_: aj.SessionState) -> None:
        raise aj.AppendOutcomeUnknown("append-1", 1.0, again)

    with pytest.raises(aj.AppendOutcomeUnknown) as unknown:
        session.decide(unanswered)
    assert isinstance(unknown.value, sync.AppendOutcomeUnknown)
    assert unknown.value.retry() is receipt


def test_the_callers_context_is_that_of_what_is_done_for_it() -> None:
    trace = contextvars.ContextVar("trace", default="")
    trace.set("of the caller")

    async def look() -> str:
        return trace.get()

    assert background_loop().run(look) == "of the caller"


def test_the_lease_is_renewed_while_the_caller_does_something_else(log: sync.Log) -> None:
    with log.session("s-1").resume(lease_s=0.1) as run:
        deadline = time.monotonic() + LONG_S
        while "lease.renewed" not in [each.type for each in run.session.events()]:
            assert time.monotonic() < deadline
            time.sleep(0.01)


def test_an_extractor_is_given_as_it_is_and_awaited_on_the_loop(log: sync.Log) -> None:
    session = log.session("s-1", user="u-7")
    session.append(said("colour = red"))
    [(_, fact)] = session.promote(extracting=PlainExtracting()).learned
    assert (fact.attribute, fact.value) == ("colour", "red")


def test_a_log_of_memory_keeps_what_only_it_has() -> None:
    with sync.log_of(memory_log(tenant="acme")) as log:
        beside: Any = getattr(log, "beside")()  # noqa: B009 - only the asynchronous one is typed
        assert beside.settings.tenant == "acme"
        assert isinstance(as_async(beside, background_loop()), MemoryLog)


PROGRAM = """
import os, warnings
from agentjournal import ConnectedBeforeFork, MessageAdded, sync
from agentjournal.background_loop import background_loop
from agentjournal.testing import memory_log

class Opened:
    async def close(self):
        print("closed")

opened = Opened()
background_loop().close_at_exit(opened)
warnings.simplefilter("ignore", DeprecationWarning)  # of fork, where there are threads
said = MessageAdded(role="user", content="a")
log = sync.log_of(memory_log())
session = log.session("s-1")
session.append(said)
followed = session.events(follow=True)
next(followed)
child = os.fork()
if child == 0:
    try:
        session.append(said)
    except ConnectedBeforeFork as error:
        print(error)
    del log, session, followed
    log = sync.log_of(memory_log())
    print("child", log.session("s-1").append(said).last_version)
else:
    assert os.waitpid(child, 0)[1] == 0
    print("parent", session.append(said).last_version)
    print(next(followed).type)
    run = session.resume()  # neither it nor the log is closed
"""


def test_a_child_has_a_loop_of_its_own_its_parents_handles_say_so_and_both_end() -> None:
    environment = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    command = [sys.executable, "-W", "error", "-c", PROGRAM]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    refused, *rest = done.stdout.splitlines()
    assert refused.startswith("this was made before the process was forked")
    assert rest == ["child 2", "parent 3", "message.added", "closed"]  # once, by the parent
