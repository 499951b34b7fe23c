"""Objects of this package for callers without asyncio: what is awaited there returns here.

A proxy stands for one object, and works on it on the background loop, so from any thread. What its
methods return is a proxy again where it is asynchronous; what they are given may be one.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import re
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Mapping
from dataclasses import replace
from operator import is_not as _is_not
from types import FunctionType, TracebackType
from typing import Any, Self, TypeGuard

from agentjournal.background_loop import BackgroundLoop, background_loop
from agentjournal.errors import AgentJournalError
from agentjournal.tools import Tool

_PACKAGE = __name__.partition(".")[0]
_MODULE = f"{_PACKAGE}.sync"
_END = object()


class Proxy:
    """Stands for an asynchronous object; `class_for` makes the class for each class of them."""

    __slots__ = ("__weakref__", "_inner", "_loop")

    def __init__(self, inner: Any, loop: BackgroundLoop) -> None:
        self._inner, self._loop = inner, loop

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return as_sync(getattr(self._inner, name), self._loop)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Proxy) and self._inner is other._inner

    def __hash__(self) -> int:
        return hash((Proxy, id(self._inner)))

    def __repr__(self) -> str:
        return f"<sync {self._inner!r}>"

    @staticmethod
    def stands_for(value: Any) -> Any:
        """Return what a proxy stands for; anything else is itself."""
        return value._inner if isinstance(value, Proxy) else value  # noqa: SLF001 - its own

    @staticmethod
    @functools.cache
    def class_for(kind: Any) -> type[Proxy]:
        """Return the class of proxies for a class: with its public methods and properties."""
        bases = [Proxy.class_for(base) for base in kind.__bases__ if is_asynchronous(base)]
        for special, base in (("__aenter__", _Entering), ("__anext__", _Following)):
            if hasattr(kind, special) and not any(issubclass(each, base) for each in bases):
                bases.append(base)
        members: dict[str, Any] = {"__slots__": (), "__doc__": kind.__doc__, "__module__": _MODULE}
        for name in dir(kind):
            member = inspect.getattr_static(kind, name)
            if name.startswith("_"):
                continue
            if isinstance(member, FunctionType):
                members[name] = Proxy._method(name, member)
            elif isinstance(member, property):
                members[name] = Proxy._property(name, member)
        made: type[Any] = type(kind.__name__, tuple(bases) or (Proxy,), members)
        return made

    @staticmethod
    def _method(name: str, function: FunctionType) -> Callable[..., Any]:
        parameters = list(inspect.signature(function).parameters)[1:]
        awaited = _awaited_functions(function)

        @functools.wraps(function)
        def method(self: Proxy, *args: Any, **kwargs: Any) -> Any:
            given = [as_async(each, self._loop) for each in args]
            named = {key: as_async(each, self._loop) for key, each in kwargs.items()}
            for key in awaited:
                at = parameters.index(key)
                if at < len(given):
                    given[at] = _in_a_thread(given[at])
                elif key in named:
                    named[key] = _in_a_thread(named[key])
            return _called(lambda: getattr(self._inner, name)(*given, **named), self._loop)

        return method

    @staticmethod
    def _property(name: str, member: property) -> property:
        def get(self: Proxy) -> Any:
            return _called(lambda: getattr(self._inner, name), self._loop)

        return property(get, doc=member.__doc__)


class _Entering(Proxy):
    """A proxy for what is used with `with`."""

    __slots__ = ()

    def __enter__(self) -> Any:
        entered = _called(self._inner.__aenter__, self._loop)
        return self if entered == self else entered

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        return bool(_called(lambda: self._inner.__aexit__(kind, error, trace), self._loop))


class _Following(Proxy):
    """A proxy for what is iterated over."""

    __slots__ = ()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        if (item := _called(lambda: _next_of(self._inner), self._loop)) is _END:
            raise StopIteration
        return item


def is_asynchronous(kind: Any) -> bool:
    """Return whether objects of a class need a proxy: ours, with something to await."""
    return _is_asynchronous(kind)


@functools.cache
def _is_asynchronous(kind: Any) -> bool:  # apart: what is cached takes no `type[X]` for mypy
    if kind.__module__.partition(".")[0] != _PACKAGE or issubclass(kind, Tool | Proxy):
        return False
    if hasattr(kind, "__aenter__") or hasattr(kind, "__anext__"):
        return True
    public = (name for name in dir(kind) if not name.startswith("_"))
    return any(_is_awaited(inspect.getattr_static(kind, name)) for name in public)


def _is_awaited(member: Any) -> bool:
    return inspect.iscoroutinefunction(member) or inspect.isasyncgenfunction(member)


def _called(call: Callable[[], Any], loop: BackgroundLoop) -> Any:
    """Return what a call on the loop comes to, as callers without asyncio take it."""

    async def work() -> Any:
        result = call()
        # What can be awaited and used with `async with` gives the same in both ways.
        return await result if inspect.isawaitable(result) else result

    try:
        return as_sync(loop.run(work), loop)
    except AgentJournalError as error:
        _make_sync(error)
        raise


def as_sync(value: Any, loop: BackgroundLoop) -> Any:
    """Return a result as callers without asyncio take it."""
    kind: Any = type(value)
    if is_asynchronous(kind):
        return Proxy.class_for(kind)(value, loop)
    if isinstance(value, AsyncIterator):
        return _items(value, loop)
    if kind in (list, tuple) and any(map(is_asynchronous, map(type, value))):
        return kind(as_sync(each, loop) for each in value)
    return value


def _items(items: AsyncIterator[Any], loop: BackgroundLoop) -> Generator[Any]:
    async def close() -> None:
        if (closing := getattr(items, "aclose", None)) is not None:
            await closing()

    try:
        while (item := _called(lambda: _next_of(items), loop)) is not _END:
            yield item
    finally:
        loop.leave(close)


async def _next_of(items: AsyncIterator[Any]) -> Any:
    try:
        return await anext(items)
    except StopAsyncIteration:
        return _END


def as_async(value: Any, loop: BackgroundLoop) -> Any:
    """Return an argument as the asynchronous object takes it.

    A function that it calls back is given proxies in place of asynchronous objects. What holds
    neither a proxy nor a function is returned as it is.
    """
    if type(value) in (list, tuple, set, frozenset):
        items = [_one_as_async(each, loop) for each in value]
        return type(value)(items) if any(map(_is_not, items, value)) else value
    if isinstance(value, Mapping):
        held = {name: _one_as_async(each, loop) for name, each in value.items()}
        return held if any(map(_is_not, held.values(), value.values())) else value
    return _one_as_async(value, loop)


def _one_as_async(value: Any, loop: BackgroundLoop) -> Any:
    if isinstance(value, Tool):
        return replace(
            value,
            function=_one_as_async(value.function, loop),
            verify=_one_as_async(value.verify, loop),
        )
    if _is_called_back(value):
        return _CalledBack(value, loop)
    return Proxy.stands_for(value)


def _is_called_back(value: Any) -> TypeGuard[Callable[..., Any]]:
    if not callable(value) or isinstance(value, type | Proxy | _CalledBack):
        return False
    called = value if inspect.isroutine(value) else type(value).__call__
    return not inspect.iscoroutinefunction(value) and not inspect.iscoroutinefunction(called)


def _awaited_functions(function: FunctionType) -> list[str]:
    """Return the parameters that take a function whose result is awaited."""
    annotations = function.__annotations__.items()
    return [name for name, written in annotations if _AWAITED_FUNCTION.search(str(written))]


_AWAITED_FUNCTION = re.compile(r"\bCallable\[.*\b(?:Awaitable|Coroutine)\[")


def _in_a_thread(value: Any) -> Any:
    """Return a function that is awaited while `value`, which is not to be, runs in a thread."""
    if not isinstance(value, _CalledBack):
        return value

    async def called(*args: Any, **kwargs: Any) -> Any:
        return await asyncio.to_thread(value, *args, **kwargs)

    return called


class _CalledBack:
    """A function of the caller's: with the same signature, and equal to itself."""

    def __init__(self, function: Callable[..., Any], loop: BackgroundLoop) -> None:
        functools.update_wrapper(self, function)
        self._function, self._loop = function, loop

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = [as_sync(each, self._loop) for each in args]
        named = {name: as_sync(each, self._loop) for name, each in kwargs.items()}
        return as_async(self._function(*given, **named), self._loop)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _CalledBack) and self._function == other._function

    def __hash__(self) -> int:
        return hash(self._function)


def _make_sync(error: AgentJournalError) -> None:
    """Make an error's own methods return what they would be awaited for."""
    kind: Any = type(error)
    if is_asynchronous(kind):
        error.__class__ = error_class(kind)


@functools.cache
def error_class(kind: Any) -> type[AgentJournalError]:
    """Return the class of an error whose methods need no asyncio: a subclass of its own."""
    members: dict[str, Any] = {"__doc__": kind.__doc__, "__module__": _MODULE}
    for name in dir(kind):
        member = inspect.getattr_static(kind, name)
        if not name.startswith("_") and inspect.iscoroutinefunction(member):
            members[name] = _method_of_an_error(member)
    made: type[Any] = type(kind.__name__, (kind,), members)
    return made


def _method_of_an_error(function: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Any]:
    @functools.wraps(function)
    def method(self: AgentJournalError, *args: Any, **kwargs: Any) -> Any:
        return _called(lambda: function(self, *args, **kwargs), background_loop())

    return method
