"""When a checkpoint is due, and which may be gone back to."""

from __future__ import annotations

import pytest

from agentjournal import AppendRejected, CheckpointNotFound, CheckpointPolicy, CheckpointWatch
from agentjournal.checkpoints import kept
from agentjournal.testing import memory_log


def test_after_each_effect_and_not_after_what_only_reads() -> None:
    watch = CheckpointWatch(CheckpointPolicy(), 0)
    assert not watch.event_written(1)
    assert not watch.effect_ended("read", 1)
    assert watch.effect_ended("external", 1)
    assert watch.effect_ended("idempotent", 1)
    watch.saved(2)
    assert not watch.event_written(3)
    assert not watch.about_to_run("external", 3)


def test_before_external_effects_when_there_is_something_to_save() -> None:
    watch = CheckpointWatch(CheckpointPolicy(after_effects=False, before_external=True), 0)
    assert not watch.about_to_run("external", 1), "nothing has happened"
    watch.event_written(1)
    assert not watch.about_to_run("idempotent", 1)
    assert watch.about_to_run("external", 1)
    assert watch.about_to_run("external", 1), "until it is saved"
    watch.saved(1)
    assert not watch.about_to_run("external", 1)


def test_every_so_many_events() -> None:
    watch = CheckpointWatch(CheckpointPolicy(after_effects=False, every_events=3), 0)
    due = []
    for n in range(7):
        due.append(watch.event_written(n))
        if due[-1]:
            watch.saved(n)
    assert due == [False, False, True, False, False, True, False]
    assert watch.event_written(9, 2), "a batch counts as many as it has"


def test_every_so_many_seconds_when_something_is_written() -> None:
    watch = CheckpointWatch(CheckpointPolicy(after_effects=False, every_s=10), 100)
    assert not watch.about_to_run("read", 500)
    assert not watch.event_written(109.9)
    assert watch.event_written(110)
    assert watch.effect_ended("read", 110)
    watch.saved(111)
    assert not watch.event_written(120)
    assert watch.about_to_run("idempotent", 121)


def test_one_reason_is_enough() -> None:
    watch = CheckpointWatch(CheckpointPolicy(every_events=2, every_s=10), 0)
    assert watch.event_written(11)
    watch.saved(11)
    assert watch.event_written(12, 2)
    watch.saved(12)
    assert watch.effect_ended("external", 12)


@pytest.mark.parametrize("wrong", [{"every_events": 0}, {"every_s": -1}, {"keep": 0}])
def test_a_policy_that_makes_no_sense_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        CheckpointPolicy(**wrong)  # type: ignore[arg-type]


async def test_only_the_last_ones_are_kept() -> None:
    async with memory_log() as log:
        session = log.session("s")
        saved = [await session.save_checkpoint(n) for n in range(5)]
        keep = CheckpointPolicy().keep
        assert [await session.restore_checkpoint(c, keep=keep) for c in saved[2:]] == [2, 3, 4]
        with pytest.raises(CheckpointNotFound):
            await session.restore_checkpoint(saved[1], keep=keep)
        assert await session.restore_checkpoint(saved[1]) == 1, "the log keeps all of them"
        known = (await session.load()).checkpoints
        assert [c.checkpoint_id for c in kept(known, 2)] == [saved[4], saved[3]]


async def test_what_cannot_be_saved_is_refused_by_its_place() -> None:
    async with memory_log() as log:
        with pytest.raises(AppendRejected) as refused:
            await log.session("s").save_checkpoint({"x": object()})
        assert refused.value.path == "events[0].data.state.x"
        with pytest.raises(AppendRejected):
            await log.session("s").save_checkpoint(1, schema_version=0)
        with pytest.raises(AppendRejected):
            await log.session("s").save_checkpoint(1, checkpoint_id="")
