"""LangGraph: messages of a thread through a compiled graph with AsyncPostgresSaver.

Runs in an environment of its own: `python langgraph_side.py POSTGRES < messages.json`.
"""
# mypy: ignore-errors
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.graph import END, START, MessagesState, StateGraph

LOADS = 20


async def measure(postgres: str, messages: list[list[str]]) -> dict[str, Any]:
    """Return the milliseconds of each append and of each load, and how many messages came back."""
    builder = StateGraph(MessagesState)
    builder.add_node("chat", lambda _: {})
    builder.add_edge(START, "chat")
    builder.add_edge("chat", END)
    async with AsyncPostgresSaver.from_conn_string(postgres) as saver:
        await saver.setup()
        graph = builder.compile(checkpointer=saver)
        thread = {"configurable": {"thread_id": "bench"}}
        appends, loads, found = [], [], 0
        for role, text in messages:
            began = time.perf_counter()
            update = {"messages": [{"role": role, "content": text}]}
            await graph.aupdate_state(thread, update, as_node="chat")
            appends.append((time.perf_counter() - began) * 1_000)
        for _ in range(LOADS):
            began = time.perf_counter()
            found = len((await graph.aget_state(thread)).values["messages"])
            loads.append((time.perf_counter() - began) * 1_000)
    return {"append_ms": appends, "load_ms": loads, "loaded": found}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(sys.argv[1], json.load(sys.stdin)))))
