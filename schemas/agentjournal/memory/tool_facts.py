"""What tools prove: which identifiers are the user's own, and what was done to which thing.

Told by structure alone: names of arguments that end like those of ids, values that the result
repeats, objects that a result names first. A call that failed, or whose result is an error, proves
nothing; a call that only reads changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from agentjournal.events import Entity
from agentjournal.memory.candidates import Candidate, Statement
from agentjournal.memory.slots import Slot, Slots
from agentjournal.memory.tool_things import (
    Named,
    changes_something,
    entity_kind_of,
    is_error,
    names_of,
    things_of,
    verbatim,
)

LAST_ACTION = "last_action"
_MAX_ATTRIBUTE = 255  # characters that an id has
_TOKEN = re.compile(r"[\w#][\w.#/-]*[\w]")
_VERIFIED = ("verified", "valid", "authenticated", "confirmed", "matches", "match")
_OF_RECORDS = frozenset({"account_id"})  # ids of records, not the numbers that people are asked for
_OTHER_NAMES = {"_id": "_number", "_no": "_number", "_num": "_number", "_ref": "_number"}


@dataclass(slots=True)
class _Proving:
    """What was said and begun so far, and what is proven by it."""

    about: Mapping[str, Entity]
    slots: Slots
    begun: dict[str, Statement] = field(default_factory=dict[str, Statement])
    said: set[str] = field(default_factory=set[str])
    known: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    found: list[Candidate] = field(default_factory=list[Candidate])
    read: list[tuple[Named, tuple[Statement, Statement]]] = field(
        default_factory=list[tuple[Named, tuple[Statement, Statement]]]
    )  # what calls that only read were made with, and their results confirm


def tool_facts(
    statements: Sequence[Statement],
    about: Mapping[str, Entity],
    slots: Slots,
    said: Sequence[Candidate] = (),
) -> list[Candidate]:
    """Return the outcomes and identifiers that the calls of a session prove.

    What a user said of itself before, `said`, is not proven again.
    """
    proving = _Proving(about, slots)
    proving.known = {(each.attribute, str(each.value).casefold()) for each in said}
    for each in statements:
        if each.source == "message":
            if each.role == "user":
                _hear(proving, each)
        elif each.call_id is None:
            continue
        elif each.source == "arguments":
            proving.begun[each.call_id] = each
        elif (call := proving.begun.get(each.call_id)) is not None and not is_error(each):
            _prove(proving, call, each)
    _believe_readings(proving)
    return proving.found


def _hear(proving: _Proving, statement: Statement) -> None:
    """Take up the words of a user; its own id among them is known to be its own."""
    words = {found[0].casefold() for found in _TOKEN.finditer(statement.text)}
    proving.said |= words
    user = proving.about.get("user")
    if user is None or not any(sign.isdigit() for sign in user.id):
        return
    own = re.search(rf"(?<![\w-]){re.escape(user.id)}(?![\w-])", statement.text, re.IGNORECASE)
    if own is not None:
        _recognise(proving, own[0], statement)


def _recognise(
    proving: _Proving, quote: str, statement: Statement, others: tuple[Statement, ...] = ()
) -> None:
    """Keep the user's own id, which the session has, where it is said."""
    user, slot = proving.about.get("user"), proving.slots.find("user", "user_id")
    if user is not None and slot is not None and _is_new(proving, "user_id", user.id):
        proving.found.append(_candidate(user, slot, user.id, quote, statement, others))


def _prove(proving: _Proving, call: Statement, result: Statement) -> None:
    changes = changes_something(result)
    given, returned = names_of(call.value), names_of(result.value)
    user = proving.about.get("user")
    if user is not None and result.text.strip().strip('"') == user.id:
        _recognise(proving, user.id, result, (call,))  # who looks somebody up is told who it is
    repeated = {each.name for each in returned} & {each.name for each in given}
    for each in given:
        is_said = each.value.casefold() in proving.said
        if each.name not in repeated:
            continue
        if changes or is_said:
            _identify(proving, each.name, each.value, (call, result))
        elif _is_vouched_for(proving, each, result):
            proving.read.append((each, (call, result)))
    if changes:
        _conclude(proving, call, result)


