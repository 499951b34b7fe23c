"""Old schema versions to the current one, on reading: stored bytes are never rewritten."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Fields = dict[str, Any]
Upcaster = Callable[[Fields], Fields]  # pure: the fields of one version to those of the next

_UPCASTERS: dict[tuple[str, int], Upcaster] = {}


def add_upcasters(event_type: str, version: int, upcasters: Mapping[int, Upcaster]) -> None:
    """Read old events of `event_type` through `upcasters`: {1: version 1 to 2, 2: 2 to 3, …}.

    Raises ValueError unless there is one for each version below `version`, the current one.
    """
    if sorted(upcasters) != list(range(1, version)):
        needed = ", ".join(map(str, range(1, version))) or "none"
        raise ValueError(f"{event_type} version {version} needs upcasters for versions: {needed}")
    _UPCASTERS.update({(event_type, old): upcaster for old, upcaster in upcasters.items()})


def upcast(event_type: str, schema_version: int, fields: Fields, *, to: int) -> Fields:
    """Return `fields`, written under `schema_version`, as schema version `to` has them."""
    for version in range(schema_version, to):
        fields = _UPCASTERS[event_type, version](fields)
    return fields
