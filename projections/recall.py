"""recall: what was said and learned, in passages that are searched, and whom each is about.

What was retracted, rewound or deleted is taken out again. Messages of system and developers are
instructions, not memory, and are left out. A new summary takes the place of the last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from agentjournal.envelope import Recorded
from agentjournal.ids import stream_id
from agentjournal.memory.fact_text import fact_text
from agentjournal.memory.passages import passages_of
from agentjournal.memory.ranking import MOST_OFTEN
from agentjournal.memory.statements import said_at
from agentjournal.memory.terms import terms_of
from projections.columns import Apply, folding, parsed_stream
from projections.plain_text import plain_text, storable
from projections.projection import Projection, read_sql
from projections.recall_tables import PASSAGES, RECALL_CUTS, RECALL_STREAMS
from projections.rows import Changes, Row

SAID_BY = frozenset({"user", "assistant"})
_OFTEN = "-DCBA"  # the label of a term that stands so often in its passage


class Passage(NamedTuple):
    """A passage of an event: what it shows, and what it is found by."""

    text: str
    found_by: str


def passages_in(recorded: Recorded, data: Any) -> Iterator[Passage]:
    """Yield the passages of an event that is searched, in their order."""
    if recorded.type == "message.added":
        if data["role"] in SAID_BY:
            for text in passages_of(storable(plain_text(data.get("parts") or []))):
                yield Passage(text, text)
    elif recorded.type == "promotion.completed":
        for text in passages_of(storable(data.get("summary") or "")):
            yield Passage(text, text)
    else:
        text = storable(fact_text(data["attribute"], data["value"]))
        yield Passage(text, f"{text} {storable(data['quote'])}")


def _add(r: Recorded, data: Any, changes: Changes, tier: str, role: str, ref: str) -> None:
    place = place_of(r)
    found = said = 0
    for number, passage in enumerate(passages_in(r, data)):
        terms = terms_of(passage.found_by)
        row = {
            **place,
            "version": r.version,
            "number": number,
            "tier": tier,
            "role": role,
            "ref": storable(ref),
            "event_id": storable(r.id),
            "text": passage.text,
            "terms": _postings(terms),
            "length": len(terms),
            "said_at": said_at(r),
        }
        changes.add("passages", row)
        found, said = found + 1, said + len(terms)
    if found:
        changes.add("recall_streams", {**place, "passages": found, "terms": said})


def place_of(r: Recorded) -> Row:
    """Return the columns that say whose passages these are."""
    kind, tenant, name = parsed_stream(r.stream)
    return {
        "stream": r.stream,
        "tenant": tenant,
        "session_id": name if kind == "session" else None,
    }


def _postings(terms: list[str]) -> str:
    """Return terms as Postgres reads a tsvector; they hold no quote or backslash."""
    return " ".join(
        f"'{term}':1{_OFTEN[min(often, MOST_OFTEN)]}"
        for term, often in sorted(Counter(terms).items())
    )


def _message(r: Recorded, data: Any, changes: Changes) -> None:
    _add(r, data, changes, "message", data["role"], data["message_id"])


def _learned(r: Recorded, data: Any, changes: Changes) -> None:
    changes.add("recall_streams", {**place_of(r), "own_scope": r.stream})
    _add(r, data, changes, "fact", data["author_role"], data["fact_id"])


def _promoted(r: Recorded, data: Any, changes: Changes) -> None:
    if data.get("summary") is not None:  # empty: nothing is left that the last one was about
        _cut(r, changes, tier="summary", to_version=0)
        _add(r, data, changes, "summary", "", r.id)


def _started(r: Recorded, data: Any, changes: Changes) -> None:
    _, tenant, _ = parsed_stream(r.stream)
    user = data.get("user")
    row = {
        **place_of(r),
        "own_scope": None if user is None else stream_id("user", tenant, user),
        "entity_scopes": _scopes(tenant, data),
    }
    changes.add("recall_streams", row)


def _updated(r: Recorded, data: Any, changes: Changes) -> None:
    if data.get("entities") is not None:
        _, tenant, _ = parsed_stream(r.stream)
        changes.add("recall_streams", {**place_of(r), "entity_scopes": _scopes(tenant, data)})


def _scopes(tenant: str, data: Mapping[str, Any]) -> str:
    """Return the streams of a session's entities; no id has a line break."""
    named = data.get("entities") or ()
    return "\n".join(sorted({stream_id(each["kind"], tenant, each["id"]) for each in named}))


def _cut(r: Recorded, changes: Changes, **columns: Any) -> None:
    changes.add("recall_cuts", {"stream": r.stream, "version": r.version, **columns})


def _retracted(r: Recorded, data: Any, changes: Changes) -> None:
    _cut(r, changes, tier="message", message_id=storable(data["message_id"]), to_version=0)


def _rewound(r: Recorded, data: Any, changes: Changes) -> None:
    _cut(r, changes, to_version=data["to_version"])  # and summaries, which may say it, too


def _deleted(r: Recorded, _: Any, changes: Changes) -> None:
    _cut(r, changes, to_version=0)


_APPLY: Mapping[str, Apply] = {
    "session.started": _started,
    "session.updated": _updated,
    "session.deleted": _deleted,
    "message.added": _message,
    "message.retracted": _retracted,
    "conversation.rewound": _rewound,
    "promotion.completed": _promoted,
    "fact.learned": _learned,
}

RECALL = Projection(
    name="recall",
    tables=(RECALL_STREAMS, PASSAGES, RECALL_CUTS),
    fold=folding(_APPLY),
    kinds=frozenset({"session", "user", "account", "project"}),
    types=dict.fromkeys(_APPLY, 1),
    sql=read_sql("recall.sql"),
    every_event=False,
)
