"""`work`: sessions that need a worker, given to a function of one's own."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any, TypeAlias

import typer

import agentjournal
from agentjournal import Log, Run, Working
from agentjournal.log_memory import DEFAULT_AGENT
from commands.waiting import wait_for

commands = typer.Typer()

Function: TypeAlias = Callable[[Run], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Options:
    """How to work."""

    agent: str
    concurrency: int
    lease_s: float
    poll_s: float
    stop_s: float


@commands.command()
def work(
    function: Annotated[
        str, typer.Argument(metavar="MODULE:FUNCTION", help="An async function that takes a run.")
    ],
    *,
    agent: Annotated[
        str, typer.Option("--agent", help="The agent whose sessions are worked on.")
    ] = DEFAULT_AGENT,
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, help="How many sessions at once.")
    ] = 1,
    lease_s: Annotated[
        float, typer.Option("--lease-s", help="After it a session of a dead worker goes on.")
    ] = 60.0,
    poll_s: Annotated[
        float, typer.Option("--poll-s", help="How often to look when nothing is to be done.")
    ] = 1.0,
    stop_s: Annotated[
        float, typer.Option("--stop-s", min=0, help="What is on has as long to end when stopped.")
    ] = 30.0,
) -> None:
    """Work on the sessions of an agent that need it, until SIGTERM or Ctrl-C.

    FUNCTION is looked for from the current folder. Two workers never have the same session.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    options = Options(agent, concurrency, lease_s, poll_s, stop_s)
    wait_for(_work(function_named(function), options))


async def _work(function: Function, options: Options) -> None:
    async with agentjournal.connect() as log:
        working = _working(log, options)
        task = asyncio.create_task(working.run(function, stop_s=options.stop_s))
        _stop_on_signals(working, task)
        print(f"working on sessions of {options.agent}", file=sys.stderr, flush=True)
        with contextlib.suppress(asyncio.CancelledError):
            await task
    print("stopped", file=sys.stderr)


def _stop_on_signals(working: Working, task: asyncio.Task[None]) -> None:
    """Let the first signal end it in good order, and the second at once."""
    signals: list[int] = []

    def ask(number: int) -> None:
        signals.append(number)
        if len(signals) == 1:
            working.stop()
        else:
            task.cancel()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ask, number)


def _working(log: Log, options: Options) -> Working:
    try:
        return log.work(
            agent=options.agent,
            concurrency=options.concurrency,
            lease_s=options.lease_s,
            poll_s=options.poll_s,
        )
    except ValueError as wrong:
        raise typer.BadParameter(str(wrong)) from None


def function_named(text: str) -> Function:
    """Return the async function that `MODULE:FUNCTION` names. Raises BadParameter."""
    module_name, _, name = text.partition(":")
    if not module_name or not name:
        raise _wrong(f"{text!r} is not MODULE:FUNCTION")
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - as Python itself has it
    try:
        found: Any = import_module(module_name)
    except ModuleNotFoundError as missing:
        if missing.name is None or not f"{module_name}.".startswith(f"{missing.name}."):
            raise  # the module is there, and does not find another one
        raise _wrong(f"there is no module {module_name!r}") from None
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is None:
        raise _wrong(f"module {module_name!r} has no {name!r}")
    if not inspect.iscoroutinefunction(found):
        raise _wrong(f"{text!r} is not an async function")
    function: Function = found
    return function


def _wrong(reason: str) -> typer.BadParameter:
    return typer.BadParameter(reason, param_hint="MODULE:FUNCTION")
