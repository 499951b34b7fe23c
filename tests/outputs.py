"""Calls of tools whose outputs are hard to keep."""

from __future__ import annotations

from typing import Any

import agentjournal as aj

HOSTILE = "NUL \0, half \ud800, \u202eright to left\u202c, line\n"


def outputs(state: aj.SessionState) -> dict[str, Any]:
    """Return the outputs of a state's calls, by their ids."""
    return {call_id: call.output for call_id, call in state.calls.items()}


def called(call_id: str, output: str) -> list[aj.events.Event]:
    """Return the events of a call that ended with an output."""
    return [
        aj.ToolStarted(
            call_id=call_id,
            tool="cat",
            arguments_text="{}",
            arguments_digest="d",
            effect="read",
            idempotency_key=call_id,
            attempt=1,
            lease_s=1,
            kind="function",
        ),
        aj.ToolCompleted(call_id=call_id, attempt=1, output=output, duration_ms=1),
    ]
