"""Types as a stub names them: imported from where they are, or its own classes."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections import defaultdict
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import agentjournal
from agentjournal.sync_proxies import is_asynchronous

_FOLLOWED = ("AsyncGenerator", "AsyncIterable", "AsyncIterator")
_AWAITED = ("Awaitable", "Coroutine")


class Origin(NamedTuple):
    """Where a name comes from."""

    module: str
    name: str


class Names:
    """The names of one stub. `classes` are those that it must have, in the order of their use."""

    def __init__(self) -> None:
        self.classes: list[type[Any]] = []
        self._imports: dict[Origin, str] = {}  # what each is called here

    def of(self, kind: type[Any]) -> str:
        """Return the stub's name of an asynchronous class: private if the package's is."""
        if kind not in self.classes:
            self.classes.append(kind)
        return kind.__name__ if kind.__name__ in agentjournal.__all__ else f"_{kind.__name__}"

    def imported(self, module: str, name: str) -> str:
        """Return the name here of something to import."""
        origin = Origin(module, name)
        if origin not in self._imports:
            wanted = name
            while wanted in self._imports.values():
                wanted += "_"
            self._imports[origin] = wanted
        return self._imports[origin]

    def imports(self) -> str:
        """Return the import statements."""
        modules = defaultdict[str, list[str]](list)
        for origin, name in self._imports.items():
            alias = origin.name if name == origin.name else f"{origin.name} as {name}"
            modules[origin.module].append(alias)
        lines: dict[bool, list[str]] = {False: [], True: ["", "import agentjournal"]}
        for module in sorted(modules):
            is_ours = module.partition(".")[0] == "agentjournal"
            lines[is_ours].append(_import(module, sorted(modules[module], key=_by_isort)))
        return "\n".join([*lines[False], *lines[True]])

    def rendered(self, annotation: Any, module: str, *, is_given: bool = False) -> str:
        """Return an annotation of a module as the stub has it.

        `is_given` is what a caller passes: a protocol that callers implement stays the package's,
        to be awaited, since what they implement has no proxy.
        """
        if annotation is inspect.Parameter.empty:
            raise ValueError(f"an annotation is missing in {module}")
        text = annotation if isinstance(annotation, str) else annotation.__name__
        node = ast.parse(text, mode="eval").body
        shown = ast.unparse(_Renaming(self, module, is_given=is_given).visit(node))
        return shown if '"' in shown else shown.replace("'", '"')

    def returned(self, annotation: Any, module: str) -> str:
        """Return what an annotation comes to where it is what a function returns."""
        node = ast.parse(str(annotation), mode="eval").body
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            arguments = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if node.value.id in _FOLLOWED:
                item = self.rendered(ast.unparse(arguments[0]), module)
                return f"{self.imported('collections.abc', 'Generator')}[{item}]"
            if node.value.id in _AWAITED:
                return self.rendered(ast.unparse(arguments[-1]), module)
        found = found_in(module, node.id) if isinstance(node, ast.Name) else None
        if inspect.isclass(found) and hasattr(found, "__await__") and hasattr(found, "__aenter__"):
            entered: Any = inspect.getattr_static(found, "__aenter__")
            return self.returned(entered.__annotations__["return"], found.__module__)
        return self.rendered(annotation, module)


class _Renaming(ast.NodeTransformer):
    def __init__(self, names: Names, module: str, *, is_given: bool = False) -> None:
        self._names, self._module, self._is_given = names, module, is_given

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if hasattr(builtins, node.id):
            return node
        origin = origins(self._module).get(node.id)
        if origin is None:
            raise ValueError(f"{node.id} in {self._module}: no import or definition is found")
        found = found_in(self._module, node.id)
        if _is_asynchronous(found) and not (self._is_given and _is_protocol(found)):
            return ast.Name(self._names.of(found))
        if (meant := _alias(origin)) is not None and _leads_to_asynchronous(meant, origin.module):
            inner: ast.expr = _Renaming(self._names, origin.module).visit(meant)
            return inner
        return ast.Name(self._names.imported(*origin))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id in _AWAITED:
            last = node.slice.elts[-1] if isinstance(node.slice, ast.Tuple) else node.slice
            awaited: ast.expr = self.visit(last)
            return awaited
        return ast.Subscript(self.visit(node.value), self.visit(node.slice))

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return node


@cache
def origins(module: str) -> dict[str, Origin]:
    """Return where the names of a module come from, those for type checkers too."""
    found: dict[str, Origin] = {}
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for each in node.names:
                found[each.asname or each.name] = Origin(node.module, each.name)
    for node in tree_of(module).body:
        for name in _defined(node):
            found[name] = Origin(module, name)
    return found


def found_in(module: str, name: str) -> Any:
    """Return what a name of a module stands for, None when it is not there at run time."""
    origin = origins(module).get(name, Origin(module, name))
    return getattr(import_module(origin.module), origin.name, None)


@cache
def tree_of(module: str) -> ast.Module:
    """Return a module as it is written."""
    return ast.parse(inspect.getsource(import_module(module)))


def _defined(node: ast.stmt) -> list[str]:
    match node:
        case ast.ClassDef(name=name):
            return [name]
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
            return [name]
        case _:
            return []


def _alias(origin: Origin) -> ast.expr | None:
    """Return what an alias of ours is written as, None for everything else."""
    if origin.module.partition(".")[0] != "agentjournal":
        return None
    for node in tree_of(origin.module).body:
        if isinstance(node, ast.AnnAssign | ast.Assign) and origin.name in _defined(node):
            is_alias = isinstance(node, ast.Assign) or "TypeAlias" in ast.unparse(node.annotation)
            return node.value if is_alias else None
    return None


def _leads_to_asynchronous(alias: ast.expr, module: str) -> bool:
    for node in ast.walk(alias):
        if isinstance(node, ast.Name) and node.id in origins(module):
            found = found_in(module, node.id)
            if _is_asynchronous(found):
                return True
            meant = _alias(origins(module)[node.id])
            if meant is not None and _leads_to_asynchronous(meant, origins(module)[node.id].module):
                return True
    return False


def _is_asynchronous(found: Any) -> bool:
    return inspect.isclass(found) and is_asynchronous(found)


def _is_protocol(found: Any) -> bool:
    return bool(getattr(found, "_is_protocol", False))


def _by_isort(name: str) -> tuple[bool, str]:
    return (not name[0].isupper(), name)


def _import(module: str, names: list[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= 100:
        return line
    return f"from {module} import (\n" + "".join(f"    {name},\n" for name in names) + ")"
