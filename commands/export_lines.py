"""The lines of an exported session: each record byte for byte as it stands in the log.

Pure. The read model holds what a record is made of; that it is the same record is proven by its
hash, and that none is missing by the chain.

What left an event for the artifact store stands in a line of its own before the first record that
names it: `{"artifact":"sha256:…","content":…}`.
"""

from __future__ import annotations

from typing import Any

from agentjournal.envelope import NO_HASH, Recorded, build_record
from agentjournal.errors import IntegrityError
from agentjournal.ids import StreamId


class RecordLines:
    """Makes a line of each event of a stream, in their order."""

    def __init__(self, stream: StreamId) -> None:
        self.version = 0  # of the last event that was taken
        self._stream, self._hash = stream, NO_HASH

    def line(self, recorded: Recorded) -> bytes:
        """Return the record of the next event.

        Raises IntegrityError when an event is missing, or its hash is that of other bytes.
        """
        if recorded.version != self.version + 1:
            raise IntegrityError(f"{self._stream}: version {self.version + 1} is missing")
        # The sequencer marks a start that it put first; the table does not say which it did.
        for start in (False, True):
            record, digest = build_record(
                _attributes(recorded._replace(start=start)), recorded.raw_data, self._hash
            )
            if digest == recorded.hash:
                self.version, self._hash = recorded.version, digest
                return record
        raise IntegrityError(
            f"{self._stream} version {recorded.version}: its hash is that of other bytes, or it is "
            "not chained to the version before it; `agentjournal verify` looks closer"
        )


def artifact_line(digest: str, content: bytes) -> bytes:
    """Return the line of what left an event; `content` is JSON."""
    return b'{"artifact":"%b","content":%b}' % (digest.encode(), content)


def _attributes(recorded: Recorded) -> dict[str, Any]:
    """Return the attributes in the order in which they are written."""
    written = {
        "specversion": "1.0",
        "id": recorded.id,
        "source": recorded.source,
        "type": recorded.type,
        "subject": recorded.stream,
        "datacontenttype": "application/json",
        "schemaversion": recorded.schema_version,
        "dataencoding": recorded.data_encoding,
        "version": str(recorded.version),
        "index": recorded.batch_index,
        "appendid": recorded.append_id,
        "size": recorded.batch_size,
        "inputposition": str(recorded.input_position),
        "recordedat": recorded.recorded_at,
        "rules": recorded.rules,
    }
    given = {
        "agent": recorded.agent,
        "worker": recorded.worker,
        "fence": None if recorded.fence is None else str(recorded.fence),
        "time": recorded.time,
        "tokens": recorded.tokens,
        "correlationid": recorded.correlation_id,
        "causationid": recorded.causation_id,
        "traceparent": recorded.traceparent,
        "start": recorded.start or None,
    }
    return written | {name: value for name, value in given.items() if value is not None}
