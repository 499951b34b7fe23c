"""What the janitor tells of limits and of decisions that are overdue, once each."""

from __future__ import annotations

from datetime import UTC, datetime

from agentjournal.events import Limit, Limits
from agentjournal.ids import Partition, stream_id
from agentjournal.limits import DEFAULT_TTL_S, DEFAULTS, ConfiguredLimits, TenantLimits
from consumers.janitor_limits import (
    Active,
    Looked,
    Over,
    Place,
    Untold,
    alert_of,
    rows_of,
    user_stream,
    warning_of,
)
from consumers.postgres_migrations import read_migrations


def test_every_tenant_with_limits_of_its_own_has_all_of_them() -> None:
    configured = ConfiguredLimits(
        TenantLimits(60.0, Limits(events=Limit(maximum=5, policy="refuse"))),
        {"acme": TenantLimits(None, Limits(tokens=Limit(maximum=7)))},
    )
    rows = {(tenant, name): (most, policy) for tenant, name, most, policy in rows_of(configured)}
    assert len(rows) == 2 * (len(DEFAULTS) + 1)
    assert rows["", "ttl_s"] == rows["acme", "ttl_s"] == (60.0, None)
    assert rows["", "events"] == rows["acme", "events"] == (5.0, "refuse")
    assert rows["", "tokens"] == (float(DEFAULTS["tokens"]), "warn")
    assert rows["acme", "tokens"] == (7.0, "warn")


def test_the_database_knows_the_default_ttl_before_a_janitor_has_run() -> None:
    made = next(each.sql for each in read_migrations() if b"VIEW agentjournal.idle" in each.sql)
    assert f"{DEFAULT_TTL_S:.0f})) AS ttl_s".encode() in made


def test_a_warning_is_asked_for_once_a_limit_and_says_whole_numbers_as_such() -> None:
    over = Over(stream_id("session", "acme", "s"), "age_s", 10.0, 2.5)
    request = warning_of(over).request
    assert (request.append_id, request.expected_version) == ("limit-age_s", None)
    [event] = request.events
    assert event.type == "limit.exceeded"
    assert event.data == b'{"limit":"age_s","value":10,"maximum":2.5,"policy":"warn"}'


def test_more_than_an_event_can_say_is_told_as_the_most_that_it_can() -> None:
    over = Over(stream_id("session", "acme", "s"), "artifact_bytes", float(2**64), 2e9)
    [event] = warning_of(over).request.events
    assert f'"value":{2**63 - 1},'.encode() in event.data


def test_an_alert_seen_again_is_the_same_alert() -> None:
    began = datetime(2026, 1, 31, 12, tzinfo=UTC)
    stream = stream_id("session", "acme", "s 1")
    untold = Untold("decision_overdue", stream, "approval a-1", 90_000.0, 86_400.0, began)
    first = alert_of(untold, "2026-02-01T13:00:00.000Z")
    later = alert_of(untold._replace(value=99_000.0), "2026-02-01T15:30:00.000Z")
    assert first.alert_id == later.alert_id
    assert first.alert_id != alert_of(untold._replace(what="approval a-2"), first.at).alert_id
    assert first.text == "approval a-1 of session s 1 has waited for 25 hours"
    assert (first.tenant, first.subject, first.source) == ("acme", stream, "janitor")


def test_a_user_whose_stream_no_key_holds_has_no_facts() -> None:
    session = Active(stream_id("session", "acme", "s"), "acme", "s", "u-1")
    assert user_stream(session) == "user/acme/u-1"
    assert user_stream(session._replace(user_id=None)) == ""
    long = "\U0001f600" * 255
    assert user_stream(session._replace(tenant=long, user_id=long)) == ""


def place(second: int, partition: int = 1) -> Place:
    moment = datetime(2026, 1, 31, 12, 0, second, tzinfo=UTC)
    return Place(Partition(partition), moment, moment)


def test_a_place_is_looked_at_again_until_others_show_what_came_before() -> None:
    looked = Looked(3.0)
    assert looked.at(place(1), 100.0) is None
    assert looked.at(place(1), 102.9) is None
    assert looked.at(place(1, partition=2), 103.0) is None
    assert looked.at(place(1), 103.0) == place(1)


def test_where_much_happens_the_last_place_that_was_seen_so_long_ago_counts() -> None:
    looked = Looked(3.0)
    found = [looked.at(place(second), float(second)) for second in range(1, 8)]
    assert found == [None, None, None, place(1), place(2), place(3), place(4)]
    assert looked.at(place(20), 20.0) == place(7)
