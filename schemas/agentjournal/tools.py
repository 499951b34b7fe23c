"""Tools: functions whose calls are recorded, with what may be done when one was cut off."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from agentjournal.approvals import Ask
from agentjournal.codec import decode
from agentjournal.errors import AppendRejected
from agentjournal.events import Retry
from agentjournal.events.fields import ID_RULE, is_id
from agentjournal.events.tool import Effect
from agentjournal.outcomes import ToolError

if TYPE_CHECKING:
    from agentjournal.calls import Call

OnUnknown: TypeAlias = Literal["ask", "retry", "fail"]
NeedsApprovalFor: TypeAlias = Callable[[Mapping[str, Any]], str | Ask | None]
Function: TypeAlias = Callable[..., Any]


@dataclass(eq=False)  # one may look at it as at the function: that sets attributes
class Tool:
    """A tool: call it as the function that it is; a run calls it and records that.

    `on_unknown` is what happens to a call that was cut off and that `verify` cannot tell of.
    """

    function: Function
    name: str
    effect: Effect
    verify: Function | None
    retry: Retry | None
    on_unknown: OnUnknown
    timeout_s: float | None
    unknown_on: tuple[type[BaseException], ...]
    approval: bool | Ask | NeedsApprovalFor

    def __post_init__(self) -> None:
        functools.update_wrapper(self, self.function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def check(self, arguments: object, call: Call | None = None) -> dict[str, Any]:
        """Return the arguments as the function takes them. Raises ToolError when it does not."""
        given: Any = arguments
        if not isinstance(given, dict):
            raise ToolError("the arguments are not an object", type="invalid_arguments")
        named = {**given, "call": call} if takes_call(self.function) else dict(given)
        try:
            inspect.signature(self.function).bind(**named)
        except TypeError as error:
            raise ToolError(f"{self.name}: {error}", type="invalid_arguments") from None
        return named

    async def run(
        self,
        arguments: Mapping[str, Any],
        left: Callable[[asyncio.Future[Any]], None] | None = None,
    ) -> Any:
        """Return what the function returns for arguments that `check` returned.

        `left` is told of a thread that it is given up in, and that runs on.
        """
        async with asyncio.timeout(self.timeout_s):
            return await invoke(self.function, arguments, left)

    async def verified(self, arguments: object, call: Call) -> Any:
        """Return what the verifier finds: the result of the effect, or NOT_DONE."""
        assert self.verify is not None
        given: Any = arguments
        named = {**given, "call": call} if takes_call(self.verify) else dict(given)
        async with asyncio.timeout(self.timeout_s):
            return await invoke(self.verify, named)

    def asks(self, arguments: Mapping[str, Any]) -> Ask | None:
        """Return what somebody must be asked before a call, None when nobody must."""
        asked: bool | str | Ask | None
        asked = self.approval(arguments) if callable(self.approval) else self.approval
        if isinstance(asked, Ask):
            return asked
        if isinstance(asked, str):
            return Ask(asked)
        return Ask(f"May {self.name} run?") if asked else None


def parsed(arguments_text: str) -> Any:
    """Return the arguments that a model wrote. Raises ToolError when they are no JSON."""
    try:
        return decode(arguments_text.encode())
    except ValueError:
        raise ToolError("the arguments are no JSON", type="invalid_arguments") from None


def takes_call(function: Function) -> bool:
    """Whether a function wants the call that it is run for, as its argument `call`."""
    parameters = inspect.signature(function).parameters
    return "call" in parameters


async def invoke(
    function: Function,
    arguments: Mapping[str, Any],
    left: Callable[[asyncio.Future[Any]], None] | None = None,
) -> Any:
    """Return what a function returns; one that is not asynchronous runs in a thread.

    A thread cannot be stopped: `left` is told of one that runs on when this is cancelled.
    """
    if inspect.iscoroutinefunction(function):
        return await function(**arguments)
    thread = asyncio.ensure_future(asyncio.to_thread(function, **arguments))
    thread.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        returned = await asyncio.shield(thread)
    except asyncio.CancelledError:
        if left is not None and not thread.done():
            left(thread)
        raise
    return await returned if inspect.isawaitable(returned) else returned


def tool(  # noqa: PLR0913 - a keyword for each thing one may say of a tool
    *,
    effect: Effect = "external",
    verify: Function | None = None,
    retry: Retry | None = None,
    on_unknown: OnUnknown | None = None,
    timeout_s: float | None = None,
    unknown_on: tuple[type[BaseException], ...] = (),
    approval: bool | Ask | NeedsApprovalFor = False,
    name: str | None = None,
) -> Callable[[Function], Tool]:
    """Say of a function, synchronous or not, how its calls may be treated.

    `effect`: what only reads and what is idempotent may be run again, what is external may not.
    `verify` is called with the same arguments, and with `call` if it wants it, for a call whose
    outcome is unknown: it returns what the call would have returned, or `agentjournal.NOT_DONE`.
    `retry` says how often a recorded failure is tried again. `on_unknown`: `ask` raises
    NeedsVerification (usual for external), `retry` runs it again under the same key (usual for the
    others, refused for external), `fail` records a failure. After `timeout_s` the call is given up;
    without it a call may take as long as it wants. `unknown_on` are errors that leave the outcome
    unknown besides time-outs and lost connections. `approval`: somebody must allow each call, or
    those for which a function of the arguments returns a question, as text or an `Ask`, which says
    of whom and until when too.
    """
    policy = on_unknown or ("ask" if effect == "external" else "retry")
    if policy == "retry" and effect == "external":
        raise ValueError("an external effect may not be run again unseen: give `verify`, or `ask`")

    def named(function: Function) -> Tool:
        if inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function):
            raise TypeError(f"{function} yields: a tool does its work and returns what came of it")
        called = str(name or getattr(function, "__name__", ""))
        if not is_id(called):
            raise AppendRejected("tool", ID_RULE)
        return Tool(
            function, called, effect, verify, retry, policy, timeout_s, unknown_on, approval
        )

    return named


Tools: TypeAlias = Mapping[str, Function] | Iterable[Function]


def tools_by_name(tools: Tools) -> dict[str, Tool]:
    """Return tools by the names that a model calls them; a plain function has external effects."""
    plain = tool()
    if not isinstance(tools, Mapping):
        listed = [each if isinstance(each, Tool) else plain(each) for each in tools]
        return {each.name: each for each in listed}
    given: list[tuple[str, Function]] = [(str(name), each) for name, each in tools.items()]
    return {name: each if isinstance(each, Tool) else plain(each) for name, each in given}
