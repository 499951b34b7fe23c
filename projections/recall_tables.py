"""The tables of the projections `recall` and `embeddings`, and how changes of one row merge."""

from __future__ import annotations

from collections.abc import Mapping

from projections.rows import Policy, Table

_PASSAGE: Mapping[str, Policy] = {"stream": "key", "version": "key", "number": "key"}

RECALL_STREAMS = Table(
    "recall_streams",
    {
        "stream": "key",
        "tenant": "first",
        "session_id": "first",
        "own_scope": "first",
        "entity_scopes": "last",
        "passages": "sum",
        "terms": "sum",
    },
)
PASSAGES = Table(
    "passages",
    {
        **_PASSAGE,
        **dict.fromkeys(("tenant", "session_id", "tier", "role", "ref", "event_id"), "first"),
        **dict.fromkeys(("text", "terms", "length", "said_at"), "first"),
        "scopes": "first",  # as the table of streams has them
    },
)
RECALL_CUTS = Table(
    "recall_cuts",
    {
        "stream": "key",
        "version": "key",
        "tier": "first",
        "message_id": "first",
        "to_version": "first",
    },
)
EMBEDDINGS = Table(
    "embeddings",
    {**_PASSAGE, **dict.fromkeys(("tenant", "session_id", "model", "vector"), "first")},
)
