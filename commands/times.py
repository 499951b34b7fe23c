"""Moments as people write and read them, in the time zone of this machine."""

from __future__ import annotations

from datetime import datetime


def moment(text: str) -> datetime:
    """Return the moment that `text` names in ISO 8601; without a zone it is local time.

    Raises ValueError.
    """
    return datetime.fromisoformat(text).astimezone()


def date_and_clock(at: str | datetime) -> str:
    """Return `2026-01-31 12:00:00` of an ISO 8601 text or a moment, in local time."""
    return _local(at).strftime("%Y-%m-%d %H:%M:%S")


def date_and_milliseconds(at: str | datetime) -> str:
    """Return `2026-01-31 12:00:00.123` of an ISO 8601 text or a moment, in local time."""
    return _local(at).isoformat(sep=" ", timespec="milliseconds")[:23]


def zone(at: str | datetime) -> str:
    """Return the local time zone at that moment, like `UTC+02:00`."""
    return f"UTC{_local(at).isoformat()[-6:]}"


def lasting(milliseconds: float) -> str:
    """Return how long that is, for people: `850 ms`, `1.2 s`, `3 min 20 s`, `2 h 5 min`."""
    if milliseconds < 999.5:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1_000
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60:,} h {minutes % 60} min"


def _local(at: str | datetime) -> datetime:
    return (datetime.fromisoformat(at) if isinstance(at, str) else at).astimezone()
