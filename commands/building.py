"""Progress of a rebuild on standard error: a bar on a terminal, else a line at times."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from commands.printing import say

if TYPE_CHECKING:
    from consumers.postgres_rebuild import Phase, Report

_PATIENCE_S = 1.0
_PIPED_STEP_S = 10.0


@contextmanager
def building_progress() -> Generator[Report]:
    """Give what a rebuild reports to: how many events are read, how fast, how long it may take."""
    on_terminal = sys.stderr.isatty()
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=sys.stdout.isatty(),
    )
    task = bar.add_task("reading", total=None, rate="")
    began_s, first, said = time.monotonic(), -1, "reading"
    next_s = began_s + (_PATIENCE_S if on_terminal else _PIPED_STEP_S)

    def report(phase: Phase, done: int, total: int) -> None:
        nonlocal next_s, first, said
        now = time.monotonic()
        first = done if first < 0 else first  # what an interrupted one had read
        rate = (done - first) / max(now - began_s, 0.001)
        if now >= next_s and on_terminal:
            bar.start()
            bar.update(
                task, description=phase, completed=done, total=total or None, rate=f"{rate:,.0f}/s"
            )
        elif phase not in {said, "reading"}:
            say(phase)
        elif now >= next_s and phase == "reading":
            left_s = (total - done) / rate if rate else 0.0
            say(f"read {done:,} of {total:,} events, {rate:,.0f}/s, {left_s:,.0f} s left")
            next_s = now + _PIPED_STEP_S
        said = phase

    try:
        yield report
    finally:
        if bar.live.is_started:  # else stopping it prints an empty line
            bar.stop()
