"""The public attributes of a class and their types, as its `__init__` is written."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from commands.sync_names import found_in

_NOT_KNOWN = "{}.{}: its type is not to be told: annotate the attribute"


class Typed(NamedTuple):
    """A type as it is written in a module."""

    text: str
    module: str


def attributes(kind: type[Any]) -> Iterator[tuple[str, str, str]]:
    """Yield (name, type, module in which the type is written), bases first.

    Raises ValueError when a type is neither written nor follows from what is.
    """
    found: dict[str, Typed] = {}
    for each in reversed(kind.__mro__):
        if each.__module__.partition(".")[0] == "agentjournal":
            found |= {name: typed for name, typed in _own(each) if not name.startswith("_")}
    for name, typed in found.items():
        if not isinstance(inspect.getattr_static(kind, name, None), property):
            yield name, typed.text, typed.module


def _own(kind: type[Any]) -> Iterator[tuple[str, Typed]]:
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    for node in tree.body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                yield name, Typed(ast.unparse(annotation), kind.__module__)
            case ast.FunctionDef(name="__init__"):
                yield from _set_in(node, kind)
            case _:
                pass


def _set_in(function: ast.FunctionDef, kind: type[Any]) -> Iterator[tuple[str, Typed]]:
    """Yield what `__init__` sets on `self`."""
    module = kind.__module__
    arguments = function.args
    known = {
        each.arg: Typed(ast.unparse(each.annotation), module)
        for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        if each.annotation is not None
    }
    for node in ast.walk(function):
        if isinstance(node, ast.AnnAssign):
            for name in _on_self(node.target):
                yield name, Typed(ast.unparse(node.annotation), module)
        elif isinstance(node, ast.Assign):
            yield from _assigned(node, kind, known)


def _assigned(
    node: ast.Assign, kind: type[Any], known: dict[str, Typed]
) -> Iterator[tuple[str, Typed]]:
    """Yield what an assignment sets on `self`; what it sets by another name is `known` then."""
    for target, value in _pairs(node.targets[0], node.value):
        names = [name for name in _on_self(target) if not name.startswith("_")]
        if not names and not isinstance(target, ast.Name):
            continue
        typed = _type_of(value, known, kind.__module__)
        if typed is not None:
            known |= {name.id: typed for name in [target] if isinstance(name, ast.Name)}
            yield from ((name, typed) for name in names)
        elif names:
            raise ValueError(_NOT_KNOWN.format(kind.__qualname__, *names))


class _Nth(NamedTuple):
    """An item of what an expression returns."""

    value: ast.expr
    nth: int


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr | _Nth]]:
    if not isinstance(target, ast.Tuple):
        yield target, value
    elif isinstance(value, ast.Tuple):
        yield from zip(target.elts, value.elts, strict=True)
    else:
        yield from ((each, _Nth(value, index)) for index, each in enumerate(target.elts))


def _on_self(target: ast.expr) -> Iterator[str]:
    match target:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            yield name
        case _:
            return


def _type_of(value: ast.expr | _Nth, known: Mapping[str, Typed], module: str) -> Typed | None:
    match value:
        case _Nth(value=ast.Call(func=ast.Name(id=function)), nth=nth):
            returned = _returned(module, function)
            items = None if returned is None else ast.parse(returned.text, mode="eval").body
            match items:
                case ast.Subscript(slice=ast.Tuple(elts=elements)) if returned is not None:
                    return Typed(ast.unparse(elements[nth]), returned.module)
                case _:
                    return None
        case ast.Name(id=name):
            return known.get(name)
        case ast.Call(func=ast.Name(id=function)):
            return _returned(module, function)
        case ast.Attribute(value=inner, attr=name):
            holder = _type_of(inner, known, module)
            return None if holder is None else _attribute(holder, name)
        case _:
            return None


def _returned(module: str, function: str) -> Typed | None:
    found = found_in(module, function)
    if inspect.isclass(found):
        return Typed(function, module)
    annotation = getattr(found, "__annotations__", {}).get("return")
    return None if annotation is None else Typed(str(annotation), found.__module__)


def _attribute(holder: Typed, name: str) -> Typed | None:
    kind = found_in(holder.module, holder.text)
    for each in getattr(kind, "__mro__", ()):
        if name in vars(each).get("__annotations__", {}):
            return Typed(vars(each)["__annotations__"][name], each.__module__)
    return None
