"""Undoing what the steps of a plan did, the last completed first.

What undoes a step is a step of its own, `undo:` and its id: begun before the effect, with a key,
and completed in one append with the word that the first is rolled back. So a crash in between
leaves it unknown like any other step, and nothing is undone twice.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agentjournal.attempts import Attempt, Attempting
from agentjournal.errors import NeedsVerification, PlanRefused
from agentjournal.events import Event, StepRolledBack
from agentjournal.events.tool import Effect
from agentjournal.ids import StreamId
from agentjournal.plan_decisions import abandonment, started
from agentjournal.plan_rules import Undo, to_undo, undo_id, undo_of
from agentjournal.plan_writer import LOOK_S, PlanWriter
from agentjournal.planning import Moment, PlanState, StepState


class Wanted(NamedTuple):
    """How a plan is to be rolled back."""

    compensations: Mapping[str, Undo | None]
    reason: str
    effect: Effect | None  # of the compensations; None: that of each step
    lease_s: float
    wait_s: float  # for what somebody runs


async def roll_back(writer: PlanWriter, wanted: Wanted) -> PlanState:
    """Undo what is not undone yet; return the plan then. Raises what `Plan.roll_back` does."""
    deadline = writer.place.time.monotonic() + wanted.wait_s
    while True:
        plan = await _at_rest(writer, deadline)
        check(writer.stream, plan, wanted, writer.now())
        steps = to_undo(plan)
        if not steps:
            await writer.decide(lambda plan, _: abandonment(plan, wanted.reason))
            return writer.state
        await _undo(writer, steps[0], wanted)


async def _at_rest(writer: PlanWriter, deadline: float) -> PlanState:
    """Return the newest state, when nobody runs a step any more, or at the deadline."""
    time = writer.place.time
    while True:
        _, plan = await writer.read()
        running, left = _running(plan, writer.now()), deadline - time.monotonic()
        if not running or left <= 0:
            return plan
        await time.sleep(_pause(running, writer.now(), left))


def _running(plan: PlanState, now: Moment) -> list[StepState]:
    return [step for step in plan.known.values() if step.is_open_at(now) == "running"]


def _pause(running: Sequence[StepState], now: Moment, left: float) -> float:
    """Return how long to wait until a lease has passed, or an outcome may have come."""
    leases = (step.lease_until for step in running)
    until = min((each for each in leases if each is not None and each > now.at), default=None)
    longest = min(left, LOOK_S)
    return longest if until is None else max(0.01, min(longest, (until - now.at).total_seconds()))


def check(stream: StreamId, plan: PlanState, wanted: Wanted, now: Moment) -> None:
    """Raise PlanRefused or NeedsVerification when what the steps did cannot be undone now."""
    steps = plan.known.values()
    if running := _running(plan, now):
        named = ", ".join(step.step_id for step in running)
        raise PlanRefused(stream, plan.plan_id, f"somebody runs: {named}", running)
    unknown = [step for step in steps if step.is_open_at(now) and _matters(plan, step, wanted)]
    if unknown:
        raise NeedsVerification(stream, unknown)
    missing = [step for step in to_undo(plan) if not undo_of(wanted.compensations, step)[0]]
    if missing:
        named = ", ".join(step.step_id for step in missing)
        raise PlanRefused(stream, plan.plan_id, f"nothing is given that undoes: {named}", missing)


def _matters(plan: PlanState, step: StepState, wanted: Wanted) -> bool:
    """Whether it must be known what came of a step; of what undoes, only an external effect's."""
    for undone in plan.known.values():
        if undo_id(undone.step_id) == step.step_id:
            return (wanted.effect or undone.effect) == "external"
    return step.effect != "read"


async def _undo(writer: PlanWriter, step: StepState, wanted: Wanted) -> None:
    undo, named = undo_of(wanted.compensations, step)[1], undo_id(step.step_id)
    stream = writer.stream

    def rolled_back(by_step: str | None) -> StepRolledBack:
        return StepRolledBack(plan_id=writer.plan_id, step_id=step.step_id, by_step=by_step)

    def already(plan: PlanState, _: Moment) -> Sequence[Event]:
        by = None if undo is None else named
        if _is_undone(plan, step):
            return []
        return [*abandonment(plan, wanted.reason), rolled_back(by)]

    def beginning(plan: PlanState, now: Moment) -> Sequence[Event]:
        check(stream, plan, wanted, now)
        held = plan.known.get(named) or StepState(named, step.version)
        if _is_undone(plan, step) or held.outcome == "completed":
            why = f"step {step.step_id!r} was undone by another meanwhile"
            raise PlanRefused(stream, plan.plan_id, why, [held])
        return [*abandonment(plan, wanted.reason), started(stream, plan, held, wanted.lease_s)]

    held = writer.state.known.get(named)
    if undo is None or (held is not None and held.outcome == "completed"):
        await writer.decide(already)
        return
    effect = wanted.effect or step.effect
    attempting = Attempting(lambda: writer.begin(beginning, effect), lambda _: None)
    async with attempting as attempt:
        result = await _result_of(undo, step, attempt)
        await attempt.complete(result, also=[rolled_back(named)])


def _is_undone(plan: PlanState, step: StepState) -> bool:
    return plan.known[step.step_id].status == "rolled_back"


async def _result_of(undo: Undo, step: StepState, attempt: Attempt) -> Any:
    """Return what a compensation returns; one that is not asynchronous runs in a thread."""
    if inspect.iscoroutinefunction(undo):
        return await undo(step, attempt)
    returned = await asyncio.to_thread(undo, step, attempt)
    return await returned if inspect.isawaitable(returned) else returned
