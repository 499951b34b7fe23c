"""The answer to an append: a receipt, or a refusal by its reason."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import orjson

from agentjournal.ids import Partition, Position, StreamId, Version


class Receipt(NamedTuple):
    """Proof that a batch is in the log, and where.

    `first_version` and `last_version` are those of the caller's events in `stream`. `position` is
    the offset of the request in `partition` of the `appends` topic, the same for every repeat of
    it. `duplicate` is true when an earlier attempt had been recorded already.
    """

    stream: StreamId
    partition: Partition
    position: Position
    first_version: Version
    last_version: Version
    duplicate: bool
    append_id: str


RefusalReason = Literal[
    "conflict",
    "lease_held",
    "lease_lost",
    "limit",
    "rejected",
    "id_reused",
    "deleted",
    "mismatch",
    "not_idle",
]


class Refusal(NamedTuple):
    """Why a batch is not in the log.

    `path` and `text` say it for "rejected" and "not_idle", `version` is the actual one for
    "conflict". For "lease_held" they are the holder, the time until which it holds, and its fence,
    for "limit" its name, its maximum, and what the stream would have come to.
    """

    reason: RefusalReason
    path: str = ""
    text: str = ""
    version: Version = Version(0)


class Answer(NamedTuple):
    """One outcome on its way to the client that asked: it names the attempt it answers.

    Append ids are a stream's own, so only both together say which append it is.
    """

    stream: StreamId
    append_id: str
    attempt: int
    outcome: Receipt | Refusal


def encode_answers(answers: list[Answer]) -> bytes:
    """Return one message for a client's channel."""
    return orjson.dumps([_fields(answer) for answer in answers])


def _fields(answer: Answer) -> list[Any]:
    which = [answer.stream, answer.append_id, answer.attempt]
    outcome = answer.outcome
    if isinstance(outcome, Receipt):
        _, partition, position, first, last, duplicate, _ = outcome
        return [*which, "duplicate" if duplicate else "accepted", partition, position, first, last]
    return [*which, *outcome]


def decode_answers(message: bytes) -> list[Answer]:
    """Return the answers in a message of a client's channel."""
    answers: list[Answer] = []
    for stream, append_id, attempt, word, *rest in orjson.loads(message):
        outcome: Receipt | Refusal
        if word in {"accepted", "duplicate"}:
            partition, position, first, last = rest
            outcome = Receipt(
                stream, partition, position, first, last, word == "duplicate", append_id
            )
        else:
            path, text, version = rest
            outcome = Refusal(word, path, text, version)
        answers.append(Answer(stream, append_id, attempt, outcome))
    return answers
