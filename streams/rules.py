"""The rules that a partition is decided under: numbered, frozen, the same in every sequencer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from agentjournal.codec import FormError, parse_strict
from streams.shapes import compile_shapes, read_table

Fault = tuple[str, str]  # path, reason


@dataclass(frozen=True, slots=True)
class Rules:
    """What the fold may decide: limits, types, and the shape of each."""

    number: int
    partitions: int
    max_request_bytes: int
    max_records_bytes: int
    streams: Mapping[str, frozenset[str]]  # the kinds of stream that a type belongs to
    shape: Callable[[str, int, dict[str, Any]], Fault | None]

    def check(
        self, kind: str, event_type: str, schema_version: int, raw: bytes
    ) -> tuple[dict[str, Any], Fault | None]:
        """Return the parsed `data`, and what is wrong with the event, if anything is."""
        streams = self.streams.get(event_type)  # of a custom type, or one that is not known: all
        if streams is not None and kind not in streams:
            return {}, ("type", f"{event_type} does not belong to a {kind} stream")
        try:
            parsed = parse_strict(raw)
        except FormError as error:
            return {}, ("data", error.reason)
        fault = self.shape(event_type, schema_version, parsed)
        if fault is None:
            return parsed, None
        path, reason = fault
        return parsed, (f"data.{path}" if path else "data", reason)


@cache
def rules_1() -> Rules:
    """Return rules 1, in force until a later number is written into the log."""
    table = read_table(1)
    return Rules(
        number=1,
        partitions=table["partitions"],
        max_request_bytes=table["max_request_bytes"],
        max_records_bytes=table["max_records_bytes"],
        streams={
            event_type: frozenset(kind for of in versions.values() for kind in of["streams"])
            for event_type, versions in table["types"].items()
        },
        shape=compile_shapes(table),
    )
