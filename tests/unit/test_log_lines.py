"""Lines of a role's log: JSON, those of libraries too; never the words of an error."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import warnings
from collections.abc import Generator
from typing import Any

import pytest
import structlog

from consumers.log_lines import configure


class Lines:
    """What was written."""

    def __init__(self) -> None:
        self.stream = io.StringIO()

    def read(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]


@pytest.fixture
def lines() -> Generator[Lines]:
    """Logging as in a role, for one test."""
    root = logging.getLogger()
    kept, level = root.handlers[:], root.level
    root.handlers = []
    lines = Lines()
    try:
        configure(lines.stream)
        yield lines
    finally:
        logging.captureWarnings(capture=False)
        structlog.reset_defaults()
        root.handlers, root.level = kept, level


def test_an_event_is_a_line_with_its_moment_its_level_and_its_role(lines: Lines) -> None:
    with structlog.contextvars.bound_contextvars(role="cache"):
        structlog.get_logger().warning("cache_dropped", partition=3, reason='a\nb"')
    (line,) = lines.read()
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "cache_dropped",
        "level": "warning",
        "role": "cache",
        "partition": 3,
        "reason": 'a\nb"',
    }


def test_what_a_library_says_is_a_line_with_its_name(lines: Lines) -> None:
    with structlog.contextvars.bound_contextvars(role="cache"):
        logging.getLogger("aiokafka.conn").error("no answer from %s\nmore", "kafka-1")
        logging.getLogger("aiokafka.conn").info("nobody asked")
    (line,) = lines.read()
    del line["timestamp"]
    assert line == {
        "event": "library",
        "level": "error",
        "role": "cache",
        "logger": "aiokafka.conn",
        "message": "no answer from kafka-1",
    }


def test_a_warning_of_python_is_a_line_too(lines: Lines) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(capture=False)
        logging.captureWarnings(capture=True)
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    assert [line["logger"] for line in lines.read()] == ["py.warnings"]


def fail() -> None:
    try:
        int("hunter2")
    except ValueError as error:
        raise LookupError("hunter2 again") from error


def test_of_an_error_there_are_classes_and_places_not_its_words(lines: Lines) -> None:
    try:
        fail()
    except LookupError:
        structlog.get_logger().exception("role_failed")
        logging.getLogger("library").exception("it failed")
    assert "hunter2" not in lines.stream.getvalue()
    ours, theirs = lines.read()
    for line in (ours, theirs):
        assert [error["kind"] for error in line["errors"]] == ["LookupError", "ValueError"]
        for error in line["errors"]:
            assert error["at"][-1].endswith(" fail")
            assert "test_log_lines.py:" in error["at"][-1]


def test_what_asyncio_says_of_a_lost_task_quotes_no_value(lines: Lines) -> None:
    async def lose() -> None:
        loop = asyncio.get_running_loop()
        task = loop.create_task(asyncio.sleep(0))
        loop.call_exception_handler(
            {"message": "Task exception was never retrieved", "task": task, "hint": "hunter2"}
        )
        loop.call_soon(int, "hunter2")
        await task

    asyncio.run(lose())
    assert "hunter2" not in lines.stream.getvalue()
    lost, callback = lines.read()
    assert lost["message"] == "Task exception was never retrieved"
    assert callback["message"].startswith("Exception in callback")
    assert callback["errors"][0]["kind"] == "ValueError"


def test_errors_that_caused_each_other_in_a_circle_come_to_an_end(lines: Lines) -> None:
    one, two = ValueError("a"), ValueError("b")
    one.__cause__, two.__cause__ = two, one
    structlog.get_logger().error("role_failed", exc_info=one)
    assert [len(line["errors"]) for line in lines.read()] == [2]
