"""Old schema versions to the current one, on reading: stored bytes are never rewritten."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentjournal.errors import AppendRejected

Fields = dict[str, Any]
Upcaster = Callable[[Fields], Fields]  # pure: the fields of one version to those of the next

_UPCASTERS: dict[tuple[str, int], Upcaster] = {}


def add_upcasters(event_type: str, version: int, upcasters: Mapping[int, Upcaster]) -> None:
    """Read old events of `event_type` through `upcasters`: {1: version 1 to 2, 2: 2 to 3, …}.

    Raises ValueError unless there is one for each version below `version`, the current one.
    """
    if set(upcasters) != set(range(1, version)):
        needed = ", ".join(map(str, range(1, version))) or "none"
        given = ", ".join(map(str, upcasters)) or "none"
        raise ValueError(
            f"{event_type} version {version} needs upcasters for versions: {needed}; "
            f"there are: {given}"
        )
    for old, upcaster in upcasters.items():
        if not callable(upcaster):
            raise TypeError(f"{event_type}: the upcaster for version {old} is no function")
    _UPCASTERS.update({(event_type, old): upcaster for old, upcaster in upcasters.items()})


def upcast(event_type: str, schema_version: int, fields: Fields, *, to: int) -> Fields:
    """Return `fields`, written under `schema_version`, as schema version `to` has them.

    Raises AppendRejected when an upcaster fails on them, or gives back what is no dict.
    """
    for version in range(schema_version, to):
        fields = _next(event_type, version, fields)
    return fields


def _next(event_type: str, version: int, fields: Fields) -> Fields:
    step = f"the upcaster of {event_type} from version {version} to {version + 1}"
    try:
        newer: Any = _UPCASTERS[event_type, version](fields)  # a user's: may return anything
    except Exception as error:
        raise AppendRejected("data", f"{step} raised {type(error).__name__}: {error}") from error
    if type(newer) is not dict:
        raise AppendRejected("data", f"{step} returned a {type(newer).__name__}, not a dict")
    return newer
