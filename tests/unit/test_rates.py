"""Rates: read as they were written, and put together from several meters."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal.rates import (
    Rates,
    TenantRates,
    ToolRates,
    Uncounted,
    decode_rates,
    duration_class,
    encode_rates,
    of_members,
    percentile_s,
)

TOOL = ToolRates("t", "look_up", 20, 5, 10, 7, 3, ((0, 4), (30, 6)))
RATES = Rates(
    "2026-01-31T12:00:00.000Z", 30, 300, (TenantRates("t", 10, 5, 7, 1, 1),), (TOOL,), Uncounted(1)
)

texts = st.text(st.characters(codec="utf-8"), max_size=5)
counts = st.integers(0, 2**40)


def test_what_is_written_is_read_and_fields_of_later_releases_are_left_out() -> None:
    assert decode_rates(encode_rates(RATES)) == RATES
    later = orjson.loads(encode_rates(RATES))
    later["new"] = later["tenants"][0]["new"] = later["tools"][0]["new"] = 1
    assert decode_rates(orjson.dumps(later)) == RATES


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"1", b"{}", b'{"at": 1, "window_s": 1}'])
def test_what_is_no_snapshot_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match="no snapshot"):
        decode_rates(raw)


@given(tenant=texts, tool=texts, calls=counts)
def test_any_name_is_read_as_it_was_written(tenant: str, tool: str, calls: int) -> None:
    rates = Rates("2026", 60, 300, tools=(ToolRates(tenant, tool, 0, 0, calls, 0, 0),))
    assert decode_rates(encode_rates(rates)) == rates


@given(seconds=st.lists(st.floats(0.001, 80_000), min_size=1, max_size=200))
def test_a_percentile_is_right_within_a_tenth(seconds: list[float]) -> None:
    classes = [(duration_class(each), 1) for each in seconds]
    for share in (0.5, 0.95):
        exact = sorted(seconds)[max(0, -(-len(seconds) * share // 1).__int__() - 1)]
        assert percentile_s(classes, share) == pytest.approx(exact, rel=0.11)


def test_durations_beyond_all_classes_are_in_the_first_or_the_last() -> None:
    assert duration_class(-1) == duration_class(0) == 0
    assert duration_class(1e12) == duration_class(1e9)
    assert percentile_s((), 0.5) is None
    assert replace(TOOL, durations=()).p50_s is None


def test_rates_are_by_the_minute_and_of_outcomes_only() -> None:
    assert RATES.a_minute(10) == 20
    assert TOOL.error_rate == 0.3
    assert replace(TOOL, completed=0, failed=0).error_rate is None


def test_several_meters_are_one() -> None:
    other = replace(
        RATES,
        at="2026-01-31T12:00:01.000Z",
        tenants=(TenantRates("t", 1, 1, 1, 1, 1), TenantRates("u", 2, 0, 0, 0, 0)),
        tools=(replace(TOOL, durations=((30, 1), (31, 1))), replace(TOOL, tenant="u")),
    )
    assert of_members([RATES, other]) == Rates(
        "2026-01-31T12:00:01.000Z",
        30,
        300,
        (TenantRates("t", 11, 6, 8, 2, 2), TenantRates("u", 2, 0, 0, 0, 0)),
        (
            ToolRates("t", "look_up", 40, 10, 20, 14, 6, ((0, 4), (30, 7), (31, 1))),
            replace(TOOL, tenant="u"),
        ),
        Uncounted(2),
    )
    assert of_members([RATES]) == RATES
    assert of_members([]) is None
