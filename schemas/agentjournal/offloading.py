"""Values over 64 KiB leave an event for the artifact store, and come back when it is read.

In their place stands a text that says so, with their head and tail; `$offloaded` beside the event's
fields has, for each, the path in `data`, the artifact, and its size in bytes:

    {"call_id": "c-1", "output": "first lines … [5,242,880 bytes in sha256:…] … last lines",
     "$offloaded": [{"path": ["output"], "artifact": "sha256:…", "size": 5242880}]}

What is stored is the JSON that stood in the event, escape forms and all, so it comes back exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias, TypeVar

import orjson

from agentjournal.artifacts import Artifacts, digest_of
from agentjournal.envelope import Recorded
from agentjournal.errors import AppendRejected, EventUnreadable
from agentjournal.stored import Page, StoredEvent

MAX_INLINE_BYTES = 64 * 1024
OFFLOADED = "$offloaded"
_MARK = f'"{OFFLOADED}"'.encode()
_SHOWN = 2_000  # characters of the head, and of the tail

Path: TypeAlias = list[str | int]
E = TypeVar("E", Recorded, StoredEvent)


def offload(data: bytes, *, typed: frozenset[str] = frozenset()) -> tuple[bytes, dict[str, bytes]]:
    """Return `data` without its large values, and these by their digests.

    A text is taken out wherever it stands, another value only as a field that may hold anything,
    one that is not `typed`.
    """
    if len(data) <= MAX_INLINE_BYTES:
        return data, {}
    parsed, contents, places = orjson.loads(data), dict[str, bytes](), list[dict[str, Any]]()
    if _is_form(parsed):  # a field beside it would make another value of it
        return data, {}
    for path, holder, key in list(_large(parsed, typed)):
        content = orjson.dumps(holder[key])
        digest = digest_of(content)
        contents[digest] = content
        places.append({"path": path, "artifact": digest, "size": len(content)})
        holder[key] = _preview(holder[key], content, digest)
    if not contents:
        return data, {}
    return orjson.dumps({**parsed, OFFLOADED: places}), contents


def is_part(data: bytes) -> bool:
    """Return whether large values have left `data`."""
    return _MARK in data and OFFLOADED in orjson.loads(data)


def left_values(data: bytes) -> list[str]:
    """Return the digests of the values that have left `data`, in order.

    Raises ValueError when another writer used the name.
    """
    if not is_part(data):
        return []
    try:
        places = orjson.loads(data)[OFFLOADED]
        digests = [place["artifact"] for place in places]
    except (LookupError, TypeError) as error:
        raise ValueError("does not say where values are that left the event") from error
    if not all(isinstance(each, str) for each in digests):
        raise ValueError("does not say where values are that left the event")
    return digests


def refuse_our_name(data: bytes) -> None:
    """Raise AppendRejected when a field of an event has the name that is ours."""
    if is_part(data):
        raise AppendRejected(OFFLOADED, "is a reserved name")


async def restored(data: bytes, artifacts: Artifacts) -> bytes:
    """Return `data` as it was before its large values left it.

    Raises ArtifactNotFound, ArtifactCorrupt, Unavailable.
    """
    parsed = orjson.loads(data)
    for place in parsed.pop(OFFLOADED, ()):
        holder, path = parsed, place["path"]
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = orjson.loads(await artifacts.read(place["artifact"]))
    return orjson.dumps(parsed)


class NoStore:
    """Stands for a store that this process was not given: it has nothing."""

    async def put(self, name: str, content: bytes) -> None:
        raise NotImplementedError

    async def get(self, name: str) -> bytes | None:  # noqa: ARG002 - of the interface
        return None


async def whole(event: E, artifacts: Artifacts | None) -> E:
    """Return an event with the large values that had left it.

    Raises what `restored` raises, EventUnreadable when another writer used the name.
    """
    if not is_part(event.raw_data):
        return event
    if artifacts is None:
        artifacts = Artifacts(NoStore())
    try:
        return event._replace(raw_data=await restored(event.raw_data, artifacts))
    except (LookupError, TypeError, ValueError) as error:
        reason = "does not say where values are that left the event"
        place = (event.stream, event.version, event.type, event.schema_version)
        raise EventUnreadable(*place, OFFLOADED, reason) from error


async def whole_page(page: Page, artifacts: Artifacts | None) -> Page:
    """Return a page whose events are whole. Raises what `whole` raises."""
    if _MARK not in b"".join([event.raw_data for event in page.events]):
        return page  # as nearly all are
    return page.of([await whole(event, artifacts) for event in page.events])


def _large(value: Any, typed: frozenset[str]) -> Iterator[tuple[Path, Any, str | int]]:
    """Yield where a large value is: its path, what holds it, and its key in there."""
    for key, item in value.items():
        if key not in typed and not _is_text(item):
            if _size(item) > MAX_INLINE_BYTES:
                yield [key], value, key
        else:
            yield from _texts(item, [key], value, key)


def _texts(item: Any, path: Path, holder: Any, key: str | int) -> Iterator[tuple[Path, Any, Any]]:
    if _is_text(item):
        if _size(item) > MAX_INLINE_BYTES:
            yield path, holder, key
    elif type(item) is dict and not _is_form(item):
        for name, inner in item.items():
            yield from _texts(inner, [*path, name], item, name)
    elif type(item) is list:
        for index, inner in enumerate(item):
            yield from _texts(inner, [*path, index], item, index)


def _is_text(item: Any) -> bool:
    return type(item) is str or (type(item) is dict and item.keys() == {"$text"})


def _is_form(item: dict[str, Any]) -> bool:
    return len(item) == 1 and next(iter(item)).startswith("$")


def _size(item: Any) -> int:
    if type(item) is str and len(item) * 6 <= MAX_INLINE_BYTES:
        return 0  # not large, however it is written
    return len(orjson.dumps(item))


def _preview(item: Any, content: bytes, digest: str) -> str:
    if type(item) is dict and item.keys() == {"$text"} and type(item["$text"]) is list:
        text = "".join(each if type(each) is str else "\ufffd" for each in item["$text"])
    else:
        text = item if type(item) is str else content.decode()
    mark = f"[{len(content):,} bytes in {digest}]"
    return f"{text[:_SHOWN]}\n{mark}\n{text[-_SHOWN:]}"
