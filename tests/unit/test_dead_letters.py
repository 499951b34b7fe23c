"""Letters in the topic of refused requests, whoever wrote them."""

from __future__ import annotations

import pytest

from agentjournal.ids import Milliseconds, Partition, Position
from commands.dead_letters import distinct, letter_of
from commands.kafka_topic import TopicRecord


def record(at: int, **headers: bytes) -> TopicRecord:
    place = Partition(0), Position(at), Milliseconds(0)
    return TopicRecord(*place, b"session/default/s", b"{}", headers)


def test_a_request_is_listed_once_by_its_place_in_the_topic_of_requests() -> None:
    found = distinct(
        [
            record(7, partition=b"3", position=b"12", reason=b"limit"),
            record(8, partition=b"3", position=b"12", reason=b"limit"),
            record(9, partition=b"4", position=b"12", reason=b"deleted"),
        ]
    )
    assert [(each.partition, each.position, each.reason) for each in found] == [
        (3, 12, "limit"),
        (4, 12, "deleted"),
    ]


@pytest.mark.parametrize("number", [b"", b"-1", b"x", b"1.0", b"9" * 5_000, b"\xff"])
def test_a_letter_of_somebody_else_has_its_own_place(number: bytes) -> None:
    letter = letter_of(record(7, partition=number, position=number))
    assert (letter.partition, letter.position) == (-1, 7)