def _is_vouched_for(proving: _Proving, named: Named, result: Statement) -> bool:
    """Whether a call that only reads shows whose an identifier is, though nobody said it.

    The agent may have guessed it, but for what was verified, and for the one company or project
    that the session is about.
    """
    value = result.value
    if isinstance(value, Mapping) and any(value.get(sign) is True for sign in _VERIFIED):
        return True
    return any(named.name.startswith(kind) for kind in proving.about if kind != "user")


def _believe_readings(proving: _Proving) -> None:
    """Keep what was looked up under one identifier alone: of two nobody knows whose each is."""
    values: dict[str, set[str]] = {}
    for named, _ in proving.read:
        values.setdefault(named.name, set()).add(named.value.casefold())
    taken = {attribute for attribute, _ in proving.known}
    for named, shown in proving.read:
        is_taken = any(spelling in taken for spelling in _spellings(named.name))
        if len(values[named.name]) == 1 and not is_taken:
            _identify(proving, named.name, named.value, shown)


def _identify(proving: _Proving, name: str, value: str, shown: tuple[Statement, Statement]) -> None:
    """Keep an identifier that a call was made with, and that its result confirms."""
    if name in _OF_RECORDS:
        return
    named = [kind for kind in proving.about if name.startswith(kind)]
    for kind in (*named, "user", "account", "project"):
        entity = proving.about.get(kind)
        slot = _identifier_slot(proving.slots, kind, name)
        if entity is None or slot is None:
            continue
        call, result = shown
        if _is_new(proving, slot.attribute, value):
            quote = verbatim(name, value, result.text) or value
            proving.found.append(_candidate(entity, slot, value, quote, result, (call,)))
        return


def _conclude(proving: _Proving, call: Statement, result: Statement) -> None:
    """Keep what was done, and to what: it is an attribute of whom the thing belongs to."""
    about = list(proving.about.values())
    if not about or result.tool is None:
        return
    for thing in things_of(call, result, proving.about, lambda name: _is_identifier(proving, name)):
        entity = proving.about.get(entity_kind_of(thing.kind, proving.about), about[0])
        attribute = LAST_ACTION
        if thing.value not in {"", entity.id}:
            attribute = f"{thing.kind}/{thing.value.replace('/', '%2F')}/{LAST_ACTION}"
        slot = proving.slots.find(entity.kind, attribute)
        if slot is not None and len(attribute) <= _MAX_ATTRIBUTE and attribute.isprintable():
            slot = Slot(slot.entity, attribute, slot.kind, slot.cardinality, slot.type)
            made = _candidate(entity, slot, result.tool, thing.quote, result, (call,))
            proving.found.append(made)


def _is_identifier(proving: _Proving, name: str) -> bool:
    kinds = ("user", "account", "project")
    return any(_identifier_slot(proving.slots, kind, name) is not None for kind in kinds)


def _identifier_slot(slots: Slots, kind: str, name: str) -> Slot | None:
    """Return the slot of an identifier that an argument is named for."""
    for attribute in _spellings(name):
        slot = slots.by_name.get((kind, attribute))
        if slot is not None and slot.kind == "identifier" and slot.type == "code":
            return slot
    return None


def _spellings(name: str) -> Iterator[str]:
    yield name
    for ending, other in _OTHER_NAMES.items():
        if name.endswith(ending):
            yield name.removesuffix(ending) + other


def _is_new(proving: _Proving, attribute: str, value: str) -> bool:
    key = attribute, value.casefold()
    if key in proving.known:
        return False
    proving.known.add(key)
    return True


def _candidate(
    entity: Entity,
    slot: Slot,
    value: str,
    quote: str,
    statement: Statement,
    others: tuple[Statement, ...] = (),
) -> Candidate:
    return Candidate(
        entity=entity,
        kind=slot.kind,
        attribute=slot.attribute,
        value=value,
        cardinality=slot.cardinality,
        quote=quote,
        statement=statement,
        confidence=1.0,
        valid_from=statement.at,
        others=others,
    )
