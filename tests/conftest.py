"""Fixtures that every ring of tests shares."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Generator

import hypothesis
import pytest

from agentjournal.settings import Settings
from local import postgres_server
from local.stack import Stack, running
from tests import warm
from tests.servers import fresh_settings, roles_in_a_process

# How long an example takes depends on what else the machine does.
# Every run tries other examples; EXAMPLES=2000 looks longer at once.
hypothesis.settings.register_profile(
    "any machine", deadline=None, max_examples=int(os.environ.get("EXAMPLES", "50"))
)
hypothesis.settings.load_profile("any machine")


_TEMPORARY = pytest.StashKey[str]()

# Kafka lives too shortly here for compiling well to pay: it would take half of what a start takes.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")
# No test cuts the power: what a killed server wrote is still with the operating system.
postgres_server.SETTINGS["fsync"] = "off"


def pytest_configure(config: pytest.Config) -> None:
    """Let every run have a folder of its own for temporary ones.

    A run that starts closes the folder they would share to other users, and as root Postgres runs
    as another user: it could not start just then.
    """
    if "PYTEST_DEBUG_TEMPROOT" not in os.environ:
        root = tempfile.mkdtemp(prefix="agentjournal-tests-")
        os.environ["PYTEST_DEBUG_TEMPROOT"] = config.stash[_TEMPORARY] = root


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Remove it; what failed stays to be looked at."""
    root = session.config.stash.get(_TEMPORARY, None)
    if root is not None and exitstatus == pytest.ExitCode.OK:
        shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stack]:
    """The three servers, started once; what dies stays dead until a test starts it."""
    warm.load()
    with running(tmp_path_factory.mktemp("stack"), restart=False) as servers:
        yield servers


@pytest.fixture(scope="session")
def journal(stack: Stack) -> Generator[Settings]:
    """A log that a role of each kind works on; tests keep apart by their tenants."""
    settings = asyncio.run(fresh_settings(stack.settings))
    with roles_in_a_process(settings, "sequencer", "projector", "cache"):
        yield settings


@pytest.fixture
async def fresh(stack: Stack) -> Settings:
    """Settings with topics and tables of this test's own; nobody works on them yet."""
    return await fresh_settings(stack.settings)
