"""Limits of a session: its own, its tenant's, and the defaults; and the file that states them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentjournal.errors import NotConfigured
from agentjournal.events import Limit, Limits, SessionStarted
from agentjournal.limits import (
    DEFAULT_PROMOTE_AFTER_IDLE_S,
    DEFAULT_TTL_S,
    DEFAULTS,
    NAMES,
    REFUSABLE,
    TenantLimits,
    limits_of,
    read_limits,
)
from streams.lifetime import Lifetime, is_within, lifetime_after

FILE = """
[default]
ttl_s = 3600
tokens = 200000

[tenant.acme]
events = {maximum = 50000, policy = "refuse"}
packages = 7

[tenant.slow]
ttl_s = 0.5
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "limits.toml"
    path.write_text(FILE)
    return path


def test_every_limit_has_a_default_and_warns() -> None:
    assert set(DEFAULTS) == set(NAMES) == set(Limits.model_fields)
    found = TenantLimits().effective()
    assert {name: limit.maximum for name, limit in found.items()} == dict(DEFAULTS)
    assert {limit.policy for limit in found.values()} == {"warn"}
    assert read_limits(None).of("anybody").effective_ttl_s() == DEFAULT_TTL_S == 72 * 60 * 60


def test_its_own_goes_before_the_tenants_and_that_before_the_default(file: Path) -> None:
    limits = read_limits(str(file)).of("acme")
    found = limits.effective(Limits(packages=Limit(maximum=3)))
    assert found["packages"].maximum == 3
    assert found["events"] == Limit(maximum=50_000, policy="refuse")
    assert found["tokens"].maximum == 200_000
    assert found["note_bytes"].maximum == DEFAULTS["note_bytes"]
    assert (limits.effective_ttl_s(), limits.effective_ttl_s(9)) == (3_600, 9)


def test_tenants_have_their_own(file: Path) -> None:
    configured = read_limits(str(file))
    assert configured.of("slow").effective_ttl_s() == 0.5
    assert configured.of("slow").effective()["tokens"].maximum == 200_000
    assert configured.of("other").effective()["events"].maximum == DEFAULTS["events"]
    assert configured.of("acme").effective()["packages"].maximum == 7


def test_a_session_begins_with_what_the_log_is_to_enforce(file: Path) -> None:
    limits = read_limits(str(file))
    begun = limits.of("acme").start(
        SessionStarted(agent="a", limits=Limits(tokens=Limit(maximum=1)))
    )
    refuse = Limit(maximum=50_000, policy="refuse")
    assert begun.limits == Limits(events=refuse, tokens=Limit(maximum=1))
    own = SessionStarted(agent="a", limits=Limits(events=Limit(maximum=9)))
    assert limits.of("acme").start(own).limits == own.limits
    plain = SessionStarted(agent="a")
    assert limits.of("slow").start(plain) is plain


def test_the_fold_enforces_what_can_be_refused_and_nothing_else() -> None:
    for name in NAMES:
        stated = {name: {"maximum": 5, "policy": "refuse"}}
        kept = lifetime_after(Lifetime(), "session.started", {"limits": stated}).limits
        assert bool(kept) == (name in REFUSABLE)
    everything = {name: {"maximum": 5, "policy": "refuse"} for name in REFUSABLE}
    kept = lifetime_after(Lifetime(), "session.updated", {"limits": everything}).limits
    at = dict.fromkeys(("version", "data_bytes", "tokens"), 5) | {"age_ms": 5_000}
    assert is_within(kept, **at)
    assert not any(is_within(kept, **(at | {name: most + 1})) for name, most in at.items())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[defaults]", "defaults: tables are `default` and `tenant.NAME`"),
        ("tenant = 1", "tenant is not a table of tenants"),
        ("default = 1", "default is not a table"),
        ("[tenant]\nacme = 1", "tenant.acme is not a table"),
        ("[default]\nttl_s = 'a day'", "default.ttl_s is not a number of seconds"),
        ("[default]\nttl_s = true", "default.ttl_s is not a number of seconds"),
        ("[default]\nttl_s = 0", "default.ttl_s is not above 0"),
        ("[default]\nttl_s = nan", "default.ttl_s is not above 0"),
        ("[tenant.a]\nevent = 1", "tenant.a.event: is not a limit"),
        ("[tenant.a]\nevents = -1", "tenant.a.events.maximum"),
        ("[tenant.a]\nevents = {policy = 'refuse'}", "tenant.a.events.maximum"),
        ("[tenant.a]\nevents = {maximum = 1, policy = 'no'}", "tenant.a.events.policy"),
        ("[tenant.a]\npackages = {maximum = 1, policy = 'refuse'}", "tenant.a.packages: can be"),
        ("[", "cannot be read"),
    ],
)
def test_a_mistake_in_the_file_is_named_by_its_place(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "limits.toml"
    path.write_text(text)
    with pytest.raises(NotConfigured) as raised:
        read_limits(str(path))
    assert str(path) in str(raised.value)
    assert said in str(raised.value)


def test_a_file_that_is_not_there_is_said() -> None:
    with pytest.raises(NotConfigured, match="nowhere"):
        read_limits("nowhere/limits.toml")


def test_a_number_is_a_maximum_that_is_warned_of() -> None:
    given: dict[str, Any] = {"events": 5, "bytes": {"maximum": 6, "policy": "refuse"}}
    refuse = Limit(maximum=6, policy="refuse")
    assert limits_of(given) == Limits(events=Limit(maximum=5), bytes=refuse)
    assert limits_of(limits_of(given)) == limits_of(given)
    with pytest.raises(ValueError, match="fact_bytes: can be warned of"):
        limits_of(Limits(fact_bytes=refuse))


def test_a_tenant_says_after_how_long_an_idle_session_is_promoted(tmp_path: Path) -> None:
    path = tmp_path / "limits.toml"
    path.write_text("[tenant.acme]\npromote_after_idle_s = 60\n[tenant.slow]\nttl_s = 5\n")
    limits = read_limits(str(path))
    assert limits.promote_after_idle_s("acme") == 60
    assert limits.promote_after_idle_s("slow") == limits.promote_after_idle_s() == 30 * 60
    assert DEFAULT_PROMOTE_AFTER_IDLE_S == 30 * 60
    path.write_text("[default]\npromote_after_idle_s = 9\n[tenant.acme]\nttl_s = 5\n")
    assert read_limits(str(path)).promote_after_idle_s("acme") == 9
    path.write_text("[default]\npromote_after_idle_s = 0\n")
    with pytest.raises(NotConfigured, match=r"default\.promote_after_idle_s is not above 0"):
        read_limits(str(path))
