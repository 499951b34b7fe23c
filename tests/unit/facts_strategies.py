"""What sessions say of a user, in any order: facts, retractions and promotions as events."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NamedTuple

from hypothesis import strategies as st

from agentjournal import Event, FactLearned, FactRetracted, PromotionCompleted
from agentjournal.ids import StreamId, stream_id
from agentjournal.memory.fact_events import retraction
from tests.support import place_of, session_in
from tests.unit.facts_said import day

PARTITION = 3
SESSIONS = [session_in(PARTITION, n) for n in range(3)]
USER = next(
    stream
    for stream in (stream_id("user", "default", f"u-{n}") for n in range(100))
    if place_of(stream) == PARTITION
)
SLOTS = {"city": "single", "seat": "single", "likes": "multiple"}


class Written(NamedTuple):
    """An event, and the stream that it is appended to."""

    stream: StreamId
    event: Event


def _time(number: float) -> str:
    return day(number).isoformat()


class _Statement(NamedTuple):
    session: int
    version: int
    attribute: str
    value: str


_statements = st.builds(
    _Statement,
    st.integers(0, 2),
    st.integers(1, 4),
    st.sampled_from(sorted(SLOTS)),
    st.sampled_from(["a", "A ", "b"]),
)
_details = st.fixed_dictionaries(
    {
        "author_role": st.sampled_from(["user", "developer", "tool", "assistant"]),
        "said": st.integers(0, 6),
        "begins": st.none() | st.integers(-3, 9),
        "lasts": st.none() | st.integers(0, 5),
    }
)
_days = st.integers(0, 8)


def _id(said: _Statement) -> str:
    return f"{said.session} {said.version} {said.attribute} {said.value.strip().lower()}"


def _fact(said: _Statement, details: dict[str, Any], extractor_version: str) -> Written:
    name = SESSIONS[said.session].rpartition("/")[2]
    begins = details["said"] if details["begins"] is None else details["begins"]
    lasts = details["lasts"]
    event = FactLearned.model_validate(
        {
            "fact_id": _id(said),
            "kind": "preference",
            "attribute": said.attribute,
            "value": said.value,
            "cardinality": SLOTS[said.attribute],
            "quote": f"{said.attribute} {said.value}",
            "evidence": [
                {"session_id": name, "event_id": f"e-{said.version}", "version": said.version}
            ],
            "author_role": details["author_role"],
            "confidence": 0.5,
            "valid_from": _time(begins),
            "valid_to": None if lasts is None else _time(begins + lasts),
            "said_at": _time(details["said"]),
            "extractor": {"name": "rules", "version": extractor_version},
        }
    )
    return Written(USER, event)


@st.composite
def learned(draw: st.DrawFn) -> list[Written]:
    """Return facts: those with one id are the same, whichever version learned them."""
    details: dict[str, tuple[_Statement, dict[str, Any]]] = {}
    found: list[Written] = []
    for said in draw(st.lists(_statements, max_size=9)):
        same = details.setdefault(_id(said), (said, draw(_details)))
        found.append(_fact(*same, draw(st.sampled_from(["1.9", "1.10"]))))
    return found


@st.composite
def retractions(draw: st.DrawFn) -> Written:
    said = draw(_statements)
    until = _time(draw(_days) + 0.5)
    match draw(st.sampled_from(["fact", "value", "slot"])):
        case "fact":
            fields = {"fact_id": _id(said), "reason": "r", "by": "u", "said_at": until}
            return Written(USER, FactRetracted.model_validate(fields))
        case "value":
            event = retraction(said.attribute, said.value, said_at=until, reason="r", by="u")
        case _:
            event = retraction(said.attribute, said_at=until, reason="r", by="u")
    return Written(USER, event)


@st.composite
def promotions(draw: st.DrawFn) -> Written:
    event = PromotionCompleted.model_validate(
        {
            "through_version": draw(st.integers(0, 4)),
            "extractor": {"name": "rules", "version": draw(st.sampled_from(["1.9", "1.10"]))},
            "learned": 0,
            "confirmed": 0,
            "superseded": 0,
            "summary": draw(st.sampled_from(["", "about a city"])),
        }
    )
    return Written(draw(st.sampled_from(SESSIONS)), event)


@st.composite
def histories(draw: st.DrawFn) -> list[Written]:
    """Return what is appended about a user, in some order."""
    found = draw(learned())
    found += draw(st.lists(retractions(), max_size=2))
    found += draw(st.lists(promotions(), max_size=2))
    return draw(st.permutations(found))


moments = st.integers(-4, 12).map(lambda number: day(number) + timedelta(hours=1))
