"""A summary of a session in its own words: what was asked, what was done, what was answered."""

from __future__ import annotations

from collections.abc import Sequence

from agentjournal.memory.candidates import Statement
from agentjournal.memory.tool_things import changes_something, is_error

MAX_SAID = 240  # characters of what somebody said
MAX_DONE = 8  # tools that are named
_ASKED, _ANSWERED = "Asked: ", "Answered: "


def summary_of(statements: Sequence[Statement]) -> str | None:
    """Return a few lines about a session; None: nobody said anything, and nothing was done."""
    said = [each for each in statements if each.source == "message" and each.text.strip()]
    asked = next((each for each in said if each.role == "user" or each.is_task), None)
    answers = [each for each in said if each.role == "assistant" and not each.is_task]
    answered = answers[-1] if answers else None
    done: dict[str, int] = {}
    for each in statements:
        if each.source == "result" and changes_something(each) and not is_error(each):
            done[each.tool or ""] = done.get(each.tool or "", 0) + 1
    lines = [
        f"{_ASKED}{_short(asked.text)}" if asked else "",
        f"Done: {_tools(done)}" if done else "",
        f"{_ANSWERED}{_short(answered.text)}" if answered else "",
    ]
    return "\n".join(line for line in lines if line) or None


def quoted_in(line: str) -> str:
    """Return what a line of a summary repeats of a message, the line itself where it does not."""
    return line.removeprefix(_ASKED).removeprefix(_ANSWERED)


def _tools(done: dict[str, int]) -> str:
    named = [tool if count == 1 else f"{tool} ({count} times)" for tool, count in done.items()]
    more = len(named) - MAX_DONE
    return ", ".join(named[:MAX_DONE]) + (f" and {more} more" if more > 0 else "")


def _short(text: str) -> str:
    line = " ".join(text[: 4 * MAX_SAID].split())
    if len(line) <= MAX_SAID:
        return line
    return line[: line.rfind(" ", 0, MAX_SAID)].rstrip(",;:") + " …"
