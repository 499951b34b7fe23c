"""Sending refused requests again, as the bytes they were, and what becomes of them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from agentjournal.envelope import record_order, unseal
from agentjournal.ids import Partition, Position
from agentjournal.requests import RequestError, decode_request
from agentjournal.settings import Settings
from commands.dead_letters import DeadLetter, letters_since
from commands.errors import CommandFailed
from commands.kafka_sending import Place, send_requests
from commands.kafka_topic import KafkaTopic
from commands.postgres_decided import Append, decided_until, recorded
from streams.ports import Bounds

# What lost a race, or came to a stream that is closed: whoever asked has gone on since.
_ONE_BY_ONE = frozenset({"conflict", "lease_lost", "deleted"})
_PLACE = re.compile(r"([0-9]{1,9}):([0-9]{1,18})")
_LOOK_S = 0.2
_PATIENCE_S = 30.0  # without any decision


Outcome: TypeAlias = Literal["accepted", "there already", "refused"]


class Redriven(NamedTuple):
    """What became of a request that was refused at `position` of `partition` of `appends`."""

    stream: str
    reason: str  # for which it was refused before
    partition: int
    position: int
    outcome: Outcome
    first_version: int | None = None
    last_version: int | None = None
    why: str = ""


def chosen(
    letters: Iterable[DeadLetter], named: Sequence[str]
) -> tuple[list[DeadLetter], list[DeadLetter]]:
    """Return the letters to send again, and those that must be named one by one for it.

    Names are streams, or places as PARTITION:OFFSET. Raises CommandFailed for a name without any.
    """
    matched = {name: _PLACE.fullmatch(name) for name in named}
    places = {(int(m[1]), int(m[2])) for m in matched.values() if m is not None}
    streams = {name for name, match in matched.items() if match is None}
    found = [
        each for each in letters if not named or _place(each) in places or each.stream in streams
    ]
    missing = [f"{p}:{o}" for p, o in sorted(places - set(map(_place, found)))]
    missing += sorted(streams - {each.stream for each in found})
    if missing:
        raise CommandFailed(f"no request of this place or stream was refused: {', '.join(missing)}")
    due: list[DeadLetter] = []
    left_out: list[DeadLetter] = []
    for each in found:
        is_due = each.reason not in _ONE_BY_ONE or _place(each) in places
        (due if is_due else left_out).append(each)
    return due, left_out


async def redriven(settings: Settings, letters: Sequence[DeadLetter]) -> list[Redriven]:
    """Append requests again, in this order, and return what became of each.

    One whose events are in the log is not sent: after many other appends its id would not be known
    any more. Raises Unavailable, and CommandFailed when nobody decides.
    """
    appends = [_append_of(each) for each in letters]
    there = await recorded(settings, (each for each in appends if each is not None))
    due = [each for each, append in zip(letters, appends, strict=True) if append not in there]
    async with (
        KafkaTopic(settings, settings.dead) as dead,
        KafkaTopic(settings, settings.events) as log,
    ):
        dead_before, log_before = await dead.bounds(), await log.bounds()
        places = await send_requests(settings, [(each.key, each.request) for each in due])
        await _decided(settings, places)
        versions = await _versions(log, log_before, set(places))
        refused = await letters_since(dead, dead_before)
    again = {(each.partition, each.position): each for each in refused}
    done = {
        _place(each): _outcome(each, versions.get(place), again.get(place))
        for each, place in zip(due, places, strict=True)
    }
    return [done.get(_place(each)) or _became(each, "there already") for each in letters]


def _place(letter: DeadLetter) -> tuple[int, int]:
    return letter.partition, letter.position


def _append_of(letter: DeadLetter) -> Append | None:
    try:
        return letter.stream, decode_request(letter.request).append_id
    except RequestError:
        return None


async def _decided(settings: Settings, places: Iterable[Place]) -> None:
    """Return when all of these are decided, and what was decided is written."""
    until: dict[Partition, Position] = {}
    for partition, position in places:
        until[partition] = max(position, until.get(partition, position))
    loop, seen, deadline = asyncio.get_running_loop(), None, 0.0
    while True:
        at = await decided_until(settings)
        if all(at[partition] > position for partition, position in until.items()):
            return
        if at != seen:
            seen, deadline = at, loop.time() + _PATIENCE_S
        elif loop.time() > deadline:
            raise CommandFailed(
                f"nothing was decided for {_PATIENCE_S:g} s: what was sent waits for "
                "`agentjournal run sequencer`, and `agentjournal dead` lists what it refuses"
            )
        await asyncio.sleep(_LOOK_S)


async def _versions(
    log: KafkaTopic, before: Mapping[Partition, Bounds], wanted: set[Place]
) -> dict[Place, list[int]]:
    """Return the versions that requests were given, by the places of the requests."""
    now = await log.bounds()
    spans = {p: Bounds(before[p].end, now[p].end) for p in {partition for partition, _ in wanted}}
    found: dict[Place, list[int]] = {}
    async for record in log.read(spans):
        place = (record.partition, Position(record_order(record.value)[0]))
        if place in wanted:
            attributes = unseal(record.value, record.partition, record.position)[0]
            found.setdefault(place, []).append(int(attributes["version"]))
    return found


def _outcome(
    letter: DeadLetter, versions: Sequence[int] | None, refused: DeadLetter | None
) -> Redriven:
    if versions:
        return _became(letter, "accepted", first_version=min(versions), last_version=max(versions))
    if refused is None:  # its append id was known: an earlier attempt is in the log
        return _became(letter, "there already")
    why = f"{refused.reason}: {refused.path} {refused.text}" if refused.path else refused.reason
    if refused.actual_version:
        why = f"conflict: {refused.expected_version} was expected, it is {refused.actual_version}"
    return _became(letter, "refused", why=why)


def _became(letter: DeadLetter, outcome: Outcome, **more: Any) -> Redriven:
    return Redriven(
        letter.stream, letter.reason, letter.partition, letter.position, outcome, **more
    )
