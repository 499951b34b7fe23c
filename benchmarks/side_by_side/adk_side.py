"""Google ADK: events of a session through DatabaseSessionService.

Runs in an environment of its own: `python adk_side.py POSTGRES < messages.json`.
"""
# mypy: ignore-errors
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

from google.adk.events import Event
from google.adk.sessions import DatabaseSessionService
from google.genai import types

LOADS = 20
OWN = {"app_name": "bench", "user_id": "user"}


async def measure(postgres: str, messages: list[list[str]]) -> dict[str, Any]:
    """Return the milliseconds of each append and of each load, and how many messages came back."""
    service = DatabaseSessionService(postgres.replace("postgresql://", "postgresql+asyncpg://"))
    session = await service.create_session(**OWN, session_id="bench")
    appends, loads, found = [], [], 0
    for role, text in messages:
        began = time.perf_counter()
        spoken = types.Content(
            role="user" if role == "user" else "model", parts=[types.Part(text=text)]
        )
        author = "user" if role == "user" else "agent"
        await service.append_event(session, Event(author=author, content=spoken))
        appends.append((time.perf_counter() - began) * 1_000)
    for _ in range(LOADS):
        began = time.perf_counter()
        found = len((await service.get_session(**OWN, session_id="bench")).events)
        loads.append((time.perf_counter() - began) * 1_000)
    await service.close()
    return {"append_ms": appends, "load_ms": loads, "loaded": found}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(sys.argv[1], json.load(sys.stdin)))))
