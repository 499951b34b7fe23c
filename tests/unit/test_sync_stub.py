"""What type checkers know of the package without asyncio is what there is."""

from __future__ import annotations

import ast
import inspect

import pytest

from agentjournal import sync
from agentjournal.sync_proxies import Proxy
from commands.sync_stub import STUB, sync_stub

_TREE = ast.parse(STUB.read_text(encoding="utf-8"))
_CLASSES = [node for node in _TREE.body if isinstance(node, ast.ClassDef)]


def test_the_stub_is_made_from_the_classes_as_they_are() -> None:
    assert STUB.read_text(encoding="utf-8") == sync_stub(), (
        "sync.pyi is older than the classes: run python -m commands.sync_stub"
    )


@pytest.mark.parametrize(
    "stub", [each for each in _CLASSES if not each.name.startswith("_")], ids=lambda each: each.name
)
def test_a_class_of_the_stub_is_there_with_its_methods_and_none_of_them_is_awaited(
    stub: ast.ClassDef,
) -> None:
    kind: type[object] = getattr(sync, stub.name)
    assert kind.__module__ == "agentjournal.sync"
    methods = [node.name for node in stub.body if isinstance(node, ast.FunctionDef)]
    assert methods
    for name in methods:
        member = inspect.getattr_static(kind, name)
        assert not inspect.iscoroutinefunction(member), name
        assert not inspect.isasyncgenfunction(member), name
    if issubclass(kind, Proxy):
        public = {name for name in vars(kind) if not name.startswith("_")}
        assert public == {name for name in methods if not name.startswith("_")}


@pytest.mark.parametrize("name", ["Receipt", "connected", "Tool", "_Calling", "StreamParked"])
def test_what_needs_no_asyncio_is_not_there_twice(name: str) -> None:
    with pytest.raises(AttributeError):
        getattr(sync, name)
