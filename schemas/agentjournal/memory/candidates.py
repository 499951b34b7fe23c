"""What an extractor is given and what it gives: statements in, candidates and refusals out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from agentjournal.events import Entity
from agentjournal.ids import Version

Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]
Source: TypeAlias = Literal["message", "arguments", "result"]
Cardinality: TypeAlias = Literal["single", "multiple"]
Kind: TypeAlias = Literal[
    "identifier",
    "preference",
    "decision",
    "correction",
    "profile",
    "constraint",
    "outcome",
    "relation",
    "text",
]


@dataclass(frozen=True, slots=True)
class Statement:
    """A piece of a session that may say something: a text of a message, a call, or a result.

    `at` is ISO 8601: the record's broker time, or for what was imported the source's. What
    follows `text` is given for calls and their results. `was_read`: an earlier promotion by this
    very extractor has read it, and what it learned stands; it may be used to understand others.
    """

    session_id: str
    event_id: str
    version: Version
    at: str
    role: Role
    source: Source
    text: str
    tool: str | None = None
    call_id: str | None = None
    effect: Literal["read", "idempotent", "external"] | None = None
    outcome: Literal["open", "completed", "failed"] | None = None
    value: Any = None  # of arguments and results: what their JSON says, None where it is no JSON
    was_read: bool = False
    is_task: bool = False  # what another agent handed over, in its words


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fact that an extractor proposes.

    `quote` is verbatim in the text of `statement`, or of `others`. `retracts`: the value of the
    slot is no longer to be believed ("forget that I …"); a `value` of None then means every value.
    """

    entity: Entity
    kind: Kind
    attribute: str
    value: Any
    cardinality: Cardinality
    quote: str
    statement: Statement
    confidence: float
    valid_from: str
    valid_to: str | None = None
    others: tuple[Statement, ...] = ()
    retracts: bool = False


UNREAD = "not read: "


class Refused(NamedTuple):
    """A candidate that is not kept, and why, in fixed words.

    A reason that begins with `UNREAD` says that a part of the session could not be read at all: the
    next promotion has nothing that `was_read`.
    """

    reason: str
    quote: str
    statement: Statement


@dataclass(frozen=True, slots=True)
class Extraction:
    """What an extractor makes of a session."""

    candidates: list[Candidate] = field(default_factory=list[Candidate])
    refused: list[Refused] = field(default_factory=list[Refused])
    summary: str | None = None
