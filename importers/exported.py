"""Sessions that `agentjournal export` wrote: records of a log, one a line, chained by hash.

Events keep their ids, their bytes and their order, so also their versions. What says something
about the log that they come from, and is not so in another, is kept as a record of it: leases,
that a session expired, and that it was promoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from agentjournal.artifacts import digest_of
from agentjournal.envelope import NO_HASH, Recorded, parse_record
from agentjournal.errors import AgentJournalError, AppendRejected, IntegrityError
from agentjournal.events import CustomEvent
from agentjournal.ids import parse_stream
from agentjournal.memory.statements import said_at
from agentjournal.offloading import left_values
from importers.imported import (
    RECORD,
    Imported,
    ImportedEvent,
    ImportedSession,
    LeftOut,
    NotRecognised,
    Report,
)
from importers.session_events import count

FORMAT = "agentjournal"
EXPECTED = "expected records of a log, one a line, as `agentjournal export` writes them"
_BEGINNING = b'{"specversion":"1.0","id":"'
_ARTIFACT = re.compile(rb'\{"artifact":"(sha256:[0-9a-f]{64})","content":(.*)\}', re.DOTALL)
_OF_ITS_LOG = ("lease.", "session.expired", "promotion.completed")
_TEXTS = ("stream", "id", "source", "type", "append_id", "recorded_at")
_GIVEN_TEXTS = ("time", "correlation_id", "causation_id", "traceparent")


def read_exported(
    raw: bytes, *, name: str, source: str, user: str | None = None
) -> Imported | NotRecognised:
    """Return the sessions in the bytes of a file, and the account of all that is in it.

    Sessions and users keep their ids, whatever `name` and `user` are. Of a session that is damaged
    what stands before the damage is there, and the rest is left out.
    """
    del name, source
    if _BEGINNING not in raw:
        return NotRecognised(f"no line begins a record: {EXPECTED}")
    reading = _Reading(Report())
    for line in _lines(raw):
        reading.take(line)
    if user is not None:
        reading.report.notes.append(f"the file says whose its sessions are, not --user {user}")
    return reading.finished()


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    offset: int
    text: bytes

    @property
    def place(self) -> str:
        return f"line {self.number:,}"


@dataclass(slots=True)
class _Session:
    """A session while it is read, and the lines that are chained to what is missing."""

    session_id: str
    events: list[ImportedEvent] = field(default_factory=list[ImportedEvent])
    hashes: list[str] = field(default_factory=list[str])
    needed: set[str] = field(default_factory=set[str])
    behind: list[_Line] = field(default_factory=list[_Line])


def _lines(raw: bytes) -> Iterator[_Line]:
    offset = 0
    for number, text in enumerate(raw.split(b"\n"), start=1):
        plain = text.removesuffix(b"\r")
        if number == 1:
            plain = plain.removeprefix(b"\xef\xbb\xbf")
        if plain.strip():
            yield _Line(number, offset, plain)
        offset += len(text) + 1


class _Reading:
    """One file while it is read."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self._sessions: dict[str, _Session] = {}
        self._contents: dict[str, bytes] = {}

    def take(self, line: _Line) -> None:
        """Take the next line."""
        if line.text.startswith(b'{"artifact":'):
            self._keep(line)
            return
        self.report.records += 1
        try:
            recorded = _checked(parse_record(line.text))
            kind, _, name = parse_stream(recorded.stream)
            needed = left_values(recorded.raw_data)
        except (AppendRejected, IntegrityError, TypeError, ValueError) as error:
            self._leave_out(line, _why(error))
            return
        if kind != "session":
            self._leave_out(line, f"is of {recorded.stream}: only sessions are imported")
            return
        session = self._sessions.setdefault(recorded.stream, _Session(name))
        if self._follows(session, recorded, line):
            session.hashes.append(recorded.hash)
            session.needed.update(needed)
            session.events.append(self._event(recorded, line))

    def finished(self) -> Imported:
        """Return the sessions, and the account of the file."""
        for stream, session in self._sessions.items():
            self._tell_behind(stream, session)
        made = [
            ImportedSession(
                each.session_id,
                stream,
                each.events,
                contents={
                    key: value for key, value in self._contents.items() if key in each.needed
                },
                needed=each.needed,
            )
            for stream, each in self._sessions.items()
            if each.events
        ]
        self.report.sessions = len(made)
        return Imported(made, self.report, FORMAT)

    def _follows(self, session: _Session, recorded: Recorded, line: _Line) -> bool:
        """Whether a record is the next one; else note what it is."""
        last = len(session.hashes)
        if session.behind or recorded.version > last + 1:
            session.behind.append(line)
            return False
        if recorded.version <= last:
            if session.hashes[recorded.version - 1] == recorded.hash:
                self.report.repeated += 1
            else:
                self._leave_out(line, f"is another record of version {recorded.version}")
            return False
        if recorded.prevhash != (session.hashes[-1] if session.hashes else NO_HASH):
            self._leave_out(line, f"is not chained to version {last} of {recorded.stream}")
            return False
        return True

    def _tell_behind(self, stream: str, session: _Session) -> None:
        if not session.behind:
            return
        first, last = session.behind[0], session.behind[-1]
        where = first.place if first is last else f"lines {first.number:,} to {last.number:,}"
        version = len(session.hashes) + 1
        reason = (
            f"{len(session.behind):,} records of {stream} follow its version {version}, "
            "which is missing or damaged"
        )
        size = sum(len(each.text) for each in session.behind)
        self.report.left_out.append(LeftOut(where, reason, first.offset, size))

    def _event(self, recorded: Recorded, line: _Line) -> ImportedEvent:
        type_, version, data = recorded.type, recorded.schema_version, recorded.raw_data
        if type_.startswith(_OF_ITS_LOG):
            reason = f"{type_} is of the log that it was written to"
            raw = {"type": type_, "schemaversion": version, "data": recorded.data}
            kept = CustomEvent(RECORD, {"format": FORMAT, "reason": reason, "raw": raw})
            type_, version, data = kept.type, kept.schema_version, kept.encoded()
            self.report.notes.append(f"{line.place}: {reason}: kept as {RECORD}")
        event = ImportedEvent(
            recorded.id,
            type_,
            version,
            data,
            said_at(recorded),
            tokens=recorded.tokens,
            correlation_id=recorded.correlation_id,
            causation_id=recorded.causation_id,
            traceparent=recorded.traceparent,
        )
        try:
            count(self.report, event.event)
        except AgentJournalError:
            self.report.notes.append(f"{line.place}: {type_} cannot be read here: kept as it is")
        return event

    def _keep(self, line: _Line) -> None:
        found = _ARTIFACT.fullmatch(line.text)
        if found is None:
            self._leave_out(line, "is no artifact")
        elif digest_of(found[2]) != found[1].decode():
            self._leave_out(line, f"is not the content of {found[1].decode()}")
        else:
            self._contents[found[1].decode()] = found[2]

    def _leave_out(self, line: _Line, reason: str) -> None:
        self.report.left_out.append(LeftOut(line.place, reason, line.offset, len(line.text)))


def _checked(recorded: Recorded) -> Recorded:
    """Return a record whose attributes have the types that they must have.

    Raises TypeError: its hash was made by somebody else.
    """
    texts = [getattr(recorded, name) for name in _TEXTS]
    given = [getattr(recorded, name) for name in _GIVEN_TEXTS]
    numbers = (recorded.schema_version, recorded.tokens or 0)
    fits = all(isinstance(each, str) for each in texts)
    fits = fits and all(isinstance(each, str | None) for each in given)
    fits = fits and all(type(each) is int and 0 <= each < 2**31 for each in numbers)
    if not fits or recorded.data_encoding != "json":
        raise TypeError("its attributes are not those of a record")
    return recorded


def _why(error: Exception) -> str:
    if isinstance(error, IntegrityError):
        if "hash is not that" in str(error):
            return "is damaged: its hash is that of other bytes"
        return "is no record of a log, or is cut"
    return f"is no record of a log: {error}"
