"""Alerts: what somebody should look at, each a CloudEvent in the topic `alerts`.

An alert says that something began. The same thing seen again, by the same role after a restart or
by another one, has the same `alert_id`, so readers drop repeats.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, TypeAlias
from urllib.parse import quote

import orjson

from agentjournal.ids import Partition, Position

AlertKind: TypeAlias = Literal[
    "decision_overdue",
    "error_rate",
    "limit_exceeded",
    "limit_refused",
    "runaway_loop",
    "session_storm",
    "stuck_call",
]
Severity: TypeAlias = Literal["warning", "critical"]

# Critical is what goes on costing money or failing users until somebody stops it.
SEVERITIES: Final[Mapping[AlertKind, Severity]] = {
    "decision_overdue": "warning",
    "error_rate": "critical",
    "limit_exceeded": "warning",
    "limit_refused": "critical",
    "runaway_loop": "critical",
    "session_storm": "critical",
    "stuck_call": "warning",
}

_TYPE: Final = "alert."
_SCHEMA_VERSION: Final = 1
_MOST_SUBJECT: Final = 8_000  # the longest stream id is shorter
_MOST_TEXT: Final = 1_000


@dataclass(frozen=True, slots=True)
class Alert:
    """One thing that somebody should look at; `raised` makes them."""

    alert_id: str  # equal for the same kind, tenant, subject and beginning
    kind: str  # an AlertKind, or one of a later release
    severity: str  # a Severity, or one of a later release
    tenant: str
    subject: str  # what it is about: a stream, a tool, a tenant
    text: str  # one line for people
    at: str  # ISO 8601: when it was seen
    source: str  # the role that raised it
    value: float | None = None  # what was measured
    threshold: float | None = None  # what it may be at most


@dataclass(frozen=True, slots=True)
class NoAlert:
    """A record of the topic that holds no alert, and why not."""

    partition: Partition
    position: Position
    reason: str


class AlertSink(Protocol):
    """Where a role puts the alerts that it raises."""

    async def write(self, alerts: Sequence[Alert], /) -> None:
        """Return when all are kept.

        Raises Unavailable: any of them may be kept or not, and may be written again.
        """
        ...


def raised(  # noqa: PLR0913 - an alert has these parts
    kind: AlertKind,
    *,
    tenant: str,
    subject: str,
    text: str,
    at: str,
    source: str,
    began: str | None = None,
    value: float | None = None,
    threshold: float | None = None,
) -> Alert:
    """Return an alert of this kind.

    `began` tells it from earlier ones about the same subject: a time, a version or an id that is
    the same whoever looks and however often (default: `at`). Text that UTF-8 does not hold is
    escaped; a subject over 8,000 and a text over 1,000 characters end in an ellipsis.
    """
    tenant, subject = _plain(tenant, _MOST_SUBJECT), _plain(subject, _MOST_SUBJECT)
    return Alert(
        alert_id=alert_id(kind, tenant, subject, began or at),
        kind=kind,
        severity=SEVERITIES[kind],
        tenant=tenant,
        subject=subject,
        text=_plain(text, _MOST_TEXT),
        at=at,
        source=source,
        value=value,
        threshold=threshold,
    )


def alert_id(kind: str, tenant: str, subject: str, began: str) -> str:
    """Return the id of what began then: 32 hexadecimal digits, equal in any process."""
    told = orjson.dumps([kind, tenant, subject, _plain(began, _MOST_SUBJECT)])
    return hashlib.sha256(told).hexdigest()[:32]


def encode_alert(alert: Alert) -> bytes:
    """Return the record of the topic: a CloudEvent whose data is the alert."""
    return orjson.dumps(
        {
            "specversion": "1.0",
            "id": alert.alert_id,
            "source": f"/{quote(alert.tenant, safe='')}/{quote(alert.source, safe='')}",
            "type": f"{_TYPE}{alert.kind}",
            "subject": alert.subject,
            "time": alert.at,
            "datacontenttype": "application/json",
            "schemaversion": _SCHEMA_VERSION,
            "data": {
                "kind": alert.kind,
                "severity": alert.severity,
                "tenant": alert.tenant,
                "subject": alert.subject,
                "text": alert.text,
                "at": alert.at,
                "source": alert.source,
                "value": alert.value,
                "threshold": alert.threshold,
            },
        }
    )


def decode_alert(record: bytes) -> Alert:
    """Return the alert in a record of the topic; kinds and fields of later releases are fine.

    Raises ValueError, which says what is wrong with it.
    """
    try:
        found: Any = orjson.loads(record)
        fields = found["data"]
        texts = {name: fields[name] for name in _TEXTS}
        texts["alert_id"] = found["id"]
    except orjson.JSONDecodeError as error:
        raise ValueError(f"it is not JSON: {error}") from None
    except (KeyError, TypeError) as error:
        raise ValueError(f"it has no {error}, or is no object") from None
    for name, text in texts.items():
        if not isinstance(text, str) or not text:
            raise ValueError(f"{name} is not a text")
    numbers = {name: fields.get(name) for name in ("value", "threshold")}
    for name, number in numbers.items():
        if not _is_number(number):
            raise ValueError(f"{name} is not a number")
    return Alert(**texts, **numbers)


_TEXTS: Final = ("kind", "severity", "tenant", "subject", "text", "at", "source")


def _is_number(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _plain(text: str, most: int) -> str:
    # Names of tools and tenants hold whatever their writers liked, halves of surrogate pairs too.
    held = text[: most + 1].encode("utf-8", "backslashreplace").decode()
    return held if len(held) <= most else held[: most - 1] + "…"
