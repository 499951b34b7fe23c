"""What an import adds to a stream: the rest of what it began, and never a second session."""

from __future__ import annotations

from collections.abc import Sequence

from importers.imported import FIELDS, ImportedEvent
from importers.planning import MAX_BATCH_BYTES, Differs, Held, batches, remaining


def event(event_id: str, *, size: int = 10, aside: bool = False) -> ImportedEvent:
    return ImportedEvent(
        event_id, FIELDS if aside else "message.added", 1, b"x" * size, aside=aside
    )


def held(*ids: str, kind: str = "message.added") -> list[Held]:
    return [Held(each, kind) for each in ids]


def ids(rest: Sequence[ImportedEvent] | Differs) -> list[str]:
    assert not isinstance(rest, Differs)
    return [each.id for each in rest]


A, B, C = event("a"), event("b"), event("c")
SIDE = event("side", aside=True)


def test_all_is_added_to_an_empty_stream() -> None:
    assert ids(remaining([A, B, SIDE], [])) == ["a", "b", "side"]


def test_nothing_is_added_twice() -> None:
    assert ids(remaining([A, B], held("a", "b"))) == []


def test_the_tail_of_a_file_that_grew_is_added() -> None:
    assert ids(remaining([A, B, C], held("a", "b"))) == ["c"]


def test_other_content_is_a_difference_at_its_version() -> None:
    assert remaining([A, B, C], held("a", "x")) == Differs(2)
    assert remaining([A, B], held("x")) == Differs(1)


def test_a_session_that_somebody_went_on_with_takes_no_more_from_the_file() -> None:
    assert remaining([A, B, C], held("a", "b", "live")) == Differs(3)


def test_a_session_that_somebody_went_on_with_is_there_when_the_file_has_no_more() -> None:
    assert ids(remaining([A, B], held("a", "b", "live"))) == []


def test_a_shorter_file_is_there_already() -> None:
    assert ids(remaining([A, B], held("a", "b", "c"))) == []


def test_what_stands_beside_messages_may_stand_anywhere() -> None:
    there = [*held("a"), *held("side", kind=FIELDS), *held("b")]
    assert ids(remaining([A, B, C, SIDE], there)) == ["c"]


def test_what_the_file_said_earlier_about_the_session_is_no_other_content() -> None:
    there = [*held("a"), *held("older side", kind=FIELDS)]
    assert ids(remaining([A, B, SIDE], there)) == ["b", "side"]


def test_batches_hold_at_most_a_hundred_events_in_order() -> None:
    made = list(batches([event(str(number)) for number in range(250)]))
    assert [len(batch) for batch in made] == [100, 100, 50]
    assert [each.id for batch in made for each in batch] == [str(number) for number in range(250)]


def test_batches_stay_below_their_bytes_and_a_larger_event_goes_alone() -> None:
    sizes = [MAX_BATCH_BYTES // 2, MAX_BATCH_BYTES // 2, 1, 2 * MAX_BATCH_BYTES, 5]
    made = list(batches([event(str(size), size=size) for size in sizes]))
    assert [[len(each.data) for each in batch] for batch in made] == [
        sizes[:2],
        [1],
        [2 * MAX_BATCH_BYTES],
        [5],
    ]
