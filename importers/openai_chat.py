"""OpenAI chat messages: lists of messages, logs of requests, responses, as JSON or JSON lines.

Read are lists of messages; objects with `messages` or `traj`, and with a `response` beside them;
ChatCompletion responses; many of these in a list or one after the other; and messages one a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentjournal.responses.naming import as_id
from importers.chat_conversations import Conversation, Conversations, beginnings_of
from importers.chat_records import Record, bare_record, is_conversation, record_of
from importers.chat_session import FORMAT, ChatSession
from importers.identity import Seed
from importers.imported import Imported, ImportedSession, LeftOut, NotRecognised, Report
from importers.json_values import Fault, Found, Value, read_values
from importers.session_events import SessionEvents
from importers.source import Source

EXPECTED = (
    "expected OpenAI chat messages, as JSON or one value a line: messages with a role, "
    "objects with `messages` or `traj`, or ChatCompletion responses"
)
_TITLE_CHARACTERS = 80


def read_openai_chat(
    raw: bytes, *, name: str, source: str, user: str | None = None
) -> Imported | NotRecognised:
    """Return the sessions in the bytes of a file, and the account of all that is in it.

    `name` begins the ids of its sessions; `source` is the file's name, for the labels; `user` is
    whom the sessions belong to. The same bytes give the same events with the same ids; more bytes
    behind them give more events behind these.
    """
    return _Reading(raw, name, source, user).read()


class _Reading:
    """One file while it is read."""

    def __init__(self, raw: bytes, name: str, file: str, user: str | None) -> None:
        self._source, self._report = Source(raw), Report()
        self._name, self._file, self._user = name, file, user
        self._known = Conversations()
        self._conversations: dict[str, Conversation] = {}  # by key, in their order

    def read(self) -> Imported | NotRecognised:
        found = list(enumerate(_opened(read_values(self._source.text)), start=1))
        records = list(self._records(found))
        if not records:
            return NotRecognised(f"{_why_not(found)}: {EXPECTED}")
        if self._source.replaced:
            self._report.notes.append(
                f"{self._source.replaced:,} bytes are no UTF-8, the first at byte "
                f"{self._source.first_replaced:,}: each became U+FFFD"
            )
        for record in sorted(records, key=lambda record: record.number):
            self._take(record)
        self._report.sessions = len(self._conversations)
        return Imported(list(self._finished()), self._report, FORMAT)

    def _records(self, found: Sequence[tuple[int, Found]]) -> Iterator[Record]:
        others: list[tuple[int, Value]] = []
        for number, each in found:
            if isinstance(each, Fault):
                self._leave_out(number, each, each.reason)
                continue
            record = self._record(number, each, alone=len(found) == 1)
            if record is None:
                others.append((number, each))
            else:
                yield record
        placed = [(f"message {number}", each) for number, each in others]
        bare = bare_record(others[0][0], placed, self._source) if others else None
        if bare is not None:
            yield bare
            return
        for number, each in others:
            self._leave_out(number, each, "holds no chat messages")

    def _record(self, number: int, each: Value, *, alone: bool) -> Record | None:
        if each.items is None:
            return record_of(each.value, number, self._source.offset(each.start))
        place = "" if alone else f"record {number}, "
        placed: list[tuple[str, Value]] = []
        for nth, item in enumerate(each.items, start=1):
            if isinstance(item, Fault):
                self._leave_out(nth, item, item.reason)
            else:
                placed.append((f"{place}message {nth}", item))
        return bare_record(number, placed, self._source)

    def _leave_out(self, number: int, each: Found, reason: str) -> None:
        start, end = self._source.offset(each.start), self._source.offset(each.end)
        self._report.left_out.append(LeftOut(f"record {number}", reason, start, end - start))

    def _take(self, record: Record) -> None:
        beginnings = beginnings_of(record)
        known = self._known.find(record, beginnings)
        conversation = known.conversation or self._begun(record)
        session = conversation.session
        self._report.records += len(record.places) or 1
        self._report.repeated += known.messages
        for index in range(known.messages, len(record.messages)):
            session.message(record.messages[index], record.place_of(index), record.time)
        if record.completion is not None and known.messages <= len(record.messages):
            session.completion(record.completion, record.place)
        session.fields(record.fields, record.place)
        if known.messages < len(beginnings):
            self._known.add(record, beginnings, conversation)

    def _begun(self, record: Record) -> Conversation:
        key = wanted = record.key or str(record.number)
        nth = 1
        while key in self._conversations:
            nth += 1
            key = f"{wanted}-{nth}"
        if record.key is not None and nth > 1:
            self._report.notes.append(
                f"{record.place.words} does not go on with session {wanted}: it is session {key}"
            )
        seed = Seed(FORMAT, self._name, key)
        title = record.fields.get("title")
        session = ChatSession(
            SessionEvents(seed, self._report), title if isinstance(title, str) else None
        )
        conversation = Conversation(key, session)
        self._conversations[key] = conversation
        return conversation

    def _finished(self) -> Iterator[ImportedSession]:
        alone = len(self._conversations) == 1
        for nth, (key, conversation) in enumerate(self._conversations.items()):
            session_id = as_id(self._name if alone else f"{self._name}-{key}")
            title = (conversation.session.title or "").strip().partition("\n")[0].strip()
            events = conversation.session.events.finished(
                title=title[:_TITLE_CHARACTERS] or session_id,
                labels={"source": self._file, "native_key": key, "format": FORMAT},
                user=self._user,
            )
            # The first one was the only one, until the file grew.
            earlier_id = as_id(self._name) if nth == 0 and not alone else None
            yield ImportedSession(session_id, key, events, earlier_id)


def _opened(found: Sequence[Found]) -> Iterator[Found]:
    """Yield values, those inside a list in place of the list unless it is one conversation."""
    for each in found:
        if isinstance(each, Value) and each.items is not None and not is_conversation(each.value):
            yield from each.items
        else:
            yield each


def _why_not(found: Sequence[tuple[int, Found]]) -> str:
    if not found:
        return "holds nothing"
    faults = [each for _, each in found if isinstance(each, Fault)]
    if len(faults) == len(found):
        return faults[0].reason
    return "holds no chat messages"
