"""Fixtures that every ring of tests shares."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Generator

import hypothesis
import pytest

from agentjournal.settings import Settings
from local.stack import Stack, running
from tests.servers import fresh_settings, roles_in_a_process

# How long an example takes depends on what else the machine does.
# Every run tries other examples; EXAMPLES=2000 looks longer at once.
hypothesis.settings.register_profile(
    "any machine", deadline=None, max_examples=int(os.environ.get("EXAMPLES", "50"))
)
hypothesis.settings.load_profile("any machine")


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stack]:
    """The three servers, started once; what dies stays dead until a test starts it."""
    with running(tmp_path_factory.mktemp("stack"), restart=False) as servers:
        yield servers


@pytest.fixture(scope="session")
def journal(stack: Stack) -> Generator[Settings]:
    """A log that a sequencer and a projector work on; tests keep apart by their tenants."""
    settings = asyncio.run(fresh_settings(stack.settings))
    with roles_in_a_process(settings, "sequencer", "projector"):
        yield settings


@pytest.fixture
async def fresh(stack: Stack) -> Settings:
    """Settings with topics and tables of this test's own; nobody works on them yet."""
    return await fresh_settings(stack.settings)
