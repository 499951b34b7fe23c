"""How much a session may come to, and how long it may be idle: defaults, a tenant's, its own."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from pydantic import ValidationError

from agentjournal.errors import NotConfigured
from agentjournal.events import (
    EnvironmentChanged,
    Event,
    FileChanged,
    Limit,
    Limits,
    ModelCalled,
    ProcessEnded,
    SessionStarted,
    StepCompleted,
    StepFailed,
    StepRolledBack,
    StepSettled,
    ToolCompleted,
    ToolFailed,
    ToolSettled,
)

LimitName: TypeAlias = Literal[
    "tokens",
    "events",
    "bytes",
    "age_s",
    "artifact_bytes",
    "snapshot_bytes",
    "packages",
    "note_bytes",
    "plan_bytes",
    "fact_bytes",
    "open_sessions",
]
NAMES: tuple[LimitName, ...] = get_args(LimitName)
# What the head of a stream knows, so that the log itself can refuse what goes beyond.
REFUSABLE: tuple[LimitName, ...] = ("events", "bytes", "tokens", "age_s")

# What took place whether or not it is recorded: no limit refuses it. What else no limit refuses
# says what somebody decided, on a state that may be another one by now.
OUTCOMES = (
    EnvironmentChanged,
    FileChanged,
    ModelCalled,
    ProcessEnded,
    StepCompleted,
    StepFailed,
    StepRolledBack,
    StepSettled,
    ToolCompleted,
    ToolFailed,
    ToolSettled,
)


def outcomes(events: Sequence[Event]) -> list[Event]:
    """Return those of a refused append that took place, and that are recorded alone then."""
    return [event for event in events if isinstance(event, OUTCOMES)]


DEFAULT_TTL_S = 72 * 3_600.0  # a weekend is no end: who leaves on Friday is back on Monday
DEFAULT_PROMOTE_AFTER_IDLE_S = 1_800.0  # a chat that nobody ends: what it says is kept meanwhile

DEFAULTS: Mapping[LimitName, int] = {
    "tokens": 128_000,  # what the usual models read at once: from here on only a part is seen
    "events": 100_000,  # a load reads them all, near 2 s
    "bytes": 100_000_000,  # held in memory by whoever loads the session
    "age_s": 90 * 86_400,  # older ones are rather a task, which outlives sessions
    "artifact_bytes": 2_000_000_000,  # a working copy with its builds; more is a data set
    "snapshot_bytes": 500_000_000,  # beyond it, restoring takes longer than setting up anew
    "packages": 100,  # an environment that lists more was copied, not chosen
    "note_bytes": 10_000,  # a model reads them in every turn
    "plan_bytes": 100_000,  # the same, and a person has to be able to follow it
    "fact_bytes": 1_000_000,  # some thousand facts; more about one user is mostly noise
    "open_sessions": 100,  # one user does not talk in more at a time: a loop opens them
}

_TTL, _PROMOTE = "ttl_s", "promote_after_idle_s"
_NONE = Limits()


@dataclass(frozen=True, slots=True)
class TenantLimits:
    """What a tenant's sessions are given: a TTL in seconds, None for the default, and limits.

    After `promote_after_idle_s` without an event the promoter reads a session that has not ended.
    """

    ttl_s: float | None = None
    limits: Limits = _NONE
    promote_after_idle_s: float | None = None

    def effective(self, own: Limits | None = None) -> Mapping[LimitName, Limit]:
        """Return every limit of a session that has `own`: its own, the tenant's, the default."""
        found: dict[LimitName, Limit] = {}
        for name in NAMES:
            mine = None if own is None else getattr(own, name)
            found[name] = mine or getattr(self.limits, name) or Limit(maximum=DEFAULTS[name])
        return found

    def effective_ttl_s(self, own: float | None = None) -> float:
        """Return after how many idle seconds a session that says `own` expires."""
        if own is not None:
            return own
        return DEFAULT_TTL_S if self.ttl_s is None else self.ttl_s

    def start(self, event: SessionStarted) -> SessionStarted:
        """Return the start of a session with those of the tenant's limits that the log enforces."""
        enforced = {
            name: limit
            for name in REFUSABLE
            if (limit := getattr(self.limits, name)) is not None and limit.policy == "refuse"
        }
        if not enforced:
            return event
        own = {} if event.limits is None else dict(event.limits)
        merged = enforced | {name: limit for name, limit in own.items() if limit is not None}
        return event.model_copy(update={"limits": Limits(**merged)})


