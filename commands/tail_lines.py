"""An event as one line: for people, and as a JSON object."""

from __future__ import annotations

import orjson
from rich.cells import cell_len
from rich.text import Text

from agentjournal.envelope import Recorded
from commands.harmless import one_line
from commands.previews import preview
from commands.times import date_and_milliseconds

_LEAST_PREVIEW = 30


def event_line(recorded: Recorded, width: int) -> str:
    """Return time, stream, version, type and what the event says, at most `width` cells wide.

    Only what the event says is cut, and it has some room always.
    """
    start = "  ".join(
        (
            date_and_milliseconds(recorded.recorded_at),
            one_line(recorded.stream),
            f"{recorded.version:>4}",
            f"{one_line(recorded.type):<16}",
        )
    )
    left = max(_LEAST_PREVIEW, width - cell_len(start) - 2)
    says = Text(preview(recorded.type, recorded.data, left))
    says.truncate(left, overflow="ellipsis")
    return f"{start}  {says.plain}".rstrip()


def event_json(recorded: Recorded) -> bytes:
    """Return the event as a JSON object in one line, its `data` in the bytes that were written."""
    fields = {
        "stream": recorded.stream,
        "version": recorded.version,
        "type": recorded.type,
        "recorded_at": recorded.recorded_at,
        "partition": recorded.partition,
        "position": recorded.position,
        "id": recorded.id,
        "append_id": recorded.append_id,
        "source": recorded.source,
        "agent": recorded.agent,
        "worker": recorded.worker,
        "time": recorded.time,
        "tokens": recorded.tokens,
        "schema_version": recorded.schema_version,
        "correlation_id": recorded.correlation_id,
        "causation_id": recorded.causation_id,
        "traceparent": recorded.traceparent,
        "fence": recorded.fence,
        "hash": recorded.hash,
    }
    # Line breaks inside JSON stand between its tokens only, so a space does as well.
    on_one_line = recorded.raw_data.replace(b"\r", b" ").replace(b"\n", b" ")
    return orjson.dumps(fields)[:-1] + b',"data":' + on_one_line + b"}"
