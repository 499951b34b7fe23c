"""Crash tests have servers of their own, to be killed too, and fresh topics each."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from uuid import uuid4

import psycopg
import pytest

from agentjournal.settings import Settings
from consumers.running import initialise
from local.stack import Stack, running
from tests import warm


@pytest.fixture(scope="session")
def crash_stack(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stack]:
    """Three servers that stay dead when they are killed, until a test starts them."""
    warm.load()
    with running(tmp_path_factory.mktemp("crash"), restart=False) as servers:
        yield servers


@pytest.fixture
async def crash_settings(crash_stack: Stack) -> Settings:
    """Settings with topics and tables of this test's own."""
    async with await psycopg.AsyncConnection.connect(
        crash_stack.settings.postgres, autocommit=True
    ) as connection:
        await connection.execute("DROP SCHEMA IF EXISTS agentjournal CASCADE")
        await connection.execute("DROP SCHEMA IF EXISTS agentjournal_internal CASCADE")
        await connection.execute("DROP TABLE IF EXISTS public.agentjournal_migrations")
    settings = replace(crash_stack.settings, topic_prefix=f"crash.{uuid4().hex[:8]}.")
    await initialise(settings)
    return settings
