"""The screen of `top`, drawn in place, and the key that ends it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import termios
import tty
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from agentjournal.settings import Settings
from commands.printing import terminal
from commands.top_figures import Snapshot
from commands.top_reading import Watch, sources_of
from commands.top_text import Style, screen

_CLOCK_S = 1.0
_STYLES: dict[Style, str] = {"plain": "", "names": "bold", "trouble": "red"}


async def show(settings: Settings, interval_s: float) -> None:
    """Draw the figures as they come in, until `q`, Ctrl-C or SIGTERM."""
    wake, stop = asyncio.Event(), asyncio.Event()
    watch = Watch(sources_of(settings), wake.set)
    console = terminal()

    def end() -> None:
        stop.set()
        wake.set()

    with _ending(end), Live(console=console, screen=True, auto_refresh=False) as live:
        reading = asyncio.create_task(watch.keep_reading(interval_s))
        try:
            while not (stop.is_set() or reading.done()):
                wake.clear()
                live.update(drawn(watch.snapshot(), console), refresh=True)
                with suppress(TimeoutError):  # the clock goes on, and the window may have changed
                    async with asyncio.timeout(_CLOCK_S):
                        await wake.wait()
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            await watch.close()
    if reading.done() and not reading.cancelled():
        reading.result()  # what nobody foresaw


def drawn(snapshot: Snapshot, console: Console) -> Group:
    """Return the screen in the size of the terminal: no line is broken, none is read as markup."""
    width, height = console.size
    lines = screen(snapshot, width=width, height=height)[:height]
    return Group(
        *(Text(line.text, _STYLES[line.style], no_wrap=True, overflow="ellipsis") for line in lines)
    )


@contextmanager
def _ending(end: Callable[[], None]) -> Generator[None]:
    """Call `end` at the key or a signal; the terminal is as it was afterwards."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end)
    try:
        with _keys(end):
            yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


@contextmanager
def _keys(end: Callable[[], None]) -> Generator[None]:
    if not sys.stdin.isatty():
        yield
        return
    keyboard, loop = sys.stdin.fileno(), asyncio.get_running_loop()
    before = termios.tcgetattr(keyboard)

    def pressed() -> None:
        keys = os.read(keyboard, 1_024)
        if not keys:  # the terminal is gone
            loop.remove_reader(keyboard)
        if not keys or b"q" in keys.lower():
            end()

    tty.setcbreak(keyboard)  # each key at once and unseen; Ctrl-C still is a signal
    loop.add_reader(keyboard, pressed)
    try:
        yield
    finally:
        loop.remove_reader(keyboard)
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)
