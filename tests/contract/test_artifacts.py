"""Artifacts: large values leave events and come back exactly; content is read by its digest."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator

import pytest

import agentjournal as aj
from agentjournal import ArtifactNotFound, Log, NotConfigured
from agentjournal.artifacts import digest_of
from tests.clients import Clients
from tests.outputs import HOSTILE, called, outputs
from tests.support import message


@pytest.fixture
async def log(clients: Clients) -> AsyncGenerator[Log]:
    async with clients.connected(artifacts=True) as opened:
        yield opened


async def test_large_values_come_back_exactly_wherever_they_are_read(log: Log) -> None:
    output = HOSTILE * 10_000
    session = log.session("s-1")
    await session.append(called("c-1", output))
    for handle in (session, log.session("s-1")):
        assert outputs(await handle.load()) == {"c-1": output}
    read = [each async for each in session.events()]
    assert [e.event.output for e in read if isinstance(e.event, aj.ToolCompleted)] == [output]
    await session.append(message("x" * 100_000), append_id="a")
    again = await session.append(message("x" * 100_000), append_id="a")
    assert again.duplicate
    window = await session.window()
    assert window.messages[-1]["content"] == "x" * 100_000


async def test_what_was_saved_is_read_by_its_digest_from_any_session(log: Log) -> None:
    saved = await log.session("s-1").save_artifact("a", b"\0\xff", "image/png", call_id="c-1")
    assert saved == digest_of(b"\0\xff")
    assert await log.session("s-2").artifact(saved) == b"\0\xff"
    text = await log.session("s-1").save_artifact("text", HOSTILE)
    assert (await log.session("s-2").artifact(text)).decode("utf-8", "surrogatepass") == HOSTILE
    with pytest.raises(ArtifactNotFound):
        await log.session("s-1").artifact(digest_of(b"never saved"))


async def test_a_file_that_changed_is_recorded_and_kept(log: Log) -> None:
    session = log.session("s-1")
    await session.file_changed("a.txt", before=None, after=b"one\n")
    await session.file_changed("a.txt", before=b"one\n", after=b"two\n")
    [made, edited] = [e.event async for e in session.events() if e.type == "file.changed"]
    assert isinstance(made, aj.FileChanged)
    assert isinstance(edited, aj.FileChanged)
    assert (made.reason, edited.reason) == ("create", "edit")
    assert await session.artifact(edited.after_digest or "") == b"two\n"


async def test_without_a_store_nothing_is_taken_out_and_what_was_is_missed(
    log: Log, clients: Clients
) -> None:
    output = "x" * 100_000
    await log.session("s-1").append(called("c-1", output))
    async with clients.connected(tenant=log.settings.tenant) as other:
        with pytest.raises(ArtifactNotFound):
            await other.session("s-1").load()
        await other.session("s-2").append(called("c-1", output))
        assert outputs(await other.session("s-2").load()) == {"c-1": output}
        with pytest.raises(NotConfigured, match="AGENTJOURNAL_ARTIFACTS"):
            await other.session("s-2").save_artifact("a", b"a")


async def test_values_of_variables_are_not_in_the_log_unless_allowed(log: Log) -> None:
    session = log.session("s-1")
    variables = {"TOKEN": "a-secret-value", "LANG": "C.UTF-8"}
    await session.environment_changed(variables=variables, allow={"LANG"}, cwd="/srv")
    raw = b"".join([each.raw_data async for each in session.events()])
    assert b"a-secret-value" not in raw
    assert digest_of(b"a-secret-value").encode() in raw
    assert b"C.UTF-8" in raw


async def test_the_environment_of_this_process_can_be_recorded(log: Log) -> None:
    session = log.session("s-1")
    await session.environment_changed(variables=os.environ)
    [changed] = [e.event async for e in session.events() if e.type == "environment.changed"]
    assert isinstance(changed, aj.EnvironmentChanged)
    assert changed.variables is not None
    assert changed.variables.keys() == os.environ.keys()
