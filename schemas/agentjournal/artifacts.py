"""Artifacts: content that is too large for an event, kept under the digest of its bytes.

What is stored is compressed, and checked against its digest when it is read.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeAlias

import cramjam

from agentjournal.errors import ArtifactCorrupt, ArtifactNotFound, NotConfigured
from agentjournal.settings import Settings

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_Work: TypeAlias = Callable[[bytes], bytes]
_AT_ONCE = 256 * 1024  # bytes that are compressed without a thread of their own


class ArtifactStore(Protocol):
    """Where content is kept by name. What was put once is never changed."""

    async def put(self, name: str, content: bytes) -> None:
        """Keep `content`; it shows whole, or not at all. Raises Unavailable."""
        ...

    async def get(self, name: str) -> bytes | None:
        """Return what was kept, None when there is nothing. Raises Unavailable."""
        ...


class Artifacts:
    """Content by its digest, in one store."""

    def __init__(self, store: ArtifactStore) -> None:
        self._store = store

    async def save(self, content: bytes) -> str:
        """Keep `content`; return its digest, `sha256:` and 64 hexadecimal digits."""
        digest = digest_of(content)
        await self._store.put(stored_name(digest), await _worked(_compressed, content))
        return digest

    async def read(self, digest: str) -> bytes:
        """Return the content of a digest.

        Raises ArtifactNotFound, ArtifactCorrupt when what is kept is something else, Unavailable.
        """
        if not _DIGEST.fullmatch(digest):
            raise ArtifactNotFound(digest)
        kept = await self._store.get(stored_name(digest))
        if kept is None:
            raise ArtifactNotFound(digest)
        try:
            content = await _worked(_decompressed, kept)
        except (cramjam.DecompressionError, ValueError) as error:
            raise ArtifactCorrupt(digest) from error
        if digest_of(content) != digest:
            raise ArtifactCorrupt(digest)
        return content


def digest_of(content: bytes) -> str:
    """Return the digest of some bytes: `sha256:` and 64 hexadecimal digits."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def artifacts_of(settings: Settings) -> Artifacts | None:
    """Return the artifacts that the settings name, None when they name none.

    Raises NotConfigured when the client of S3 is not installed.
    """
    return None if settings.artifacts is None else open_artifacts(settings.artifacts)


def open_artifacts(location: str) -> Artifacts:
    """Return the artifacts at a folder, or at `s3://bucket/prefix`. Raises as `artifacts_of`."""
    if location.startswith("s3://"):
        try:
            from agentjournal.obstore_artifacts import S3Store  # noqa: PLC0415 - an extra
        except ImportError as error:
            wanted = "artifacts in S3 need `pip install 'agentjournal[s3]'`"
            raise NotConfigured(wanted) from error
        return Artifacts(S3Store(location))
    from agentjournal.folder_artifacts import FolderStore  # noqa: PLC0415 - as its sibling

    return Artifacts(FolderStore(Path(location).expanduser()))


def stored_name(digest: str) -> str:
    """Return the name under which a store has the artifact of a digest."""
    plain = digest.removeprefix("sha256:")
    return f"{plain[:2]}/{plain[2:4]}/{plain}.zst"


def _compressed(content: bytes) -> bytes:
    return bytes(cramjam.zstd.compress(content))


def _decompressed(kept: bytes) -> bytes:
    return bytes(cramjam.zstd.decompress(kept))


async def _worked(work: _Work, content: bytes) -> bytes:
    return work(content) if len(content) < _AT_ONCE else await asyncio.to_thread(work, content)
