"""Killing an agent at each of its awaits, and seeing that it comes to the same all the same."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Any, Protocol, TypeAlias

from agentjournal.testing.cutting import Cut, tasks_under_watch
from agentjournal.testing.memory_log import MemoryLog, memory_log
from agentjournal.testing.outcomes import Outcome, outcome_of

Main: TypeAlias = Callable[[MemoryLog], Coroutine[Any, Any, Any]]
Recover: TypeAlias = Callable[[MemoryLog, Exception], Awaitable[object]]
Kill: TypeAlias = tuple[int, int]  # at which await; how many appends on their way have landed

_BEGINNING = datetime(2026, 1, 1, 12, tzinfo=UTC)
_MOST_RECOVERIES = 10
_PAIRS = 30


class Effects(Protocol):
    """What an agent did to the world: a `Ledger`, or a list that its stand-ins add to."""

    def clear(self) -> object:
        """Let nothing have happened."""
        ...

    def __iter__(self) -> Iterator[Any]: ...


@dataclass(frozen=True, slots=True)
class CrashReport:
    """What was tried. That there is one means that everything came to the same."""

    awaits: int  # of the uninterrupted run
    runs: int  # that were killed once or more often
    kills: int
    places: Sequence[str] = field(repr=False)  # where, `file:line in function`, each once

    def __str__(self) -> str:
        return (
            f"{self.kills} kills in {self.runs} runs, at {len(self.places)} places of an agent "
            f"that waits {self.awaits} times: each came to what the uninterrupted run did"
        )


class CrashFailure(AssertionError):
    """A run that was killed came to something else than the uninterrupted one: mend the agent.

    `kills` says where it was killed, in words; `differences` what came out otherwise.
    """

    def __init__(self, kills: Sequence[str], differences: Sequence[str]) -> None:
        self.kills, self.differences = tuple(kills), tuple(differences)
        super().__init__("\n".join([*kills, *(f"  {each}" for each in differences)]))


async def crash_everywhere(  # noqa: PLR0913 - a keyword for each thing one may choose
    main: Main,
    *,
    effects: Effects | None = None,
    log: Callable[[], MemoryLog] | None = None,
    recover: Recover | None = None,
    kills: int = 1,
    limit: int | None = None,
    seed: int = 0,
    pause_s: float = 1.0,
) -> CrashReport:
    """Run an agent again and again in memory, killed at each of its awaits in turn.

    `main(log)` is run to its end first. Then for each await: it is run until there, nothing more of
    it runs, its lease passes and `pause_s` more, and it is run again, to the end. `effects` and the
    states of all sessions and tasks must come to what they came to uninterrupted. Where an append
    was on its way, both is tried: that it was lost, and that it reached the log. What it does in
    threads happens at the await around them.

    `log` makes the log of each run, by default an empty one. `recover(log, error)` is awaited where
    a run after a kill raises, as a person would see to it, and it is run once more. With `kills`
    above 1 so many lives in a row are cut short, at places that `seed` chooses. At most `limit`
    places are tried, by default all of them, or 30 rows of kills.

    Returns what was tried. Raises CrashFailure at the first difference, and what `main` raises
    uninterrupted.
    """
    crashing = _Crashing(
        main, [] if effects is None else effects, log or _empty_log, recover, pause_s
    )
    with tasks_under_watch():
        expected = await crashing.uninterrupted()
        for planned in _plans(crashing.awaits, kills, limit, Random(seed)):  # noqa: S311 - to repeat it
            await crashing.check(planned, expected)
    return CrashReport(crashing.awaits, crashing.runs, crashing.kills, sorted(crashing.places))


def _empty_log() -> MemoryLog:
    return memory_log(at=_BEGINNING)


def _plans(awaits: int, kills: int, limit: int | None, chance: Random) -> Iterator[list[Kill]]:
    """Yield when to kill: at each await in turn, or rows of kills by chance."""
    if kills < 1:
        raise ValueError(f"kills={kills} is below 1")
    numbers = range(1, awaits + 1)
    if kills > 1:
        for _ in range(_PAIRS if limit is None else limit):
            yield [(chance.choice(numbers), chance.choice((0, 1, 1_000))) for _ in range(kills)]
        return
    chosen = numbers if limit is None else sorted(chance.sample(numbers, min(limit, awaits)))
    yield from ([(number, 0)] for number in chosen)


@dataclass(slots=True)
class _Crashing:
    main: Main
    effects: Effects
    log: Callable[[], MemoryLog]
    recover: Recover | None
    pause_s: float
    awaits: int = 0
    runs: int = 0
    kills: int = 0
    places: set[str] = field(default_factory=set[str])

    async def uninterrupted(self) -> Outcome:
        """Return what the agent comes to when nobody kills it."""
        self.effects.clear()
        log = self.log()
        life = Cut(log.beside())
        await life.run(self.main)
        self.awaits = life.awaits
        return await outcome_of(log, self.effects)

    async def check(self, planned: Sequence[Kill], expected: Outcome) -> None:
        """Kill an agent as planned; again with what was on its way at a single kill, if it was."""
        lives = await self._killed(planned, expected)
        if len(planned) == 1 and lives:
            for landed in range(1, lives[0].on_their_way + 1):
                await self._killed([(planned[0][0], landed)], expected)

    async def _killed(self, planned: Sequence[Kill], expected: Outcome) -> list[Cut]:
        self.effects.clear()
        log, lives, dead = self.log(), list[Cut](), list[Cut]()
        error: Exception | None = None
        try:
            for at, landed in planned:
                life = Cut(log.beside(), at, landed=landed)
                lives.append(life)
                error = await self._live(life)
                if not life.is_over and error is None:
                    break
                if life.is_over:
                    dead.append(life)
                    log.pass_leases(self.pause_s)
            if not lives or lives[-1].is_over or error is not None:
                error = await self._to_the_end(log, error)
            differences = _raised(error) or expected.differences(
                await outcome_of(log, self.effects)
            )
        finally:
            for each in lives:
                each.bury()
        self.runs += bool(dead)
        self.kills += len(dead)
        self.places.update(each.place for each in dead)
        if differences:
            raise CrashFailure([_words(each, self.awaits) for each in dead], differences) from error
        return dead

    async def _live(self, life: Cut) -> Exception | None:
        try:
            await life.run(self.main)
        except Exception as error:  # noqa: BLE001 - whatever it raises, somebody may see to it
            return error
        return None

    async def _to_the_end(self, log: MemoryLog, error: Exception | None) -> Exception | None:
        """Run the agent until it ends well; return why it does not."""
        for _ in range(_MOST_RECOVERIES):
            if error is not None:
                if self.recover is None:
                    return error
                await self.recover(log.beside(), error)
            life = Cut(log.beside())
            error = await self._live(life)
            life.bury()
            if error is None:
                return None
            log.pass_leases(self.pause_s)
        return error


def _raised(error: Exception | None) -> list[str]:
    return [] if error is None else [f"run again, it raises {type(error).__name__}: {error}"]


def _words(life: Cut, awaits: int) -> str:
    what = ""
    if life.on_their_way:
        arrived = min(life.landed, life.on_their_way)
        what = f", {arrived} of {life.on_their_way} appends on their way to the log arrived"
    return f"killed at {life.place} (await {life.at} of {awaits}){what}:"
