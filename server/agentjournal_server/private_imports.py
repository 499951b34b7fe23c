"""The application's packages inside somebody else's process, under names that are only ours.

`streams`, `local` and the others may be packages of the program that asks for them. So they are
loaded a second time as `agentjournal_server._app.streams`, …, and what they import of one another
is found there; neither `sys.path` nor the program's own modules are touched.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

from agentjournal_server import application_root

_PREFIX = f"{__package__}._app"
_PACKAGES = frozenset({"in_memory", "projections", "streams"})


def import_privately(name: str) -> Any:
    """Return a module of the application, like `in_memory.cores`, under a name of ours."""
    if _PREFIX not in sys.modules:
        package = ModuleType(_PREFIX)
        package.__path__ = [str(application_root())]
        sys.modules[_PREFIX] = package
        sys.meta_path.insert(0, _Finder())
    return import_module(f"{_PREFIX}.{name}")


class _Finder(MetaPathFinder):
    """Finds the application's modules under their private names."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of one of ours, None for any other."""
        if not fullname.startswith(f"{_PREFIX}."):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


class _Loader(SourceFileLoader):
    """Loads a module whose imports of the application are those of the private names."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the module's code."""
        module.__dict__["__builtins__"] = {**vars(builtins), "__import__": _import}
        super().exec_module(module)


def _import(
    name: str,
    of: Mapping[str, Any] | None = None,
    where: Mapping[str, Any] | None = None,
    names: Sequence[str] | None = (),
    level: int = 0,
) -> ModuleType:
    top = name.partition(".")[0]
    if level or top not in _PACKAGES:
        return builtins.__import__(name, of, where, names or (), level)
    found = builtins.__import__(f"{_PREFIX}.{name}", of, where, names or (), 0)
    return found if names else sys.modules[f"{_PREFIX}.{top}"]
