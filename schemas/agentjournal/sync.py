"""The same names without asyncio: what is awaited there returns here, `async with` is `with`.

All work is done by one event loop in a thread of its own, whichever threads call. After a fork the
child has a loop of its own; connect there, since what was connected before raises
ConnectedBeforeFork.
"""

from __future__ import annotations

from typing import Any

import agentjournal
from agentjournal.background_loop import background_loop
from agentjournal.errors import AgentJournalError
from agentjournal.outgoing import Redact
from agentjournal.sync_proxies import Proxy, as_sync, error_class, is_asynchronous


def connect(  # noqa: PLR0913 - those of `agentjournal.connect`
    *,
    kafka: str | None = None,
    postgres: str | None = None,
    redis: str | None = None,
    tenant: str | None = None,
    redact: Redact | None = None,
    artifacts: str | None = None,
    traces: bool | None = None,
) -> Any:
    """Return a log to use with `with`, or to close; see `agentjournal.connect`."""
    connecting = agentjournal.connect(
        kafka=kafka,
        postgres=postgres,
        redis=redis,
        tenant=tenant,
        redact=redact,
        artifacts=artifacts,
        traces=traces,
    )
    loop = background_loop()

    async def connected() -> agentjournal.Log:
        return await connecting

    return log_of(loop.run(connected))


def log_of(log: agentjournal.Log) -> Any:
    """Return `log` without asyncio. No event loop may have used it yet: it is for `memory_log()`.

    Closed is it at the latest when the process ends.
    """
    loop = background_loop()
    loop.close_at_exit(log)
    return as_sync(log, loop)


def __getattr__(name: str) -> Any:
    """Return the class without asyncio of one that the package has, like `agentjournal.Session`."""
    found = getattr(agentjournal, name, None) if name in agentjournal.__all__ else None
    if not isinstance(found, type) or not is_asynchronous(found):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return error_class(found) if issubclass(found, AgentJournalError) else Proxy.class_for(found)
