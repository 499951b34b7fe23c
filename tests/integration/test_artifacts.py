"""Artifacts: both stores keep the same promises, and large values go through them unseen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

import agentjournal as aj
from agentjournal.artifacts import (
    Artifacts,
    ArtifactStore,
    digest_of,
    open_artifacts,
    stored_name,
)
from agentjournal.errors import ArtifactCorrupt, ArtifactNotFound, Unavailable
from agentjournal.folder_artifacts import FolderStore
from agentjournal.log import Log
from agentjournal.obstore_artifacts import S3Store
from agentjournal.settings import Settings
from tests.outputs import HOSTILE, called, outputs
from tests.s3_server import BUCKET, s3_server
from tests.servers import connected, query

pytestmark = pytest.mark.stack

LARGE = 5 * 1024 * 1024


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Mapping[str, str]]:
    folder = tmp_path_factory.mktemp("s3")
    with s3_server(folder) as environment:
        yield environment


@pytest.fixture(params=["folder", "s3"])
def store(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> ArtifactStore:
    if request.param == "folder":
        return FolderStore(tmp_path)
    environment = request.getfixturevalue("served")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return S3Store(f"s3://{BUCKET}/{tmp_path.name}")


@pytest.fixture
def artifacts(store: ArtifactStore) -> Artifacts:
    return Artifacts(store)


@pytest.mark.parametrize("content", [b"", b"a", b"\0\xff" * 300_000], ids=["none", "one", "many"])
async def test_what_was_saved_is_read_by_its_digest(artifacts: Artifacts, content: bytes) -> None:
    digest = await artifacts.save(content)
    assert digest == digest_of(content)
    assert await artifacts.save(content) == digest
    assert await artifacts.read(digest) == content


async def test_many_at_once_are_kept_apart(artifacts: Artifacts) -> None:
    contents = [b"%d" % n * 1_000 for n in range(20)] * 2
    digests = await asyncio.gather(*map(artifacts.save, contents))
    assert await asyncio.gather(*map(artifacts.read, digests)) == contents


@pytest.mark.parametrize("digest", [digest_of(b"never saved"), "sha256:../../x", "", "a\0"])
async def test_what_is_not_there_is_missed(artifacts: Artifacts, digest: str) -> None:
    with pytest.raises(ArtifactNotFound) as missed:
        await artifacts.read(digest)
    assert missed.value.digest == digest


@pytest.mark.parametrize("damage", ["cut short", "emptied", "changed"])
async def test_what_was_damaged_is_refused(
    store: ArtifactStore, artifacts: Artifacts, damage: str
) -> None:
    digest = await artifacts.save(b"an artifact that is damaged")
    kept = await store.get(stored_name(digest))
    assert kept is not None
    damaged = {"cut short": kept[:-1], "emptied": b"", "changed": kept[:20] + b"?" + kept[21:]}
    await store.put(stored_name(digest), damaged[damage])
    with pytest.raises(ArtifactCorrupt):
        await artifacts.read(digest)


async def test_another_artifact_under_the_name_is_refused(
    store: ArtifactStore, artifacts: Artifacts
) -> None:
    one, two = await artifacts.save(b"one"), await artifacts.save(b"two")
    other = await store.get(stored_name(two))
    assert other is not None
    await store.put(stored_name(one), other)
    with pytest.raises(ArtifactCorrupt):
        await artifacts.read(one)


async def test_what_is_stored_is_compressed(store: ArtifactStore, artifacts: Artifacts) -> None:
    kept = await store.get(stored_name(await artifacts.save(b"again and " * 100_000)))
    assert kept is not None
    assert len(kept) < 10_000


async def test_a_server_that_is_away_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "k")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    with pytest.raises(Unavailable, match="artifact store"):
        await open_artifacts(f"s3://{BUCKET}").save(b"a")


async def test_a_folder_that_cannot_be_written_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(Unavailable, match="artifact store"):
        await open_artifacts(str(tmp_path / "file")).save(b"a")


@pytest.fixture
async def log(journal: Settings, tmp_path: Path) -> AsyncGenerator[Log]:
    async with connected(replace(journal, artifacts=str(tmp_path))) as opened:
        yield opened


async def test_five_megabytes_of_hostile_output_come_back_exactly(log: Log) -> None:
    output = HOSTILE * (LARGE // len(HOSTILE))
    session = log.session("s-1")
    await log.caught_up(await session.append(called("c-1", output)))
    assert outputs(await session.load()) == {"c-1": output}
    read = [each async for each in session.events()]
    assert [e.event.output for e in read if isinstance(e.event, aj.ToolCompleted)] == [output]
    async for recorded in log.subscribe(group=log.settings.tenant, tenants=[log.settings.tenant]):
        if isinstance(recorded.event, aj.ToolCompleted):
            assert recorded.event.output == output
            break
    assert await query(log.settings, "SELECT * FROM agentjournal.parked") == []
    [row] = await query(
        log.settings,
        "SELECT length(output) AS size, output FROM agentjournal.tool_calls "
        f"WHERE tenant = '{log.settings.tenant}'",
    )
    assert row["size"] < 10_000
    assert "bytes in sha256:" in row["output"]


async def test_an_artifact_is_recorded_and_read_by_any_session(log: Log) -> None:
    session = log.session("s-1")
    saved = {
        "bytes": await session.save_artifact("bytes", b"\0\xff", "image/png", call_id="c-1"),
        "text": await session.save_artifact("text", HOSTILE),
        "json": await session.save_artifact("json", {"n": 2**70}),
    }
    other = log.session("s-2")
    assert await other.artifact(saved["bytes"]) == b"\0\xff"
    assert (await other.artifact(saved["text"])).decode("utf-8", "surrogatepass") == HOSTILE
    assert await other.artifact(saved["json"]) == b'{"n":{"$int":"1180591620717411303424"}}'
    await session.load()
    rows = await query(
        log.settings,
        "SELECT name, media_type, size, digest, call_id FROM agentjournal.artifacts "
        f"WHERE tenant = '{log.settings.tenant}' ORDER BY version",
    )
    assert [tuple(row.values()) for row in rows] == [
        ("bytes", "image/png", 2, saved["bytes"], "c-1"),
        ("text", "text/plain", len(HOSTILE.encode("utf-8", "surrogatepass")), saved["text"], None),
        ("json", "application/json", 39, saved["json"], None),
    ]
