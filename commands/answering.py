"""Answers to what an agent waits for, given on the command line."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import typer

import agentjournal
from agentjournal import Session
from agentjournal.codec import decode
from agentjournal.errors import ApprovalNotFound, CallNotFound
from agentjournal.settings import find_settings
from commands.errors import CommandFailed
from commands.harmless import one_line
from commands.naming import Named, no_such_session, session_named
from commands.waiting import wait_for

T = TypeVar("T")


def answered(session: str, answer: Callable[[Session], Awaitable[T]]) -> T:
    """Return what `answer` gives for the session of this name. Raises CommandFailed."""
    return wait_for(_answered(session_named(find_settings(), session), answer))


async def _answered(named: Named, answer: Callable[[Session], Awaitable[T]]) -> T:
    async with agentjournal.connect(tenant=named.tenant) as log:
        session = log.session(named.session_id)
        try:
            return await answer(session)
        except (ApprovalNotFound, CallNotFound) as error:
            if not (await session.current()).version:
                raise await no_such_session(log, named) from None
            raise CommandFailed(one_line(str(error))) from None


def json_option(name: str, text: str | None) -> Any:
    """Return the value of an option that is JSON, None when it is not given.

    Raises typer.BadParameter.
    """
    if text is None:
        return None
    try:
        return decode(text.encode("utf-8", "surrogateescape"))
    except ValueError as error:
        raise typer.BadParameter(f"is no JSON: {error}", param_hint=name) from None
