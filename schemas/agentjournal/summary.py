"""What a load came to: how much there was, how old, and what this code could not read."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from operator import attrgetter

import orjson

from agentjournal.events import CustomEvent, Event, UnknownEvent
from agentjournal.ids import StreamId
from agentjournal.stored import Foldable

_WITHOUT_MODEL = frozenset({UnknownEvent, CustomEvent})
_KIND = attrgetter("type", "schema_version")
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
        self._reached(recorded.version)
        self._count(recorded.type, recorded.schema_version, type(event), 1)

    def count_all(self, recorded: Sequence[Foldable], models: Sequence[type[Event]]) -> None:
        """Take events in their order, and the model that each was read as."""
        if recorded:
            self._reached(recorded[-1].version)
        kinds = Counter(zip(map(_KIND, recorded), models, strict=True))
        for ((kind, schema_version), model), count in kinds.items():
            self._count(kind, schema_version, model, count)

    def _reached(self, version: int) -> None:
        self.version = version
        self.last_version = max(self.last_version, version)

    def _count(self, kind: str, schema_version: int, model: type[Event], count: int) -> None:
        self.events[kind] = self.events.get(kind, 0) + count
        if model in _WITHOUT_MODEL:
            self.skipped[kind] = self.skipped.get(kind, 0) + count
        elif schema_version < model.schema_version:
            self.upcast += count


def log_loaded(stream: StreamId, summary: Summary) -> None:
    """Log one line of JSON to the logger `agentjournal`, without anything that was said."""
    if _LOG.isEnabledFor(logging.INFO):
        line = {"event": "session_loaded", "stream": stream, **asdict(summary)}
        line["waited_s"] = round(summary.waited_s, 4)
        _LOG.info("%s", orjson.dumps(line).decode())
