"""The log of a role: a line of JSON for each event, those of libraries too, without payloads.

What an error says may quote the value it is about, so of one that nobody expected there are only
the classes of it and its causes, and the places in the code.
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Iterator
from types import TracebackType
from typing import Any, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

_MOST_FRAMES = 20
_MOST_TEXT = 1_000  # characters of what a library says


def configure(stream: TextIO) -> None:
    """Let everything in this process that logs write its lines to `stream`."""
    first: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    last: list[Processor] = [_places_of_errors, structlog.processors.JSONRenderer()]
    structlog.configure(
        processors=[*first, *last], logger_factory=structlog.PrintLoggerFactory(file=stream)
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*first, _of_library],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.captureWarnings(capture=True)


def _of_library(_: WrappedLogger, __: str, line: EventDict) -> EventDict:
    """Make an event of what a library wrote as text: `library`, with its first line."""
    said = str(line["event"]).partition("\n")[0]
    name = line["_record"].name
    if name == "asyncio":  # goes on with values: arguments, results, errors
        said = said.partition("(")[0].partition("<")[0].rstrip()
    return {**line, "event": "library", "logger": name, "message": said[:_MOST_TEXT]}


def _places_of_errors(_: WrappedLogger, __: str, line: EventDict) -> EventDict:
    """Tell of an error its classes and places, not its words."""
    given: Any = line.pop("exc_info", None)
    error = sys.exception() if given is True else given[1] if isinstance(given, tuple) else given
    if isinstance(error, BaseException):
        line["errors"] = [
            {"kind": type(each).__name__, "at": _places(each.__traceback__)}
            for each in _chain(error)
        ]
    return line


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, and what it came of, as Python tells it."""
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        yield found
        found = found.__cause__ or (None if found.__suppress_context__ else found.__context__)


def _places(trace: TracebackType | None) -> list[str]:
    frames = traceback.extract_tb(trace)[-_MOST_FRAMES:]
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
