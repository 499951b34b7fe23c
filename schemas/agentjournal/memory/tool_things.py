"""Which thing a tool call was about, by the form of its arguments and of its result."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from agentjournal.events import Entity
from agentjournal.memory.candidates import Statement


class Named(NamedTuple):
    """An argument or a field that names a thing: `reservation_id`, and what it is the id of."""

    name: str
    kind: str  # empty: of the tool's own kind of thing
    value: str


class Thing(NamedTuple):
    """What a call was about, and where that stands in the call or its result."""

    kind: str
    value: str
    quote: str


_ID_NAME = re.compile(
    r"(?:(?P<kind>[a-z].*?)_?)?(?:^|_|(?<=[a-z]))"
    r"(?:id|uid|uuid|number|no|num|nr|key|ref|reference|code|sku)"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NOT_A_WORD = re.compile(r"[^A-Za-z0-9]+")
_READS = frozenset(
    {
        "get", "list", "search", "find", "read", "fetch", "lookup", "look", "show", "view", "query",
        "describe", "calculate", "compute", "think", "count", "validate", "verify", "retrieve",
        "browse", "estimate", "preview", "ls", "cat", "grep", "compare", "summarize", "summarise",
        "load", "inspect", "explain", "recall", "help", "suggest", "recommend", "analyze",
        "analyse", "parse", "translate", "convert", "scan", "sleep", "wait", "ping", "is", "has",
    }
)  # fmt: skip
_READS_FROM = frozenset({"check"})  # but not those of _ARRIVES
_ARRIVES = frozenset({"in", "out"})  # check in, check out
_MAKES = frozenset(
    {
        "create", "book", "open", "place", "add", "make", "register", "schedule", "submit", "issue",
        "start", "file", "order", "reserve", "request", "new", "insert", "generate", "buy", "rent",
        "purchase", "post", "raise", "subscribe", "enroll", "enrol", "launch", "hire", "report",
    }
)  # fmt: skip
_MEANS = re.compile(
    r"(?:.*_)?(?:payment|payment_method|card|template|currency|zip|postal|country|area|promo|coupon"
    r"|idempotency|trace|correlation|session|message|page|status|error|phone|tax|api|secret|access"
    r"|language|version)"
)  # what a thing is paid, described or followed with
_ERROR_TEXT = re.compile(
    r"\W*(?:error|exception|traceback|failed|failure|fatal|invalid|unable to|cannot|can't|could not"
    r"|not found|no such|access denied|permission denied|denied|unauthori[sz]ed|forbidden"
    r"|timed? ?out|bad request|(?:http )?[45]\d\d\b)",
    re.IGNORECASE,
)
_FAILED = frozenset(
    {"error", "failed", "failure", "declined", "rejected", "denied", "invalid", "not_found",
     "timeout", "timed_out", "unauthorized", "forbidden", "not_done", "unavailable"}
)  # fmt: skip
_NO_ID = re.compile(r"\d{4}-\d\d(?:-\d\d)?(?:[T ].*)?|\d{1,2}:\d\d.*|[+-]?\d+\.\d+")
_CODE = re.compile(r"(?=.*\d)[^\s\x00-\x1f]{2,80}")
_NOT_BARE = re.compile(r"[\s/@\\]")  # sentences, commands, paths, addresses
_TERM = 4  # words: more are prose
_SHORTEST_NUMBER = 4  # digits of a number that names a thing without saying so
_MAX_ID = 120  # characters


def is_error(result: Statement) -> bool:
    """Return whether a result says that nothing was done, whatever its call is recorded as."""
    if result.outcome != "completed":
        return True
    value = result.value
    if not isinstance(value, dict):
        return _ERROR_TEXT.match(result.text) is not None
    if any(value.get(name) for name in ("error", "errors", "exception", "isError", "is_error")):
        return True
    if any(value.get(name) is False for name in ("success", "ok", "succeeded", "confirmed")):
        return True
    status = str(value.get("status", "")).casefold().replace(" ", "_").replace("-", "_")
    return status in _FAILED


def changes_something(call: Statement) -> bool:
    """Return whether a call does more than read, by its effect and by its name.

    Importers know no effects, and a default is often left as it is: a name that begins like that of
    a reading tool is believed before them.
    """
    if call.effect == "read" or call.tool is None:
        return False
    words = _words(call.tool)
    if words and words[0] in _READS_FROM:
        return len(words) > 1 and words[1] in _ARRIVES
    return bool(words) and words[0] not in _READS


def names_of(value: Any) -> list[Named]:
    """Return the fields of an object that name things, in its order."""
    if not isinstance(value, Mapping):
        return []
    found: list[Named] = []
    for key, each in value.items():
        text = _id_text(each)
        name = "_".join(_words(str(key)))
        match = _ID_NAME.fullmatch(name)
        if text is None or match is None:
            continue
        found.append(Named(name, (match["kind"] or "").strip("_"), text))
    return found


def things_of(
    call: Statement,
    result: Statement,
    about: Mapping[str, Entity],
    is_identifier: Callable[[str], bool],
) -> list[Thing]:
    """Return what a call changed: one thing, or the one that it made of another; none where
    neither it nor its result named one.

    Names for which `is_identifier` holds say whose call it is: they are things only where
    nothing else is.
    """
    tool = _words(result.tool or "")
    given, returned = names_of(call.value), names_of(result.value)
    own = {entity.id for entity in about.values()}
    known = {each.value for each in given} | own
    shown = {each.value for each in returned}
    rest = [each for each in given if each.value not in own and not is_identifier(each.name)]
    rest = [each for each in rest if _is_thing(each, tool)]
    made = [each for each in returned if each.value not in known and _is_thing(each, tool)]
    confirmed = [each for each in rest if each.value in shown]
    choice = (
        (made if tool and tool[0] in _MAKES and not _of_tool(confirmed, tool) else [])
        or confirmed
        or made
        or _of_tool(rest, tool)
        or [each for each in rest if each.value in result.text]
        or rest
        or [each for each in given if each.value in own or each.value in shown]
        or [each for each in returned if each.value not in known and each.kind == "message"]
        or _bare(call.value, tool, is_identifier)
    )
    if not choice:
        nothing = _nothing_named(call, result)
        return [] if nothing is None else [nothing]
    best = (_of_tool(choice, tool) or choice)[0]
    # An order that was placed on a quote: the call was the last of both.
    both = [
        best,
        *(each[0] for each in (made, confirmed) if made and confirmed and each[0] != best),
    ]
    things = [_thing(each, tool, call, result) for each in both]
    return [each for each in things if each.quote]


def _thing(named: Named, tool: list[str], call: Statement, result: Statement) -> Thing:
    kind = named.kind or "_".join(tool[1:]) or "thing"
    in_result, in_call = (verbatim(named.name, named.value, each.text) for each in (result, call))
    return Thing(kind, named.value, in_result or in_call)


def _nothing_named(call: Statement, result: Statement) -> Thing | None:
    """Return the entity itself as the thing, where call and result say more than prose."""
    if not isinstance(result.value, Mapping) or not result.value:
        return None
    given = call.value if isinstance(call.value, Mapping) else {}
    if any(not isinstance(each, str) or len(each.split()) <= _TERM for each in given.values()):
        return Thing("", "", result.text)
    return None


def entity_kind_of(thing: str, about: Mapping[str, Entity]) -> str:
    """Return the kind of entity that a kind of thing belongs to: of those that there are."""
    return thing if thing in about else next(iter(_order(about)), "user")


def verbatim(name: str, value: str, text: str) -> str:
    """Return how a value stands in a text, with the name of its field where that is before it."""
    words = r"[_-]?".join(map(re.escape, name.split("_")))
    said = re.escape(value)
    found = re.search(rf'["\']?{words}["\']?\s*[:=]\s*["\']?{said}\b["\']?', text, re.IGNORECASE)
    if found is not None:
        return found[0]
    return value if value in text else ""


def _order(about: Mapping[str, Entity]) -> list[str]:
    return [kind for kind in ("user", "account", "project") if kind in about]


def _of_tool(named: list[Named], tool: list[str]) -> list[Named]:
    """Return the things that the name of the tool speaks of."""
    return [each for each in named if each.kind and set(_words(each.kind)) & set(tool)]


def _is_thing(named: Named, tool: list[str]) -> bool:
    return bool(_of_tool([named], tool)) or _MEANS.fullmatch(named.kind) is None


def _bare(value: Any, tool: list[str], is_identifier: Callable[[str], bool]) -> list[Named]:
    """Return the arguments that are ids without being named like one: `refund(order=4711)`."""
    if not isinstance(value, Mapping):
        return []
    found: list[Named] = []
    for key, each in value.items():
        text, words = _id_text(each), _words(str(key))
        name = "_".join(words)
        if text is None or not words or _ID_NAME.fullmatch(name) or is_identifier(name):
            continue
        if _NO_ID.fullmatch(text) or _NOT_BARE.search(text) or _MEANS.fullmatch(name):
            continue
        if text.isdigit() and len(text) < _SHORTEST_NUMBER:
            continue  # how many, or how much
        if set(words) & set(tool) or _CODE.fullmatch(text):
            found.append(Named(name, name, text))
    return found


def _id_text(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = str(value).strip()
    return text if text and len(text) <= _MAX_ID and "\n" not in text else None


def _words(name: str) -> list[str]:
    return [word for word in _NOT_A_WORD.split(_CAMEL.sub("_", name).casefold()) if word]
