"""A fold counts what it decides: once, and not again what the log holds already."""

from __future__ import annotations

from agentjournal.ids import Milliseconds, Partition, Position
from agentjournal.requests import Request
from streams.decide import Input
from streams.partition_fold import PartitionFold, Step, Stored
from tests.support import BEGAN_MS, RULES, event, request, said, session_in

PARTITION = Partition(2)
STREAM = session_in(PARTITION, 0)


def fold(asked: list[Request | bytes], tail: list[Stored] | None = None) -> Step:
    """Fold requests of one stream; every second one comes in the same millisecond."""
    folding = PartitionFold(RULES, PARTITION, Position(0), tail or [])
    given = [
        Input(
            Position(at),
            Milliseconds(BEGAN_MS + at // 2),
            STREAM.encode(),
            each if isinstance(each, bytes) else each.encoded(),
        )
        for at, each in enumerate(asked)
    ]
    folding.put(dict.fromkeys(folding.missing(given)))
    return folding.step(given)


ASKED: list[Request | bytes] = [
    request(said("a", message_id="m"), append_id="a-1"),
    request(said("a", message_id="m"), append_id="a-1"),
    request(said("b"), append_id="a-1"),
    request(said("c"), append_id="a-2", expected_version=7),
    b"rubbish",
    request(said("d"), said("e"), append_id="a-3"),
]


def test_every_decision_counts_by_its_kind_whether_somebody_waits_for_it_or_not() -> None:
    tally = fold(ASKED).tally
    assert tally.decisions == {
        "accepted": 2,
        "duplicate": 1,
        "id_reused": 1,
        "conflict": 1,
        "rejected": 1,
    }
    assert tally.asked == {BEGAN_MS: 2, BEGAN_MS + 1: 2, BEGAN_MS + 2: 2}
    assert (tally.leases, tally.leases_taken, tally.expired) == ({}, 0, 0)


def test_what_the_log_holds_already_does_not_count_again() -> None:
    records = fold(ASKED[:2]).records
    tail = [Stored(Position(at), *record) for at, record in enumerate(records)]
    tally = fold(ASKED, tail).tally
    assert tally.decisions == {
        "accepted": 1,
        "duplicate": 1,
        "id_reused": 1,
        "conflict": 1,
        "rejected": 1,
    }


def test_a_lease_counts_when_it_is_taken_and_lives_until_it_is_released() -> None:
    taken = request(event("lease.acquired", holder="w", fence=2, lease_s=60), append_id="a-2")
    first: list[Request | bytes] = [request(said("a"), append_id="a-1"), taken]
    written = request(said("b"), fence=2, append_id="a-3")
    tally = fold([*first, written]).tally
    assert tally.leases_taken == 1
    assert tally.leases == {STREAM: BEGAN_MS + 1 + 60_000}, "what is written extends it"
    released = request(event("lease.released", fence=2), fence=2, append_id="a-4")
    tally = fold([*first, written, released]).tally
    assert (tally.leases_taken, tally.leases) == (1, {STREAM: 0})
