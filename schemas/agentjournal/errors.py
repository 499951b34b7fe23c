"""Every error agentjournal raises on purpose: one class per decision its caller can take."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentjournal.receipts import Receipt


class AgentJournalError(Exception):
    """Base of every error of this package. Each survives pickling, as from another process."""

    def __reduce__(self) -> tuple[Any, ...]:
        # What begins with an underscore belongs to a connection, which stays where it is.
        kept = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        return _revived, (type(self), self.args, kept)


def _revived(
    kind: type[AgentJournalError], args: tuple[Any, ...], kept: dict[str, Any]
) -> AgentJournalError:
    error = kind.__new__(kind, *args)
    vars(error).update(kept)
    return error


class AppendRejected(AgentJournalError):
    """The events are not valid and never will be: correct them, then append again.

    `path` names the place, like `events[2].data.parts[0].text`; `reason` says what is wrong there.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path, self.reason = path, reason


class RedactionFailed(AgentJournalError):
    """What was to redact an event raised an error: nothing was sent. Correct it, then append again.

    `path` names the event, `error_type` the error, `where` the line that raised it. What the error
    said is not here, since it may hold what was to be redacted.
    """

    def __init__(self, path: str, event_type: str, error_type: str, where: str) -> None:
        super().__init__(
            f"{path}: {event_type} could not be redacted, and was not sent: {error_type} at {where}"
        )
        self.path, self.event_type = path, event_type
        self.error_type, self.where = error_type, where


class VersionConflict(AgentJournalError):
    """Another writer got there first: load again, decide again, append again."""

    def __init__(self, stream: str, expected_version: int, actual_version: int) -> None:
        super().__init__(
            f"{stream} is at version {actual_version}, expected {expected_version}: "
            "load it again and decide again"
        )
        self.stream, self.expected_version, self.actual_version = (
            stream,
            expected_version,
            actual_version,
        )


class AppendOutcomeUnknown(AgentJournalError):
    """No answer came in time; the append may have been recorded: `await error.retry()` to know.

    Retrying sends the same `append_id`, so nothing is ever recorded twice.
    """

    def __init__(
        self, append_id: str, waited_s: float, retry: Callable[[], Awaitable[Receipt]]
    ) -> None:
        super().__init__(
            f"append {append_id}: no answer within {waited_s:g} s. It may or may not be recorded; "
            "retry() settles it under the same append_id and never records it twice"
        )
        self.append_id = append_id
        self._retry = retry

    async def retry(self) -> Receipt:
        """Send the same append again and return its receipt, the original one if it was recorded.

        Raises what `append` raises.
        """
        return await self._retry()


class AppendIdReused(AgentJournalError):
    """This `append_id` was used for other events: use a new id for new events.

    An id that an event was given by itself, like `message_id`, is part of its content: name it
    where another process is to append the same again.
    """

    def __init__(self, append_id: str, stream: str) -> None:
        super().__init__(
            f"append_id {append_id!r} was used on {stream} for other events. Ids that were filled "
            "in, like message_id, count: give them where you give append_id"
        )
        self.append_id, self.stream = append_id, stream


class StreamDeleted(AgentJournalError):
    """The stream was deleted and takes no more events, ever."""

    def __init__(self, stream: str) -> None:
        super().__init__(f"{stream} was deleted and takes no more events")
        self.stream = stream


class SessionNotFound(AgentJournalError):
    """Nothing was ever appended to this session: check the id and the tenant."""

    def __init__(self, stream: str) -> None:
        super().__init__(f"{stream} has no events: check the id and the tenant")
        self.stream = stream


class VersionNotFound(AgentJournalError):
    """The session has not come to this version: load it without `at`, or check the number."""

    def __init__(self, stream: str, version: int, last_version: int) -> None:
        super().__init__(
            f"{stream} has no version {version}: its last one is version {last_version}"
        )
        self.stream, self.version, self.last_version = stream, version, last_version


class EventUnreadable(AgentJournalError):
    """A recorded event does not fit the model of its type: correct the model, or its upcasters.

    The event stays as it is; `path` and `reason` say what this code finds wrong in it.
    """

    def __init__(
        self,
        stream: str,
        version: int,
        event_type: str,
        schema_version: int,
        path: str,
        reason: str,
    ) -> None:
        super().__init__(
            f"{stream} version {version}: {event_type}, written as schema version "
            f"{schema_version}, cannot be read by this code: {path}: {reason}"
        )
        self.stream, self.version, self.type = stream, version, event_type
        self.schema_version, self.path, self.reason = schema_version, path, reason


class SessionMismatch(AgentJournalError):
    """The session belongs to another user: use another session id."""

    def __init__(self, stream: str) -> None:
        super().__init__(f"{stream} belongs to another user")
        self.stream = stream


class LeaseHeld(AgentJournalError):
    """Another worker holds the stream: leave it alone, or try again once its lease has passed.

    `until` is a time with a zone, by the broker's clock; the holder may go on and extend it.
    """

    def __init__(self, stream: str, holder: str, until: str) -> None:
        super().__init__(f"{stream} is held by worker {holder!r} until {until}")
        self.stream, self.holder, self.until = stream, holder, datetime.fromisoformat(until)


