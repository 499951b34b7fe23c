"""Subscribers, each life of one in a process of its own: reads lines of JSON, writes two a life.

A line is {"how": "service" or "subscribe", "group", "tenant", "seen": file}. The process that reads
them forks, so that nobody waits for imports; it answers {"pid"}, then {"status"} when a life ended.
A subscriber writes `stream version` into its file for each event that it handles.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from typing import Any

from agentjournal import Log, Recorded
from agentjournal.settings import find_settings


async def _live(asked: Mapping[str, Any]) -> None:
    seen = os.open(asked["seen"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(recorded: Recorded) -> None:
        os.write(seen, f"{recorded.stream} {recorded.version}\n".encode())

    async def handle(recorded: Recorded) -> None:
        await asyncio.sleep(0)  # sessions go on beside each other
        note(recorded)

    more: dict[str, Any] = {"tenants": [asked["tenant"]], "member": "the only one"}
    async with Log(find_settings()) as log:
        if asked["how"] == "service":
            await log.service(asked["group"], **more).run(handle)
        async for recorded in log.subscribe(group=asked["group"], **more):
            note(recorded)


def _say(**said: int) -> None:
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


def _main() -> None:
    for line in sys.stdin:
        child = os.fork()
        if not child:
            try:
                asyncio.run(_live(json.loads(line)))
            except BaseException as error:  # noqa: BLE001 - this process ends here
                sys.excepthook(type(error), error, error.__traceback__)
            os._exit(1)
        _say(pid=child)
        _say(status=os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


if __name__ == "__main__":
    _main()
