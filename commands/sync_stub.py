"""Write schemas/agentjournal/sync.pyi: what type checkers know of the package without asyncio.

It is made from the classes that a log leads to: their public methods, properties and attributes,
with what is awaited returned, and what is followed iterated over.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FunctionType
from typing import Any

import agentjournal
from agentjournal.errors import AgentJournalError
from agentjournal.log import Log, connect
from agentjournal.sync_proxies import is_asynchronous
from commands.sync_attributes import attributes
from commands.sync_names import Names

STUB = Path(__file__).resolve().parents[1] / "schemas" / "agentjournal" / "sync.pyi"

_OVERRIDE = "reportIncompatibleMethodOverride"
_HEAD = "# Made from the asynchronous classes by `python -m commands.sync_stub`."


def sync_stub() -> str:
    """Return the text of sync.pyi."""
    names = Names()
    connecting = _function(connect, "connect", names, (), returns=names.of(Log))
    body = [f"{connecting}\ndef log_of(log: agentjournal.Log) -> {names.of(Log)}: ..."]
    body += ["\n".join(_error(kind, names)) for kind in _errors()]
    written: set[type[Any]] = set()
    while left := [kind for kind in names.classes if kind not in written]:
        for kind in left:
            written.add(kind)
            body.append("\n".join(_class(kind, names)))
    return "\n\n".join([_HEAD, names.imports(), *body]) + "\n"


def _errors() -> Iterator[type[Any]]:
    for name in agentjournal.__all__:
        kind: Any = getattr(agentjournal, name)
        if inspect.isclass(kind) and issubclass(kind, AgentJournalError) and is_asynchronous(kind):
            yield kind


def _error(kind: type[Any], names: Names) -> Iterator[str]:
    yield f"class {kind.__name__}(agentjournal.{kind.__name__}):"
    for name, member in _members(kind):
        if inspect.iscoroutinefunction(member):
            shown = _function(member, name, names, ("self",), indent="    ")
            # The package's own is awaited, and this one is caught where that one is.
            yield f"{shown}  # type: ignore[override]  # pyright: ignore[{_OVERRIDE}]"


def _class(kind: type[Any], names: Names) -> Iterator[str]:
    yield f"class {names.of(kind)}:"
    for name, text, module in attributes(kind):
        yield f"    {name}: {names.rendered(text, module)}"
    for name, member in _members(kind):
        if isinstance(member, property):
            yield "    @property"
            yield _function(member.fget, name, names, ("self",), indent="    ")
        else:
            yield _function(member, name, names, ("self",), indent="    ")
    if hasattr(kind, "__anext__"):
        following: Any = inspect.getattr_static(kind, "__anext__")
        yield f"    def __iter__(self) -> {names.imported('typing', 'Self')}: ..."
        yield _function(following, "__next__", names, ("self",), indent="    ")
    if hasattr(kind, "__aenter__"):
        enter: Any = inspect.getattr_static(kind, "__aenter__")
        yield _function(enter, "__enter__", names, ("self",), indent="    ")
        yield "    def __exit__("
        for line in ("self", *_OF_AN_EXIT):
            yield f"        {line},"
        yield "    ) -> None: ..."


_OF_AN_EXIT = (
    "kind: type[BaseException] | None",
    "error: BaseException | None",
    "trace: object",
    "/",
)


def _members(kind: type[Any]) -> Iterator[tuple[str, Any]]:
    """Yield public methods and properties, in the order of their definition, bases first."""
    names = [name for each in reversed(kind.__mro__) for name in vars(each)]
    for name in dict.fromkeys(names):
        member = inspect.getattr_static(kind, name)
        if not name.startswith("_") and isinstance(member, FunctionType | property):
            yield name, member


def _function(
    function: Any,
    name: str,
    names: Names,
    first: tuple[str, ...],
    *,
    indent: str = "",
    returns: str = "",
) -> str:
    """Return the signature as callers without asyncio have it."""
    module = function.__module__
    signature = inspect.signature(function)
    given = list(signature.parameters.values())[len(first) :]
    lines = [*first, *_parameters(given, names, module)]
    result = returns or names.returned(signature.return_annotation, module)
    if len(lines) == len(first):
        return f"{indent}def {name}({', '.join(lines)}) -> {result}: ..."
    shown = "".join(f"{indent}    {line},\n" for line in lines)
    return f"{indent}def {name}(\n{shown}{indent}) -> {result}: ..."


def _parameters(given: list[inspect.Parameter], names: Names, module: str) -> Iterator[str]:
    before: inspect.Parameter | None = None
    for each in given:
        if before is not None and before.kind is each.POSITIONAL_ONLY is not each.kind:
            yield "/"
        has_star = before is not None and before.kind in (each.KEYWORD_ONLY, each.VAR_POSITIONAL)
        if each.kind is each.KEYWORD_ONLY and not has_star:
            yield "*"
        star = _STARS[each.kind]
        default = "" if each.default is each.empty else " = ..."
        annotation = names.rendered(each.annotation, module, is_given=True)
        yield f"{star}{each.name}: {annotation}{default}"
        before = each
    if before is not None and before.kind is before.POSITIONAL_ONLY:
        yield "/"


_STARS: Mapping[Any, str] = defaultdict(
    str, {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
)


def main() -> None:
    """Write the stub."""
    STUB.write_text(sync_stub(), encoding="utf-8")


if __name__ == "__main__":
    main()
