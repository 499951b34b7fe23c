"""Recall on the servers: what is found of whom, and what is never found."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from agentjournal import Log
from agentjournal.events import (
    MessageAdded,
    TextPart,
)
from agentjournal.ids import stream_id
from agentjournal.memory.recall_api import recall
from agentjournal.memory.recalls import Recalled
from agentjournal.settings import Settings
from consumers.projector import ProjectorOptions
from consumers.roles import run_indexer
from tests.servers import connected, roles

pytestmark = pytest.mark.stack


async def indexer(settings: Settings, stop: asyncio.Event) -> None:
    """Run an indexer that looks often."""
    options = ProjectorOptions(poll_s=0.02, heartbeat_s=0.2, outage_pause_s=0.05)
    await run_indexer(settings, stop, options=options)


def said(text: str, role: str = "user") -> MessageAdded:
    return MessageAdded.model_validate({"role": role, "parts": [TextPart(text=text)]})


async def found(
    log: Log, user: str, query: str, until: Callable[[list[str]], bool]
) -> list[Recalled]:
    """Return what is recalled once it is as it should be."""
    entity = stream_id("user", log.settings.tenant, user)
    for _ in range(400):
        shown = await recall(log._servers.recalls, entity, query)
        if until([each.text for each in shown]):
            return shown
        await asyncio.sleep(0.05)
    raise AssertionError([each.text for each in shown])


async def test_what_a_user_said_is_found_by_its_words(journal: Settings) -> None:
    async with connected(journal) as log, roles(log.settings, indexer):
        await log.session("s", user="u").append(
            [said("I moved to Lisbon. My cat is called Miso."), said("Noted.", "assistant")]
        )
        shown = await found(log, "u", "what is the cat's name?", bool)
        assert shown[0].text == "My cat is called Miso."
        assert shown[0].kind == "message"
