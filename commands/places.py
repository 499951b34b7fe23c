"""Places in a session, as they are given on the command line: a version, or a time."""

from __future__ import annotations

import typer

from agentjournal.loading import Place
from commands.times import moment


def place(text: str, option: str) -> Place:
    """Return the version or the moment that `text` names; without a zone it is local time.

    Raises BadParameter, which names the `option`.
    """
    try:
        return int(text) if text.isdecimal() else moment(text)
    except (OverflowError, ValueError):
        raise typer.BadParameter(
            f"{text!r} is neither a version nor a time like 2026-01-31T12:00", param_hint=option
        ) from None