NO_LIMITS = TenantLimits()  # of its own: the defaults hold


@dataclass(frozen=True, slots=True)
class ConfiguredLimits:
    """What the file that AGENTJOURNAL_LIMITS names says, for every tenant."""

    default: TenantLimits = NO_LIMITS
    tenants: Mapping[str, TenantLimits] = field(default_factory=dict[str, TenantLimits])

    def of(self, tenant: str) -> TenantLimits:
        """Return what holds for a tenant: its own table, and the table `default` for the rest."""
        own = self.tenants.get(tenant)
        if own is None:
            return self.default
        both = dict(self.default.limits) | {
            name: limit for name, limit in own.limits if limit is not None
        }
        ttl_s = self.default.ttl_s if own.ttl_s is None else own.ttl_s
        idle_s = own.promote_after_idle_s
        if idle_s is None:
            idle_s = self.default.promote_after_idle_s
        return TenantLimits(ttl_s, Limits(**both), idle_s)

    def promote_after_idle_s(self, tenant: str | None = None) -> float:
        """Return how long a session is idle before it is promoted, by default of no tenant."""
        limits = self.default if tenant is None else self.of(tenant)
        stated = limits.promote_after_idle_s
        return DEFAULT_PROMOTE_AFTER_IDLE_S if stated is None else stated


def read_limits(path: str | None) -> ConfiguredLimits:
    """Return what a TOML file says; without one, the defaults of this module.

        [default]
        ttl_s = 86400
        promote_after_idle_s = 900
        tokens = 200000

        [tenant.acme]
        events = {maximum = 50000, policy = "refuse"}

    Raises NotConfigured, which names the place.
    """
    if path is None:
        return ConfiguredLimits()
    try:
        given = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NotConfigured(f"{path} cannot be read: {error}") from error
    for name in given:
        if name not in {"default", "tenant"}:
            raise NotConfigured(f"{path}: {name}: tables are `default` and `tenant.NAME`")
    tenants = given.get("tenant", {})
    if not isinstance(tenants, dict):
        raise NotConfigured(f"{path}: tenant is not a table of tenants")
    return ConfiguredLimits(
        _tenant(f"{path}: default", given.get("default", {})),
        {name: _tenant(f"{path}: tenant.{name}", table) for name, table in tenants.items()},
    )


def _tenant(place: str, table: object) -> TenantLimits:
    if not isinstance(table, dict):
        raise NotConfigured(f"{place} is not a table")
    given: dict[str, Any] = dict(table)
    ttl_s, idle_s = _seconds(place, given, _TTL), _seconds(place, given, _PROMOTE)
    try:
        return TenantLimits(ttl_s, limits_of(given), idle_s)
    except ValueError as error:
        raise NotConfigured(f"{place}.{error}") from None


def _seconds(place: str, given: dict[str, Any], name: str) -> float | None:
    """Take a number of seconds out of what is given."""
    value = given.pop(name, None)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NotConfigured(f"{place}.{name} is not a number of seconds")
    if not value > 0:
        raise NotConfigured(f"{place}.{name} is not above 0")
    return float(value)


def limits_of(given: Limits | Mapping[str, Limit | int | Mapping[str, Any]]) -> Limits:
    """Return limits from a mapping of their names; a number is a maximum that is warned of.

    Raises ValueError, which begins with the name, for one that is not known, is no limit, or has
    the policy `refuse` where the log cannot refuse.
    """
    if isinstance(given, Limits):
        given = {name: limit for name, limit in given if limit is not None}
    found: dict[str, Limit] = {}
    for name, stated in given.items():
        if name not in NAMES:
            raise ValueError(f"{name}: is not a limit: {', '.join(NAMES)}")
        value: object = stated if isinstance(stated, Limit | Mapping) else {"maximum": stated}
        try:
            limit = Limit.model_validate(value)
        except ValidationError as error:
            fault = error.errors()[0]
            place = ".".join((name, *map(str, fault["loc"])))
            raise ValueError(f"{place}: {fault['msg']}") from None
        if limit.policy == "refuse" and name not in REFUSABLE:
            raise ValueError(f"{name}: can be warned of, only {', '.join(REFUSABLE)} be refused")
        found[name] = limit
    return Limits(**found)
