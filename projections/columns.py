"""Columns that tables of several projections share: whose a row is, times, keys of any length."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from agentjournal.envelope import Recorded
from agentjournal.ids import StreamId, parse_stream
from projections.plain_text import storable
from projections.projection import Context, Fold
from projections.rows import Changes, Policy, Row

Apply: TypeAlias = Callable[[Recorded, Any, Changes], None]

# Whose a row is follows from its stream. A session has no task_id here, a task no session_id.
OWNER: Mapping[str, Policy] = {"tenant": "first", "session_id": "first", "task_id": "first"}

NEVER = "9999-12-31T00:00:00Z"  # no such time; None would leave it to another event to say one

parsed_stream = lru_cache(maxsize=65_536)(parse_stream)


def folding(apply: Mapping[str, Apply]) -> Fold:
    """Return the fold of a projection that looks at each event of its types on its own."""

    def fold(recorded: Recorded, context: Context, changes: Changes) -> Context:
        apply[recorded.type](recorded, recorded.data, changes)
        return context

    return fold


def row_of(recorded: Recorded, /, **columns: Any) -> Row:
    """Return a row with its owner, and the version that it comes from."""
    return {**owner(recorded.stream), "version": recorded.version, **columns}


def session_row(recorded: Recorded, /, **columns: Any) -> Row:
    """Return a row of a table that has sessions only, and the version that it comes from."""
    _, tenant, session_id = parsed_stream(recorded.stream)
    return {"tenant": tenant, "session_id": session_id, "version": recorded.version, **columns}


@lru_cache(maxsize=65_536)
def owner(stream: StreamId) -> Row:
    """Return the columns that say whose a row is. Not to be changed."""
    kind, tenant, name = parse_stream(stream)
    return {
        "stream": stream,
        "tenant": tenant,
        "session_id": name if kind == "session" else None,
        "task_id": name if kind == "task" else None,
    }


def present(text: str | None) -> str:
    """Return text as Postgres can hold it, empty when there is none.

    None would say that nothing changed.
    """
    return "" if text is None else storable(text)


def key_of(text: str) -> bytes:
    """Return the key of any text: an index holds no long one, and a table no NUL."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
