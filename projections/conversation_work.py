"""What is left to do in a session: a turn that is open, messages that no turn has taken up.

Each session has one row, which changes only with what may give a worker something to do, so that
looking for work reads few rows of many. What one event alone does not say is in the context.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import orjson

from agentjournal.envelope import Recorded
from projections.columns import NEVER, session_row
from projections.plain_text import storable
from projections.projection import Context
from projections.rows import Changes, Table

WORK = Table(
    "work",
    {
        "tenant": "key",
        "session_id": "key",
        "version": "last",
        "agent": "first",
        "to_agent": "last",
        "status": "last",
        "turn_id": "last",
        "started_version": "last",
        "ended_version": "last",
        "turn_reason": "last",
        "due_at": "last",
        "remaining": "last",
        "unseen_version": "last",
        "rewound_version": "last",
        "answer_version": "last",
        "handed_version": "last",
        "settled_version": "last",
    },
)

_MOST_UNSEEN = 20  # beyond it the last of them stands for all that came since

Look: TypeAlias = Callable[[Recorded, Any, Context, Changes], Context]


class Unseen(NamedTuple):
    """A message of a user that no turn has taken up.

    Without an id it is a rewind: what is left of the conversation before it may end with one.
    """

    version: int
    message_id: str | None


class Transfer(NamedTuple):
    """The conversation was handed to another agent, and that has not failed."""

    handoff_id: str
    to_agent: str


class Remaining(NamedTuple):
    """What the events so far leave, as far as later ones change it."""

    unseen: list[Unseen]
    transfers: list[Transfer]
    named: list[int]  # versions in the same append that its turn names before they come


def _work(r: Recorded, changes: Changes, **columns: Any) -> None:
    changes.add("work", session_row(r, **columns))


def _remaining(context: Context) -> Remaining:
    if not context.remaining:
        return Remaining([], [], [])
    unseen, transfers, named = orjson.loads(context.remaining)
    return Remaining(list(map(Unseen._make, unseen)), list(map(Transfer._make, transfers)), named)


def _written(left: Remaining) -> str:
    # Each message writes them anew.
    plain = list(map(tuple, left.unseen)), list(map(tuple, left.transfers)), left.named
    return orjson.dumps(plain).decode()


def _revived(r: Recorded, context: Context, changes: Changes) -> Context:
    """Note that somebody wants something of a session that had expired: it needs a worker again."""
    if not context.is_expired:
        return context
    _work(r, changes, status="open")
    return context._replace(is_expired=False)


def _keep(r: Recorded, context: Context, changes: Changes, left: Remaining) -> Context:
    """Note what remains from now on."""
    left = left._replace(
        unseen=sorted(left.unseen), named=[each for each in left.named if each > r.version]
    )
    text = _written(left) if any(left) else ""
    if text == context.remaining:
        return context
    said = [each.version for each in left.unseen if each.message_id is not None]
    rewound = [each.version for each in left.unseen if each.message_id is None]
    _work(
        r,
        changes,
        remaining=text,
        unseen_version=min(said, default=0),
        rewound_version=max(rewound, default=0),
        to_agent=left.transfers[-1].to_agent if left.transfers else "",
    )
    return context._replace(remaining=text)


def _started(r: Recorded, data: Any, context: Context, changes: Changes) -> Context:
    _work(r, changes, agent=storable(data.get("agent")), status="open")
    return context


def _status(status: str) -> Look:
    def look(r: Recorded, _: Any, context: Context, changes: Changes) -> Context:
        _work(r, changes, status=status)
        return context._replace(is_expired=status == "expired")

    return look


def _turn_started(r: Recorded, data: Any, context: Context, changes: Changes) -> Context:
    ended = {"ended_version": 0, "turn_reason": "", "due_at": NEVER}
    turn_id = storable(data["turn_id"])
    _work(r, changes, turn_id=turn_id, started_version=r.version, **ended)
    left = _remaining(context)
    if listed := set(data["input_versions"]):
        last = r.version + r.batch_size - 1 - r.batch_index  # of this append
        unseen = [e for e in left.unseen if e.version not in listed and e.message_id is not None]
        named = [version for version in listed if r.version < version <= last]
        left = left._replace(unseen=unseen, named=sorted(named))
    return _keep(r, context, changes, left)


def _turn_ended(r: Recorded, data: Any, context: Context, changes: Changes) -> Context:
    if context.turn_id == storable(data["turn_id"]):
        due_at = data.get("resume_at") or NEVER
        ended = {"ended_version": r.version, "turn_reason": data["reason"], "due_at": due_at}
        _work(r, changes, turn_id="", **ended)
    return context


def _message(r: Recorded, data: Any, context: Context, changes: Changes) -> Context:
    if not context.remaining and data["role"] != "user":
        return context  # as most messages find it
    left = _remaining(context)
    if data["role"] == "user":
        context = _revived(r, context, changes)
    if data["role"] == "user" and r.version not in left.named:
        said = Unseen(r.version, storable(data["message_id"]))
        left = left._replace(unseen=[*left.unseen[: _MOST_UNSEEN - 1], said])
    elif _answers_all(r, data, context):
        left = left._replace(unseen=[])
    return _keep(r, context, changes, left)


def _answers_all(r: Recorded, data: Any, context: Context) -> bool:
    # A worker says in `turn.started` what it answers; who has no lease answers all there is.
    is_worker = r.fence is not None and context.turn_id is not None
    return data["role"] == "assistant" and data.get("status") != "incomplete" and not is_worker


def _retracted(r: Recorded, data: Any, context: Context, changes: Changes) -> Context:
    left, message_id = _remaining(context), storable(data["message_id"])
    unseen = [each for each in left.unseen if each.message_id != message_id]
    return _keep(r, context, changes, left._replace(unseen=unseen))


def _rewound(r: Recorded, data: Any, context: Context, changes: Changes) -> Context:
    left, to_version = _remaining(context), data["to_version"]
    unseen = [e for e in left.unseen if e.version <= to_version and e.message_id is not None]
    unseen.append(Unseen(r.version, None))
    return _keep(r, context, changes, left._replace(unseen=unseen))


def _handed(r: Recorded, data: Any, context: Context, changes: Changes) -> Context:
    left, handoff_id = _remaining(context), data["handoff_id"]
    if data["mode"] != "transfer":
        _work(r, changes, handed_version=r.version)
    elif all(each.handoff_id != handoff_id for each in left.transfers):
        left.transfers.append(Transfer(handoff_id, data["to_agent"]))
    return _keep(r, context, changes, left)


def _handoff_failed(r: Recorded, data: Any, context: Context, changes: Changes) -> Context:
    context = _answered(r, data, context, changes)
    left = _remaining(context)
    transfers = [each for each in left.transfers if each.handoff_id != data["handoff_id"]]
    return _keep(r, context, changes, left._replace(transfers=transfers))


def _answered(r: Recorded, _: Any, context: Context, changes: Changes) -> Context:
    _work(r, changes, answer_version=r.version)
    return _revived(r, context, changes)


def _settled(r: Recorded, _: Any, context: Context, changes: Changes) -> Context:
    _work(r, changes, settled_version=r.version)
    return _revived(r, context, changes)


# Each is given the context from before the event, and returns it with what remains after it.
LOOKS: Mapping[str, Look] = {
    "session.started": _started,
    "session.ended": _status("ended"),
    "session.expired": _status("expired"),
    "session.resumed": _status("open"),
    "session.deleted": _status("deleted"),
    "turn.started": _turn_started,
    "turn.ended": _turn_ended,
    "message.added": _message,
    "message.retracted": _retracted,
    "conversation.rewound": _rewound,
    "approval.granted": _answered,
    "approval.denied": _answered,
    "approval.expired": _answered,
    "input.provided": _answered,
    "handoff.requested": _handed,
    "handoff.completed": _answered,
    "handoff.failed": _handoff_failed,
    "tool.settled": _settled,
}
