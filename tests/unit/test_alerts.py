"""Alerts as records: what was raised comes back, and what others wrote does not stop a reader."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal.alerts import (
    SEVERITIES,
    Alert,
    AlertKind,
    alert_id,
    decode_alert,
    encode_alert,
    raised,
)

AT = "2026-01-31T12:00:00.000Z"
STORM = raised(
    "session_storm",
    tenant="acme/eu",
    subject="acme/eu",
    text="120 sessions began within a minute, 100 are usual at most",
    at=AT,
    source="meter",
    value=120,
    threshold=100,
)


def test_an_alert_is_a_cloudevent() -> None:
    assert orjson.loads(encode_alert(STORM)) == {
        "specversion": "1.0",
        "id": hashlib.sha256(
            b'["session_storm","acme/eu","acme/eu","2026-01-31T12:00:00.000Z"]'
        ).hexdigest()[:32],
        "source": "/acme%2Feu/meter",
        "type": "alert.session_storm",
        "subject": "acme/eu",
        "time": AT,
        "datacontenttype": "application/json",
        "schemaversion": 1,
        "data": {
            "kind": "session_storm",
            "severity": "critical",
            "tenant": "acme/eu",
            "subject": "acme/eu",
            "text": "120 sessions began within a minute, 100 are usual at most",
            "at": AT,
            "source": "meter",
            "value": 120,
            "threshold": 100,
        },
    }


def test_every_kind_has_a_severity() -> None:
    assert set(SEVERITIES) == set(get_args(AlertKind))


@given(
    kind=st.sampled_from(sorted(SEVERITIES)),
    tenant=st.text(st.characters(), min_size=1),
    subject=st.text(st.characters(), min_size=1, max_size=50),
    text=st.text(st.characters(), min_size=1, max_size=50),
    value=st.none() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False),
)
def test_what_was_raised_is_read_again_whatever_the_names_hold(
    kind: AlertKind, tenant: str, subject: str, text: str, value: float | None
) -> None:
    alert = raised(
        kind, tenant=tenant, subject=subject, text=text, at=AT, source="meter", value=value
    )
    found = decode_alert(encode_alert(alert))
    if value in (float("inf"), float("-inf")):
        found = replace(found, value=value)  # JSON has none
    assert found == alert


def test_names_that_utf_8_does_not_hold_are_escaped() -> None:
    alert = raised("stuck_call", tenant="a", subject="x\ud800y", text="\udfff", at=AT, source="m")
    assert (alert.subject, alert.text) == ("x\\ud800y", "\\udfff")


def test_long_names_end_in_an_ellipsis() -> None:
    alert = raised(
        "error_rate", tenant="a", subject="t" * 1_000_000, text="é" * 1_001, at=AT, source="m"
    )
    assert alert.subject == "t" * 7_999 + "…"
    assert alert.text == "é" * 999 + "…"
    assert decode_alert(encode_alert(alert)) == alert


def test_the_same_beginning_has_the_same_id_and_another_one_has_not() -> None:
    first = raised("stuck_call", tenant="a", subject="s", text="1", at=AT, source="m", began="7")
    later = raised(
        "stuck_call", tenant="a", subject="s", text="2", at="later", source="x", began="7"
    )
    assert first.alert_id == later.alert_id == alert_id("stuck_call", "a", "s", "7")
    others = [
        alert_id("error_rate", "a", "s", "7"),
        alert_id("stuck_call", "b", "s", "7"),
        alert_id("stuck_call", "a", "t", "7"),
        alert_id("stuck_call", "a", "s", "8"),
        alert_id("stuck_call", "as", "", "7"),
    ]
    assert len({first.alert_id, *others}) == 6


def test_kinds_and_fields_of_later_releases_are_read() -> None:
    record = orjson.loads(encode_alert(STORM))
    record["new"] = {"x": 1}
    record["data"] |= {"kind": "disk_full", "severity": "fatal", "node": "b-7"}
    assert decode_alert(orjson.dumps(record)) == replace(STORM, kind="disk_full", severity="fatal")


def test_numbers_may_be_absent() -> None:
    record = orjson.loads(encode_alert(STORM))
    del record["data"]["value"], record["data"]["threshold"]
    assert decode_alert(orjson.dumps(record)) == replace(STORM, value=None, threshold=None)


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (b"", "it is not JSON: .*"),
        (b"\xff", "it is not JSON: .*"),
        (b"[]", "it has no .*, or is no object"),
        (b"null", "it has no .*, or is no object"),
        (b"{}", "it has no 'data', or is no object"),
        (b'{"data":{}}', "it has no 'kind', or is no object"),
        (b'{"data":7,"id":"x"}', "it has no .*, or is no object"),
    ],
)
def test_what_is_no_alert_says_why(record: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=f"^{why}$"):
        decode_alert(record)


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("text", 7, "text is not a text"),
        ("tenant", None, "tenant is not a text"),
        ("subject", "", "subject is not a text"),
        ("value", "7", "value is not a number"),
        ("threshold", True, "threshold is not a number"),
    ],
)
def test_a_field_of_another_kind_is_named(name: str, value: object, why: str) -> None:
    record = orjson.loads(encode_alert(STORM))
    record["data"][name] = value
    with pytest.raises(ValueError, match=f"^{why}$"):
        decode_alert(orjson.dumps(record))


def test_an_alert_does_not_change() -> None:
    with pytest.raises(AttributeError):
        STORM.text = "other"  # type: ignore[misc] # that is the point
    assert isinstance(STORM, Alert)


def test_the_page_has_a_part_for_every_kind_and_its_severity() -> None:
    page = (Path(__file__).parents[2] / "docs" / "alerts.md").read_text(encoding="utf-8")
    parts = re.findall(r"^### `(\w+)`\n\n(?:.+\n)+\n\*What to do\.\* ", page, re.MULTILINE)
    assert sorted(parts) == sorted(SEVERITIES)
    table = dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", page, re.MULTILINE))
    assert table == SEVERITIES
