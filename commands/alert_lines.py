"""An alert as one line: for people, and as a JSON object."""

from __future__ import annotations

import dataclasses

import orjson
from rich.cells import cell_len
from rich.text import Text

from agentjournal.alerts import SEVERITIES, Alert
from commands.harmless import as_cell, one_line
from commands.times import date_and_clock

_LEAST_TEXT = 30
_KIND_WIDTH = max(map(len, SEVERITIES))
_SEVERITY_WIDTH = max(map(len, SEVERITIES.values()))


def alert_line(alert: Alert, width: int) -> str:
    """Return time, severity, kind, tenant, subject and text, at most `width` cells wide.

    Only the text is cut, and it has some room always.
    """
    start = "  ".join(
        (
            alert_time(alert),
            f"{one_line(alert.severity):<{_SEVERITY_WIDTH}}",
            f"{one_line(alert.kind):<{_KIND_WIDTH}}",
            as_cell(alert.tenant),
            as_cell(alert.subject),
        )
    )
    left = max(_LEAST_TEXT, width - cell_len(start) - 2)
    text = Text(one_line(alert.text))
    text.truncate(left, overflow="ellipsis")
    return f"{start}  {text.plain}"


def alert_time(alert: Alert) -> str:
    """Return when it was seen, in local time; what is no time as it is."""
    try:
        return date_and_clock(alert.at)
    except (ValueError, OverflowError):
        return one_line(alert.at)


def alert_json(alert: Alert) -> bytes:
    """Return the alert as a JSON object in one line."""
    return orjson.dumps(dataclasses.asdict(alert))
