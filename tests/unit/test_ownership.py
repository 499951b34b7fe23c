"""Who should own which partition: dealt out evenly, and handed over without dropping work."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentjournal.ids import Partition
from consumers.ownership import PATIENCE_S, Courtesy, share_of

ONE, TWO, THREE = Partition(1), Partition(2), Partition(3)


@given(st.lists(st.text(min_size=1), unique=True, min_size=1, max_size=12), st.integers(1, 40))
def test_every_partition_has_one_owner_and_nobody_more_than_one_beyond_another(
    names: list[str], partitions: int
) -> None:
    alive = sorted(names)
    shares = [share_of(name, alive, partitions) for name in alive]
    assert sorted(p for share in shares for p in share) == list(range(partitions))
    sizes = [len(share) for share in shares]
    assert max(sizes) - min(sizes) <= 1


def test_who_is_not_alive_owns_nothing() -> None:
    assert share_of("b", ["a", "c"], 8) == set()
    assert share_of("a", [], 8) == set()


def test_what_is_free_or_was_ours_is_taken_at_once() -> None:
    courtesy = Courtesy("me")
    owners = {ONE: "", TWO: "me"}
    assert courtesy.may_take({ONE, TWO, THREE}, owners, ["me", "you"], 0.0) == {ONE, TWO, THREE}


def test_what_the_dead_owned_is_taken_at_once() -> None:
    assert Courtesy("me").may_take({ONE}, {ONE: "you"}, ["me"], 0.0) == {ONE}


def test_an_owner_who_is_alive_has_a_while_to_give_it_back() -> None:
    courtesy = Courtesy("me")
    owners, alive = {ONE: "you"}, ["me", "you"]
    assert courtesy.may_take({ONE}, owners, alive, 100.0) == set()
    assert courtesy.may_take({ONE}, owners, alive, 100.0 + PATIENCE_S) == set()
    assert courtesy.may_take({ONE}, owners, alive, 100.1 + PATIENCE_S) == {ONE}


def test_the_while_begins_anew_when_a_partition_was_not_wanted_in_between() -> None:
    courtesy = Courtesy("me")
    owners, alive = {ONE: "you", TWO: "you"}, ["me", "you"]
    courtesy.may_take({ONE}, owners, alive, 100.0)
    courtesy.may_take({TWO}, owners, alive, 102.0)
    assert courtesy.may_take({ONE, TWO}, owners, alive, 104.5) == set()
    assert courtesy.may_take({ONE, TWO}, owners, alive, 106.5) == {TWO}
