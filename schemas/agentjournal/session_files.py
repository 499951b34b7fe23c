"""What a session's agent touches: artifacts, files, and the environment it runs in."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from typing import Any, Literal

from pydantic import ValidationError

from agentjournal.artifacts import Artifacts, digest_of
from agentjournal.codec import encode
from agentjournal.errors import NotConfigured
from agentjournal.events import ArtifactSaved, EnvironmentChanged, Event, FileChanged
from agentjournal.events.decode import rejection
from agentjournal.receipts import Receipt
from agentjournal.session_live import SessionLive

_JSON = "application/json"


class SessionFiles(SessionLive):
    """A session's artifacts and files: the log has digests, the artifact store has the content."""

    async def save_artifact(
        self,
        name: str,
        value: Any,
        media_type: str | None = None,
        *,
        call_id: str | None = None,
    ) -> str:
        """Keep `value` in the artifact store and record it; return its digest.

        Bytes are kept as they are, text as UTF-8, anything else as JSON by `agentjournal.codec`.
        Raises NotConfigured without an artifact store, Unavailable, and what `append` raises.
        """
        content, usual = _content(value)
        digest = await self._store().save(content)
        saved = {
            "artifact": digest,
            "name": name,
            "media_type": media_type or usual,
            "size": len(content),
            "digest": digest,
            "call_id": call_id,
        }
        await self.append(_made(ArtifactSaved, saved))
        return digest

    async def artifact(self, digest: str) -> bytes:
        """Return the content of an artifact, whichever session saved it.

        Raises ArtifactNotFound, ArtifactCorrupt, NotConfigured without an artifact store,
        Unavailable.
        """
        return await self._store().read(digest)

    async def file_changed(
        self,
        path: str,
        *,
        before: bytes | None,
        after: bytes | None,
        reason: Literal["create", "edit", "delete", "revert"] | None = None,
        call_id: str | None = None,
    ) -> Receipt:
        """Record that a file changed, and keep what is in it now; None stands for no file.

        Text has its unified diff in the event. Raises ValueError when there is no file before and
        after, NotConfigured without an artifact store, Unavailable, and what `append` raises.
        """
        if before is None and after is None:
            raise ValueError(f"{path}: there is no file, neither before nor after")
        kept = None if after is None else await self._store().save(after)
        usual = "create" if before is None else "delete" if after is None else "edit"
        changed = {
            "path": path,
            "reason": reason or usual,
            "before_digest": None if before is None else digest_of(before),
            "after_digest": kept,
            "artifact": kept,
            "diff": _diff(path, before, after),
            "call_id": call_id,
        }
        return await self.append(_made(FileChanged, changed))

    async def environment_changed(
        self,
        *,
        variables: Mapping[str, str] | None = None,
        allow: Collection[str] = (),
        **fields: Any,
    ) -> Receipt:
        """Record what the agent runs in: variables by the digests of their values.

        Only values of variables in `allow` are recorded. `fields` are the other fields of
        `environment.changed`: cwd, unset, packages, branch, commit. Raises what `append` raises.
        """
        if variables is not None:
            fields["variables"] = {
                name: value
                if name in allow
                else digest_of(value.encode("utf-8", "surrogateescape"))
                for name, value in variables.items()
            }
        return await self.append(_made(EnvironmentChanged, fields))

    def _store(self) -> Artifacts:
        store = self._servers.artifacts
        if store is None:
            raise NotConfigured(
                "there is no artifact store: set AGENTJOURNAL_ARTIFACTS to a folder or to "
                "s3://bucket/prefix, or pass artifacts="
            )
        return store


def _content(value: Any) -> tuple[bytes, str]:
    match value:
        case bytes():
            return value, "application/octet-stream"
        case str():
            return value.encode("utf-8", "surrogatepass"), "text/plain"
        case _:
            return encode(value), _JSON


def _diff(path: str, before: bytes | None, after: bytes | None) -> str | None:
    try:
        old, new = [(each or b"").decode().splitlines(keepends=True) for each in (before, after)]
    except UnicodeDecodeError:
        return None
    names = ("/dev/null" if before is None else path, "/dev/null" if after is None else path)
    return "".join(difflib.unified_diff(old, new, *names)) or None


def _made(model: type[Event], fields: Mapping[str, Any]) -> Event:
    try:
        return model(**{name: value for name, value in fields.items() if value is not None})
    except ValidationError as error:
        raise rejection(error) from None
