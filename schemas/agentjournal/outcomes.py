"""What an error says about an effect: that it failed, or that nobody knows."""

from __future__ import annotations

import re
from typing import Any, Final, Literal, TypeAlias

from agentjournal.errors import AgentJournalError, AppendRejected
from agentjournal.events import ToolFailure
from agentjournal.events.tool import Effect

FailureType: TypeAlias = Literal["error", "timeout", "denied", "cancelled", "invalid_arguments"]

# Errors of clients that lost a connection or its answer, by the words that libraries use for them:
# httpx.ReadTimeout, requests.ConnectionError, aiohttp.ServerDisconnectedError, …
_LOST = re.compile(
    "Timeout|Connection|Transport|Disconnected|ProtocolError|BrokenPipe"
    "|Incomplete|EOFError|OperationalError|PayloadError|ChunkedEncoding"
)


class ToolError(Exception):
    """Raise this in a tool for a failure whose end is known: nothing of the effect happened.

    `retryable` is for whoever reads the failure; whether the tool is tried again is its policy.
    """

    def __init__(
        self,
        message: str,
        *,
        type: FailureType = "error",  # noqa: A002 - the field's word
        code: str | None = None,
        retryable: bool = False,
        output: str | None = None,
    ) -> None:
        super().__init__(message)
        self.type: FailureType = type
        self.code, self.retryable, self.output = code, retryable, output


class OutcomeUnknown(Exception):
    """Raise this in a tool when nobody can say whether its effect happened."""


class _NotDone:
    """What a verifier returns when the effect did not happen."""

    def __repr__(self) -> str:
        return "agentjournal.NOT_DONE"


NOT_DONE: Final = _NotDone()


def is_unknown(
    error: BaseException,
    effect: Effect,
    unknown_on: tuple[type[BaseException], ...] = (),
) -> bool:
    """Whether after this error nobody knows if the effect happened.

    True when the work was cut off, and for errors of time-outs and lost connections unless the
    effect is only to read; also when such an error is what another was raised from, or one of a
    group. Errors that are not known to be such count as failures.
    """
    looked_at: set[int] = set()  # what one was raised from may lead back to it
    behind: list[BaseException] = [error]
    while behind:
        each = behind.pop()
        if id(each) in looked_at:
            continue
        looked_at.add(id(each))
        if not isinstance(each, Exception) or isinstance(each, AgentJournalError | OutcomeUnknown):
            return True
        if isinstance(each, unknown_on):
            return True
        if effect == "read" or isinstance(each, ToolError):
            continue
        if any(_LOST.search(kind.__name__) for kind in type(each).__mro__):
            return True
        behind += [found for found in (each.__cause__ or each.__context__,) if found is not None]
        if isinstance(each, BaseExceptionGroup):
            behind += each.exceptions
    return False


def failure_of(error: BaseException | str | ToolFailure) -> ToolFailure:
    """Return how an error stands in the log."""
    match error:
        case ToolFailure():
            return error
        case str():
            return ToolFailure(message=error)
        case ToolError():
            return ToolFailure(
                type=error.type,
                message=str(error),
                code=error.code or type(error).__name__,
                retryable=error.retryable,
            )
        case _:
            kind: FailureType = "timeout" if isinstance(error, TimeoutError) else "error"
            name = type(error).__name__
            return ToolFailure(type=kind, message=str(error) or name, code=name)


def shown_failure(failure: ToolFailure) -> str:
    """Return what the model sees of a failure that has no text of its own."""
    return f"{failure.type}: {failure.message}"


def output_and_result(returned: Any) -> tuple[str, Any]:
    """Return (what the model sees, the exact value or None) of what a tool returned."""
    from agentjournal.codec import encode  # noqa: PLC0415 - only calls of tools need it

    if isinstance(returned, str):
        return returned, None
    dump = getattr(returned, "model_dump", None)
    value = dump(mode="json") if callable(dump) else returned
    try:
        return ("" if value is None else encode(value).decode()), value
    except AppendRejected:  # it has run: what it returned is said as well as it can be
        return str(value), None
