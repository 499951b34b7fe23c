"""What goes into the events of facts beyond their models' fields: ids, and when it was said.

`fact.learned` may say `said_at`, the time of the statement, where `valid_from` is a date that the
statement names; without it, it was said at `valid_from`, or when it was recorded if it has no
evidence. `fact.retracted` may say `attribute`, `value` and `said_at`: it then takes back every
statement of that value until then, also one that is learned later, and without `value` every value.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any

from agentjournal.codec import encode
from agentjournal.events import Entity, Evidence, FactRetracted
from agentjournal.memory.values import normal_form

ANY_VALUE = object()
MAX_FACT_BYTES = 32_000  # a fact is a value and a sentence: what is more is a document
_MOST_DEEP = 50
_NUMBER = re.compile(r"\d+")


def fact_id_of(entity: Entity, session_id: str, event_id: str, attribute: str, value: Any) -> str:
    """Return the id that a fact has whoever learns it, and however often.

    `session_id` and `event_id` are those of the statement that it comes from.
    """
    parts = (entity.kind, entity.id, session_id, event_id, attribute, _form(value))
    return _digest("".join(f"{len(part)}:{part}" for part in parts)).hex()


def value_key(value: Any) -> bytes:
    """Return what equal values have in common, and others do not."""
    return _digest(_form(value))


def version_order(version: str) -> str:
    """Return text that stands in the order of versions: `1.10` after `1.9`."""
    return _NUMBER.sub(lambda found: found[0].zfill(20), version)


def retraction(  # noqa: PLR0913 - a keyword for each thing that it says
    attribute: str,
    value: Any = ANY_VALUE,
    *,
    fact_id: str | None = None,
    said_at: str | None = None,
    reason: str,
    by: str,
    evidence: Iterable[Evidence] = (),
) -> FactRetracted:
    """Return the event that takes back what was said of a slot up to `said_at`, ISO 8601.

    None: until it is recorded. Without a `value` all values are meant, also those of statements
    that are learned later. `fact_id` is that of a fact, where one is meant.
    """
    more: dict[str, Any] = {"attribute": attribute}
    if value is not ANY_VALUE:
        more["value"] = value
    if said_at is not None:
        more["said_at"] = said_at
    if said := [each.model_dump() for each in evidence]:
        more["evidence"] = said
    named = fact_id or _digest(f"retracted {attribute} {said} {said_at}").hex()
    return FactRetracted.model_validate({"fact_id": named, "reason": reason, "by": by, **more})


def this_alone(fact_id: str, value: Any) -> dict[str, Any]:
    """Return the `value` of a retraction that means one fact and no other of the same value."""
    return {"fact_id": fact_id, "value": value}


def value_taken_back(event: FactRetracted) -> Any:
    """Return the value that a retraction is about; None: every value, or it does not say."""
    value = event.value
    is_alone = isinstance(value, dict) and value.get("fact_id") == event.fact_id
    return value["value"] if is_alone and "value" in value else value


def _form(value: Any) -> str:
    """Return the normal form of a value; of what has none, like NaN, its JSON as it is logged."""
    try:
        return normal_form(value) if _depth(value) <= _MOST_DEEP else encode(value).decode()
    except (ValueError, OverflowError):
        return encode(value).decode()


def _depth(value: Any) -> int:
    """Return how deep lists and dicts are nested, as far as that matters."""
    level, depth = [value], 0
    while level and depth <= _MOST_DEEP:
        nested: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                nested += each.values()
            elif isinstance(each, list | tuple):
                nested += each
        level, depth = nested, depth + 1
    return depth


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
