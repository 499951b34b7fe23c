"""Compaction: a stretch of the conversation gives way to a summary that loses nothing exact."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agentjournal.errors import CompactionRefused
from agentjournal.events import Carried, ConversationCompacted
from agentjournal.state import SessionState
from agentjournal.windows.conversation import Entry, entries_of
from agentjournal.windows.identifiers import Identifier, identifiers_in
from agentjournal.windows.measures import Measures
from agentjournal.windows.tokens import Count

_LISTED = 5  # identifiers that the error's text names


@dataclass(frozen=True, slots=True)
class CompactionRequest:
    """What is asked for.

    `keep_last` messages stay as they are, and with them what a call needs of its results.
    `carried` are (kind, value) that are kept word for word; with `carry_identifiers` whatever
    identifier would be lost is among them. `force` records the loss and goes on.
    """

    summary: str
    keep_last: int = 4
    carried: Sequence[tuple[str, str]] = ()
    carry_identifiers: bool = False
    summarised_by: str = "caller"
    force: bool = False


def compaction_of(
    state: SessionState, request: CompactionRequest, count: Count
) -> ConversationCompacted:
    """Return the event that compacts `state` as it was asked for.

    Raises CompactionRefused when there is nothing to cover, when the summary is empty, or when an
    identifier would be lost.
    """
    if not request.summary.strip():
        raise CompactionRefused("the summary is empty")
    if request.keep_last < 0:
        raise ValueError(f"keep_last={request.keep_last} is less than 0")
    entries = entries_of(state)
    covered, last = _covered(entries, request.keep_last)
    gone = {entry.version for entry in covered}
    rest = [entry for entry in entries if entry.version not in gone]
    lost = _lost(covered, rest, request)
    carried = [Carried(kind=k, value=v, version=last) for k, v in request.carried]
    if request.carry_identifiers:
        carried += [Carried(kind=n.kind, value=n.value, version=v) for n, v in lost.items()]
    elif lost and not request.force:
        names = [name.value for name in lost]
        shown = ", ".join(names[:_LISTED]) + (", …" if len(names) > _LISTED else "")
        raise CompactionRefused(
            f"{len(names)} identifiers stand neither in the summary nor in what is carried: "
            f"{shown}",
            tuple(names),
        )
    begin = min([1, *(entry.version for entry in entries)])  # before 1 is what a fork inherited
    first = max((c.last_version + 1 for c in state.compactions), default=begin)
    event = ConversationCompacted(
        first_version=first,
        last_version=last,
        summary=request.summary,
        carried=carried,
        tokens_before=0,
        tokens_after=0,
        summarised_by=request.summarised_by,
        forced=bool(lost) and not request.carry_identifiers,
    )
    return _with_tokens(state, event, entries, Measures(count))


def _covered(entries: Sequence[Entry], keep_last: int) -> tuple[list[Entry], int]:
    """Return the entries that go, and the last version that the compaction covers."""
    own = [entry for entry in entries if not entry.kept]
    end = max(0, len(own) - keep_last)
    while end and not _is_whole(own[:end], own[end:]):
        end -= 1  # a call without an outcome, or a result behind what stays, would be cut off
    covered = own[:end]
    if not covered:
        raise CompactionRefused(
            f"there is nothing to compact before the last {keep_last} messages: "
            "what is before is covered already, or has a call without an outcome"
        )
    return covered, max(_end_of(entry) for entry in covered)


def _is_whole(covered: Sequence[Entry], rest: Sequence[Entry]) -> bool:
    if any(result.version is None for entry in covered for result in entry.results):
        return False
    first_kept = rest[0].version if rest else None
    return first_kept is None or all(_end_of(entry) < first_kept for entry in covered)


def _end_of(entry: Entry) -> int:
    return max(version for version in entry.key if version is not None)


def _lost(
    covered: Sequence[Entry], rest: Sequence[Entry], request: CompactionRequest
) -> dict[Identifier, int]:
    """Return the identifiers that would be gone, with the version that last had each."""
    held = request.summary + "\n" + "\n".join(value for _, value in request.carried)
    stays = {name.value for name in identifiers_in(held)}
    for entry in rest:
        stays |= {name.value for name in Measures.identifiers_of(entry)}
    return {
        name: entry.version
        for entry in covered
        for name in Measures.identifiers_of(entry)
        if name.value not in stays and not _stands_in(name.value, held)
    }


def _stands_in(value: str, text: str) -> bool:
    """Return whether a value stands in a text by itself: 4821 does not stand in 48213."""
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None


def _with_tokens(
    state: SessionState,
    event: ConversationCompacted,
    entries: Sequence[Entry],
    measures: Measures,
) -> ConversationCompacted:
    after = state.with_compaction(event)
    return event.model_copy(
        update={
            "tokens_before": sum(map(measures.tokens_of, entries)),
            "tokens_after": sum(map(measures.tokens_of, entries_of(after))),
        }
    )