class LeaseLost(AgentJournalError):
    """Another worker holds the session now: stop, and change nothing more."""

    def __init__(self, stream: str) -> None:
        super().__init__(f"{stream}: the lease was taken by another worker; nothing was changed")
        self.stream = stream


class NeedsVerification(AgentJournalError):
    """Nobody knows whether these calls happened: find out, then `session.settle(call_id, …)` each.

    `calls` are those calls, as `ToolCall`s or steps.
    """

    def __init__(self, stream: str, calls: Sequence[Any]) -> None:
        names = ", ".join(_named(call) for call in calls)
        super().__init__(f"{stream}: it is not known whether these happened: {names}")
        self.stream, self.calls = stream, tuple(calls)


class CallEnded(AgentJournalError):
    """The call has an outcome already: use it, do not run it again.

    `call` is the `ToolCall` with its outcome.
    """

    def __init__(self, stream: str, call: Any) -> None:
        super().__init__(f"{stream}: call {call.call_id!r} is {call.outcome} already")
        self.stream, self.call = stream, call


class NoOutcome(AgentJournalError):
    """A call or step was left without saying what came of it: it is unknown until it is settled."""

    def __init__(self, stream: str, what: str) -> None:
        super().__init__(
            f"{stream}: {what} was left without complete() or fail(): "
            "nobody knows whether it happened until it is settled"
        )
        self.stream, self.what = stream, what


class CallNotFound(AgentJournalError):
    """The session has no such call: check the id."""

    def __init__(self, stream: str, call_id: str) -> None:
        super().__init__(f"{stream} has no call {call_id!r}")
        self.stream, self.call_id = stream, call_id


class ApprovalNotFound(AgentJournalError):
    """The session was asked for no such approval: check the id."""

    def __init__(self, stream: str, approval_id: str) -> None:
        super().__init__(f"{stream} has no approval {approval_id!r}")
        self.stream, self.approval_id = stream, approval_id


class AnsweredTooLate(AgentJournalError):
    """The time to answer has passed, and the approval has expired: it must be asked for anew."""

    def __init__(self, stream: str, approval_id: str, expires_at: str) -> None:
        super().__init__(f"{stream}: approval {approval_id!r} expired at {expires_at}")
        self.stream, self.approval_id = stream, approval_id
        self.expires_at = datetime.fromisoformat(expires_at)


class InputNotFound(AgentJournalError):
    """The session asked no such question: check the id."""

    def __init__(self, stream: str, input_id: str) -> None:
        super().__init__(f"{stream} has no question {input_id!r}")
        self.stream, self.input_id = stream, input_id


class HandoffNotFound(AgentJournalError):
    """The session has no such handoff, or comes from none: check the id."""

    def __init__(self, stream: str, handoff_id: str | None) -> None:
        what = "comes from no handoff" if handoff_id is None else f"has no handoff {handoff_id!r}"
        super().__init__(f"{stream} {what}")
        self.stream, self.handoff_id = stream, handoff_id


class ConstraintViolated(AgentJournalError):
    """The handoff that this session works on does not allow this: stop here.

    It is recorded. `constraint` is its name, `limit` what is allowed, `value` what would have been.
    """

    def __init__(self, stream: str, constraint: str, limit: Any, value: Any) -> None:
        super().__init__(f"{stream}: {constraint} is {limit}, and this is {value}")
        self.stream, self.constraint, self.limit, self.value = stream, constraint, limit, value


class FactNotFound(AgentJournalError):
    """Nothing is known of the entity under this id, or it was taken back: check the id."""

    def __init__(self, stream: str, fact_id: str) -> None:
        super().__init__(f"{stream} has no fact {fact_id!r}")
        self.stream, self.fact_id = stream, fact_id


class TaskNotFound(AgentJournalError):
    """Nothing was ever appended to this task: check the id and the tenant."""

    def __init__(self, stream: str) -> None:
        super().__init__(f"{stream} has no events: check the id and the tenant")
        self.stream = stream


class PlanNotFound(AgentJournalError):
    """The session or task has no such plan: check the id."""

    def __init__(self, stream: str, plan_id: str) -> None:
        super().__init__(f"{stream} has no plan {plan_id!r}")
        self.stream, self.plan_id = stream, plan_id


class PlanRefused(AgentJournalError):
    """The plan has come to something else than this needs: look at it, and decide again.

    `steps` are the steps that stand in the way, as `StepState`s.
    """

    def __init__(self, stream: str, plan_id: str, reason: str, steps: Sequence[Any] = ()) -> None:
        super().__init__(f"{stream}, plan {plan_id!r}: {reason}")
        self.stream, self.plan_id, self.reason, self.steps = stream, plan_id, reason, tuple(steps)


