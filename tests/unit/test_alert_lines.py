"""Alerts as people read them: one line, and nothing in it moves the cursor."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace

import orjson
import pytest
from typer.testing import CliRunner

from agentjournal.alerts import raised
from commands.alert_lines import alert_json, alert_line
from commands.app import command_line

ALERT = raised(
    "error_rate",
    tenant="acme",
    subject="pay",
    text="12 of the last 20 calls failed",
    at="2026-01-31T12:00:00.123Z",
    source="meter",
    value=0.6,
    threshold=0.5,
)


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(os.environ, "TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_a_line_says_when_how_bad_what_whose_about_what_and_what_happened() -> None:
    assert alert_line(ALERT, 200) == (
        "2026-01-31 12:00:00  critical  error_rate        acme  pay  12 of the last 20 calls failed"
    )
    warning = replace(ALERT, severity="warning", kind="decision_overdue")
    assert alert_line(warning, 200).startswith(
        "2026-01-31 12:00:00  warning   decision_overdue  acme  pay  "
    )


def test_only_the_text_is_cut_and_it_has_some_room_always() -> None:
    assert alert_line(ALERT, 90) == (
        "2026-01-31 12:00:00  critical  error_rate        acme  pay  12 of the last 20 calls failed"
    )
    long = replace(ALERT, text="x" * 500)
    assert alert_line(long, 100).endswith("  pay  " + "x" * 39 + "…")
    assert alert_line(long, 10).endswith("  pay  " + "x" * 29 + "…")


def test_names_of_others_are_harmless() -> None:
    line = alert_line(
        replace(ALERT, tenant="a\x1b[2J", subject="b\nc\u202e", text="d\n\x07", kind="\x9b1m"), 200
    )
    assert line == (
        r"2026-01-31 12:00:00  critical  \x9b1m            a\x1b[2J  b\nc\u202e  d \x07"
    )


@pytest.mark.parametrize("at", ["soon\n", "2026-13-01", "9999-99"])
def test_what_is_no_time_is_shown_as_it_is(at: str) -> None:
    assert alert_line(replace(ALERT, at=at), 200).startswith(f"{at.strip()}  critical")


def test_json_has_every_field_as_it_is() -> None:
    assert orjson.loads(alert_json(replace(ALERT, text="\x1b"))) == {
        "alert_id": ALERT.alert_id,
        "kind": "error_rate",
        "severity": "critical",
        "tenant": "acme",
        "subject": "pay",
        "text": "\x1b",
        "at": "2026-01-31T12:00:00.123Z",
        "source": "meter",
        "value": 0.6,
        "threshold": 0.5,
    }


@pytest.mark.parametrize(
    ("option", "value", "why"),
    [
        ("--kind", "eror_rate", "'eror_rate' is no kind of alert: there are decision_overdue, "),
        ("--since", "yesterday", "'yesterday' is no moment"),
        ("--since", "999999d", "'999999d' is no moment"),
        ("--limit", "-1", "greater than or equal to 0"),
    ],
)
def test_what_cannot_be_asked_for_is_wrong_use(option: str, value: str, why: str) -> None:
    found = CliRunner().invoke(command_line("alerts"), ["alerts", option, value])
    assert found.exit_code == 2
    assert why in " ".join(found.stderr.replace("│", " ").split())
