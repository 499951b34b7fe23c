"""The janitor asks for a little at a time, so that appends of others go between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from agentjournal.ids import Partition, Position, StreamId
from consumers.janitor_expiry import Asked, Idle, Progress, State, bursts_of, expiry_of
from tests.unit.test_janitor import QUICK, Servers, idle, run


class ShowsLate(Servers):
    """Shows a burst at every third look."""

    def __init__(self, *sessions: Idle) -> None:
        super().__init__(*sessions)
        self.looks, self.unshown = 0, list[Mapping[Partition, Position]]()
        self.shown = dict[Partition, Position]()
        self.behind = list[int]()

    async def send(self, requests: Sequence[Asked]) -> Mapping[Partition, Position]:
        await super().send(requests)
        self.behind.append(len(self.unshown))
        self.unshown.append({each.partition: Position(len(self.sent)) for each in requests})
        return self.unshown[-1]

    async def progress(self, projection: str) -> Mapping[Partition, Progress]:
        assert projection == "conversation"
        self.looks += 1
        if self.unshown and self.looks % 3 == 0:
            self.shown |= self.unshown.pop(0)
        nothing = Position(0)
        return {
            partition: Progress(nothing, nothing, position, nothing)
            for partition, position in self.shown.items()
        }

    async def states(self, streams: Sequence[str]) -> Mapping[StreamId, State]:
        assert not self.unshown
        return await super().states(streams)


async def test_requests_are_sent_a_few_at_a_time_and_one_burst_is_ahead_of_what_shows() -> None:
    servers = ShowsLate(*(idle(f"s-{n}") for n in range(9)))
    await run(servers, replace(QUICK, burst=2))
    assert [len(each) for each in servers.bursts] == [2, 2, 2, 2, 1]
    assert servers.behind == [0, 1, 1, 1, 1]


@given(st.lists(st.integers(0, 40).map(lambda n: idle(f"s-{n}")), unique=True), st.integers(1, 9))
def test_bursts_take_from_each_partition_in_turn_and_keep_its_order(
    found: list[Idle], size: int
) -> None:
    asked = [expiry_of(each) for each in found]
    bursts = list(bursts_of(asked, size))
    sent = [each for burst in bursts for each in burst]
    assert all(len(burst) == size for burst in bursts[:-1])
    assert sorted(map(id, sent)) == sorted(map(id, asked))
    for partition in {each.partition for each in asked}:
        before = [each.stream for each in asked if each.partition == partition]
        assert [each.stream for each in sent if each.partition == partition] == before
    places = [
        sum(each.partition == other.partition for other in sent[:n]) for n, each in enumerate(sent)
    ]
    assert places == sorted(places)
