"""What a load came to: how much there was, how old, and what this code could not read."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass, field, replace

import orjson

from agentjournal.events import CustomEvent, Event, UnknownEvent
from agentjournal.ids import StreamId
from agentjournal.stored import Foldable

_WITHOUT_MODEL = frozenset({UnknownEvent, CustomEvent})
_LOG = logging.getLogger("agentjournal")


@dataclass(slots=True)
class Summary:
    """What a state was folded from."""

    version: int = 0  # of the state
    last_version: int = 0  # of the session, as the read models had it
    events: dict[str, int] = field(default_factory=dict[str, int])  # by type
    upcast: int = 0  # events of an older schema version than this code's
    skipped: dict[str, int] = field(default_factory=dict[str, int])
    """Events by type that this code has no model for: newer ones, custom ones not registered."""
    lag: int | None = None
    """Events of the session in the log that the read models did not have; None: not known."""
    waited_s: float = 0.0  # for the read models

    def copied(self) -> Summary:
        """Return a summary that goes on without this one."""
        return replace(self, events=dict(self.events), skipped=dict(self.skipped))

    def count(self, recorded: Foldable, event: Event) -> None:
        """Take an event, and what it was read as."""
        kind = recorded.type
        self.version = recorded.version
        self.last_version = max(self.last_version, self.version)
        self.events[kind] = self.events.get(kind, 0) + 1
        if type(event) in _WITHOUT_MODEL:
            self.skipped[kind] = self.skipped.get(kind, 0) + 1
        elif recorded.schema_version < event.schema_version:
            self.upcast += 1


def log_loaded(stream: StreamId, summary: Summary) -> None:
    """Log one line of JSON to the logger `agentjournal`, without anything that was said."""
    if _LOG.isEnabledFor(logging.INFO):
        line = {"event": "session_loaded", "stream": stream, **asdict(summary)}
        line["waited_s"] = round(summary.waited_s, 4)
        _LOG.info("%s", orjson.dumps(line).decode())