class CheckpointNotFound(AgentJournalError):
    """There is no such checkpoint any more, or none at all: begin without one."""

    def __init__(self, stream: str, checkpoint_id: str | None) -> None:
        what = "no checkpoint" if checkpoint_id is None else f"no checkpoint {checkpoint_id!r}"
        super().__init__(f"{stream} has {what} to go back to")
        self.stream, self.checkpoint_id = stream, checkpoint_id


class MessageAbandoned(AgentJournalError):
    """The message was recorded without this writer: load the session, and go on from there.

    Another worker took it for abandoned and recorded what there was, or its id was used before.
    """

    def __init__(self, stream: str, message_id: str) -> None:
        super().__init__(
            f"{stream}: message {message_id!r} is recorded already, with another content; "
            "nothing was changed"
        )
        self.stream, self.message_id = stream, message_id


class LimitExceeded(AgentJournalError):
    """The session is at a limit with policy `refuse`: end it, and go on in a new one.

    `value` is what it would have come to. Outcomes of what was begun are recorded all the same.
    """

    def __init__(self, stream: str, limit: str, value: int, maximum: int) -> None:
        super().__init__(
            f"{stream}: {limit} would be {value:,}, at most {maximum:,}: end the session and go on "
            "in a new one, or append a SessionUpdated with another limit"
        )
        self.stream, self.limit, self.value, self.maximum = stream, limit, value, maximum


class NotCaughtUp(AgentJournalError):
    """The read models do not show the append yet: wait longer, or look at the projector."""

    def __init__(self, partition: int, position: int, waited_s: float) -> None:
        super().__init__(
            f"partition {partition}: position {position} is not projected after {waited_s:g} s; "
            "`agentjournal status` shows whether the projector runs"
        )
        self.partition, self.position = partition, position


class StreamParked(AgentJournalError):
    """A projection met an event of this stream that it cannot apply: see `agentjournal parked`."""

    def __init__(self, stream: str, projection: str, version: int) -> None:
        super().__init__(f"{stream}: projection {projection} stopped at version {version}")
        self.stream, self.projection, self.version = stream, projection, version


class NotParked(AgentJournalError):
    """The service stopped at no such stream: see `agentjournal subscriptions NAME`."""

    def __init__(self, service: str, streams: Sequence[str]) -> None:
        super().__init__(f"service {service} is not stopped at: {', '.join(streams)}")
        self.service, self.streams = service, tuple(streams)


class TooManyParked(AgentJournalError):
    """A service's handler fails for many sessions: mend it, or what it talks to, and run it again.

    Nothing is skipped: the event that would have been parked is handled again.
    """

    def __init__(self, service: str, parked: int, error: str) -> None:
        super().__init__(
            f"service {service} is stopped at {parked:,} streams already and fails for another: "
            f"{error}"
        )
        self.service, self.parked, self.error = service, parked, error


class WindowTooSmall(AgentJournalError):
    """What a window must keep is over the budget: raise `max_tokens`, or compact the session."""

    def __init__(self, version: int, tokens: int, max_tokens: int) -> None:
        super().__init__(
            f"at version {version} what must be kept has {tokens:,} tokens, and max_tokens is "
            f"{max_tokens:,}"
        )
        self.version, self.tokens, self.max_tokens = version, tokens, max_tokens


class CompactionRefused(AgentJournalError):
    """The compaction would lose something: say it in the summary, carry it, or force it."""

    def __init__(self, reason: str, would_lose: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.reason, self.would_lose = reason, would_lose


class Unavailable(AgentJournalError):
    """A server cannot be reached, and nothing was sent: try again when it is back."""

    def __init__(self, server: str, reason: object) -> None:
        super().__init__(f"{server} cannot be reached: {reason}")
        self.server = server


class IntegrityError(AgentJournalError):
    """The log and what was derived from it disagree: stop, and look; never skip it."""


class ArtifactNotFound(AgentJournalError):
    """The artifact store does not have this content: check which store this process is given."""

    def __init__(self, digest: str) -> None:
        super().__init__(f"there is no artifact {digest} in the artifact store of this process")
        self.digest = digest


class ArtifactCorrupt(AgentJournalError):
    """What the artifact store has is not what was put there: restore it from a copy."""

    def __init__(self, digest: str) -> None:
        super().__init__(f"the artifact store has something else than {digest} under that name")
        self.digest = digest


class NotConfigured(AgentJournalError):
    """No servers are named: start a local stack, or set the AGENTJOURNAL_… variables."""


class ConnectedBeforeFork(AgentJournalError):
    """This process is the child of the one that connected: connect in it, and use that log."""

    def __init__(self) -> None:
        super().__init__(
            "this was made before the process was forked, and its connections are the parent's: "
            "call agentjournal.sync.connect() in the child"
        )


def _named(call: Any) -> str:
    call_id = getattr(call, "call_id", None)
    return f"{call.tool} {call_id}" if call_id is not None else str(getattr(call, "step_id", call))


def as_json_path(parts: tuple[Any, ...]) -> str:
    """Return `("parts", 0, "text")` as `parts[0].text`."""
    path = ""
    for part in parts:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path
