"""Anything that a partition of `appends` may hold, for properties of the fold."""

from __future__ import annotations

from hypothesis import strategies as st

from agentjournal.ids import Milliseconds, Position, StreamId
from agentjournal.requests import NewEvent, Request
from streams.decide import Input
from tests.support import BEGAN_MS, event, said, session_in, started

EXAMPLES = 25  # of a whole partition each; 1,500 found nothing that these do not
PARTITION = 3
STREAMS = [session_in(PARTITION, number) for number in range(3)]
ELSEWHERE = session_in(PARTITION + 1)

users = st.sampled_from([None, "u-1", "u-2"])
_events: st.SearchStrategy[NewEvent] = st.sampled_from(
    [
        *(said(text, message_id=f"m-{text}") for text in "abc"),
        event("session.ended"),
        event("session.resumed"),
        event("note.set", key="k", value=None)._replace(tokens=7),
        *(event("lease.acquired", holder=f"w-{n}", fence=n, lease_s=n * 2) for n in (1, 2, 3, 4)),
        *(event("lease.renewed", fence=n) for n in (1, 2)),
        *(event("lease.released", fence=n) for n in (1, 2)),
        event("custom.x", data=',"data":{},"hash":"')._replace(time="2026-01-31T12:00:00Z"),
        *(event("session.expired", idle_s=idle_s) for idle_s in (0, 2, 4.5)),
        event("session.updated", ttl_s=3),
        event("session.updated", limits={"events": {"maximum": 4, "policy": "refuse"}}),
        event("session.updated", limits={"events": {"maximum": 0, "policy": "warn"}}),
        *(
            event("session.updated", limits={name: {"maximum": most, "policy": "refuse"}})
            for name, most in (("tokens", 10), ("bytes", 900), ("age_s", 6))
        ),
        *(started(user) for user in (None, "u-1", "u-2")),
        said("no message")._replace(data=b'{"role":"user"}'),
    ]
)
_ended = st.just(event("session.deleted", reason="asked for"))
_requests = st.builds(
    Request,
    append_id=st.sampled_from([f"a-{n}" for n in range(9)]),
    events=st.lists(_events, min_size=1, max_size=4) | st.lists(_ended, min_size=1, max_size=1),
    source=st.just("/default/agent"),
    attempt=st.integers(1, 3),
    expected_version=st.none() | st.none() | st.integers(0, 6),
    reply_to=st.sampled_from([None, "here", "there"]),
    fence=st.sampled_from([None, None, None, 1, 2, 3]),
    agent=st.sampled_from([None, "support"]),
    worker=st.sampled_from([None, "w-1"]),
    dataencoding=st.just("json"),
    start=st.none() | users.map(started),
)
_values = st.one_of(
    *[_requests.map(lambda asked: asked.encoded())] * 9, st.none(), st.binary(max_size=5)
)
_keys = st.sampled_from([*[s.encode() for s in STREAMS] * 6, ELSEWHERE.encode(), b"\xff", None])


@st.composite
def inputs(draw: st.DrawFn, max_size: int = 30) -> list[Input]:
    """The requests of a partition, their positions growing and sometimes with a gap."""
    position, time, made = 0, BEGAN_MS, list[Input]()
    for _ in range(draw(st.integers(0, max_size))):
        position += draw(st.sampled_from([1, 1, 1, 5]))
        time += draw(st.integers(0, 5_000))
        made.append(Input(Position(position), Milliseconds(time), draw(_keys), draw(_values)))
    return made


@st.composite
def cuts(draw: st.DrawFn, given: list[Input]) -> list[list[Input]]:
    """The same inputs, cut into batches."""
    batches: list[list[Input]] = []
    rest = given
    while rest:
        size = draw(st.integers(1, len(rest)))
        batches.append(rest[:size])
        rest = rest[size:]
    return batches


def no_heads(streams: set[StreamId]) -> dict[StreamId, None]:
    """Return what a store without anything in it gives for `streams`."""
    return dict.fromkeys(streams)
