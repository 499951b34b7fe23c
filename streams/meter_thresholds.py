"""When the meter raises an alert, and how much it remembers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from agentjournal.errors import NotConfigured

_VARIABLE = "AGENTJOURNAL_METER_"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What is too much; each may be set by AGENTJOURNAL_METER_ and its name in capitals."""

    # A minute: rates are spoken of by the minute, and a burst shows within seconds.
    window_s: float = 60.0
    # A model may think for minutes between two events: shorter, and sessions at work drop out.
    active_s: float = 300.0
    # Half of the outcomes: tools that fail now and then are retried; this one is down.
    error_rate: float = 0.5
    # With fewer outcomes in the window, one user's bad luck is a rate.
    error_calls: int = 20
    # Ten a second of one tenant: more than people begin, less than a client that starts over.
    session_storm: float = 600.0
    # A minute: the lease has its own margin, and whoever resumes settles most calls within seconds.
    stuck_call_s: float = 60.0
    # A tool that is asked until something is ready is asked a few times; ten is no progress.
    runaway_loop: int = 10


@dataclass(frozen=True, slots=True)
class Capacity:
    """How many of each are kept apart: together under 200 MB."""

    tenants: int = 1_000
    tools: int = 2_000  # of all tenants
    sessions: int = 100_000
    calls: int = 100_000  # open at once


def thresholds_of(environment: Mapping[str, str]) -> Thresholds:
    """Return the thresholds that the environment sets, else the defaults.

    Raises NotConfigured for what is no number over 0, and for a share above 1.
    """
    found: dict[str, Any] = {}
    for field in fields(Thresholds):
        variable = f"{_VARIABLE}{field.name.upper()}"
        if text := environment.get(variable):
            found[field.name] = _number(variable, text, whole=field.type == "int")
    if found.get("error_rate", 0) > 1:
        raise NotConfigured(f"{_VARIABLE}ERROR_RATE={found['error_rate']:g} is no share: at most 1")
    if not 1 <= found.get("window_s", 1) <= 3_600:
        raise NotConfigured(f"{_VARIABLE}WINDOW_S={found['window_s']:g} is not 1 to 3600 seconds")
    return replace(Thresholds(), **found)


def _number(variable: str, text: str, *, whole: bool) -> float:
    try:
        number = int(text) if whole else float(text)
    except ValueError:
        number = 0
    if not (math.isfinite(number) and number > 0):
        wanted = "a whole number" if whole else "a number"
        raise NotConfigured(f"{variable}={text!r} is not {wanted} over 0")
    return number
