"""What an error says about an effect: that it failed, or that nobody knows."""

from __future__ import annotations

import asyncio

import pytest

from agentjournal import LeaseLost, OutcomeUnknown, ToolError
from agentjournal.events.tool import Effect
from agentjournal.outcomes import is_unknown, output_and_result


class ReadTimeout(Exception):
    """As libraries name theirs."""


def raised_from(cause: BaseException, error: Exception) -> Exception:
    error.__cause__ = cause
    return error


UNKNOWN = [
    TimeoutError(),
    ConnectionResetError(),
    ReadTimeout(),
    asyncio.IncompleteReadError(b"", 3),
    EOFError(),
    OutcomeUnknown("?"),
    LeaseLost("session/t/s"),
    ExceptionGroup("both", [ValueError(), TimeoutError()]),
    raised_from(ReadTimeout(), RuntimeError("the payment failed")),
]
KNOWN = [
    ValueError("no such order"),
    KeyError("x"),
    ToolError("no money"),
    raised_from(TimeoutError(), ToolError("it was not sent")),
    ExceptionGroup("both", [ValueError(), KeyError()]),
    raised_from(ValueError(), RuntimeError("no such order")),
]


@pytest.mark.parametrize("error", UNKNOWN, ids=repr)
def test_after_a_lost_connection_nobody_knows(error: Exception) -> None:
    effects: tuple[Effect, Effect] = ("idempotent", "external")
    assert all(is_unknown(error, effect) for effect in effects)


@pytest.mark.parametrize("error", KNOWN, ids=repr)
def test_other_errors_are_failures(error: Exception) -> None:
    assert not is_unknown(error, "external")
    assert is_unknown(error, "external", (type(error),))


@pytest.mark.parametrize("effect", ["read", "idempotent", "external"])
@pytest.mark.parametrize("error", [asyncio.CancelledError(), KeyboardInterrupt()], ids=repr)
def test_what_was_cut_off_is_unknown(error: BaseException, effect: Effect) -> None:
    assert is_unknown(error, effect)


def test_what_only_reads_may_fail() -> None:
    assert not is_unknown(TimeoutError(), "read")


def test_what_cannot_be_written_is_said_as_well_as_it_can_be() -> None:
    assert output_and_result({1}) == ("{1}", None)
    assert output_and_result({"n": 1}) == ('{"n":1}', {"n": 1})
    assert output_and_result("text") == ("text", None)
    assert output_and_result(None) == ("", None)


@pytest.mark.parametrize(("end", "expected"), [(ValueError("end"), False), (TimeoutError(), True)])
def test_errors_that_are_raised_from_each_other_are_each_looked_at_once(
    end: Exception, expected: bool
) -> None:
    first, second = ValueError("first"), ExceptionGroup("second", [ValueError(), end])
    first.__cause__, second.__cause__ = second, first
    assert is_unknown(first, "external") == expected
