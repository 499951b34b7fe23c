"""Every type there is, its model, and where it may happen."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from agentjournal.events import (
    collaboration,
    environment,
    execution,
    memory,
    message,
    model,
    plan,
    session,
    tool,
)
from agentjournal.events.base import Event
from agentjournal.events.unknown import CustomEvent, UnknownEvent
from agentjournal.upcasters import Upcaster, add_upcasters

_CUSTOM = re.compile(r"custom\.[A-Za-z0-9_.-]{1,248}")
_ONLY_SESSIONS = ("session.", "turn.", "message.")
_ENTITIES = frozenset({"user", "account", "project"})

FAMILIES = (
    *(session, message, model, tool, plan, execution),
    *(collaboration, environment, memory),
)

BUILT_IN: Mapping[str, type[Event]] = MappingProxyType(
    {
        found.type: found
        for family in FAMILIES
        for found in vars(family).values()
        if isinstance(found, type) and issubclass(found, Event) and found.type
    }
)

_types: dict[str, type[Event]] = dict(BUILT_IN)

EVENT_TYPES: Mapping[str, type[Event]] = MappingProxyType(_types)  # registered ones included


def register(
    model: type[Event],
    /,
    *,
    type: str,  # noqa: A002 - the word of the public surface
    version: int = 1,
    upcasters: Mapping[int, Upcaster] | None = None,
) -> None:
    """Make `model` the model of the custom events of `type`, at schema version `version`.

    `upcasters` has one function for each older version, from its fields to those of the next.
    Raises ValueError when the name is not `custom.<name>`, when another model has it, when the
    model has another name, or when an upcaster is missing; TypeError for what is no model.
    """
    if not is_custom(type):
        raise ValueError(f"{type!r} is not custom.<name> of letters, digits, '_', '.' and '-'")
    _check_model(model, type)
    if version < 1:
        raise ValueError(f"{type}: version {version} is below 1, the first")
    add_upcasters(type, version, upcasters or {})
    model.type, model.schema_version = type, version
    _types[type] = model


def _check_model(model: Any, event_type: str) -> None:
    if not isinstance(model, type) or not issubclass(model, Event):
        raise TypeError(f"{event_type}: {model!r} is no subclass of agentjournal.Event")
    name = _name(model)
    if model in (Event, UnknownEvent, CustomEvent) or model in BUILT_IN.values():
        raise ValueError(f"{event_type}: {name} is a model of agentjournal; subclass Event")
    own: str = vars(model).get("type", "")  # a subclass may have a type of its own
    if own not in {"", event_type}:
        raise ValueError(f"{event_type}: {name} is the model of {own} already; subclass it")
    known = _types.get(event_type)
    if known is not None and _name(known) != name:
        raise ValueError(f"{event_type}: {_name(known)} is its model already, not {name}")


def _name(model: type[Event]) -> str:
    return f"{model.__module__}.{model.__qualname__}"  # the same when a module is loaded again


def is_custom(event_type: str) -> bool:
    """Return whether `event_type` is a name that users may give to a type of their own."""
    return _CUSTOM.fullmatch(event_type) is not None


def allowed_on(event_type: str, kind: str) -> bool:
    """Return whether events of `event_type` may be on a stream of `kind`, like session or user."""
    if event_type.startswith(_ONLY_SESSIONS):
        return kind == "session"
    if event_type.startswith("fact."):
        return kind in _ENTITIES
    return True
