"""What the agent touches: files, artifacts, processes, snapshots, limits."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from agentjournal.events.base import Event
from agentjournal.events.fields import Count, Id, Integer, Number, Text


class EnvironmentChanged(Event):
    """The surroundings changed; fields that are absent stay as they were."""

    type: ClassVar[str] = "environment.changed"

    cwd: Text | None = None
    variables: dict[str, Text] | None = Field(
        default=None, description="name → digest, or the value where that is allowed by name"
    )
    unset: list[Text] | None = Field(default=None, description="names of variables that are gone")
    packages: dict[str, Text] | None = Field(default=None, description="name → version")
    branch: Text | None = None
    commit: Text | None = None


class FileChanged(Event):
    """A file was created, edited, deleted or put back."""

    type: ClassVar[str] = "file.changed"

    path: Text
    reason: Literal["create", "edit", "delete", "revert"]
    before_digest: Id | None = Field(default=None, description="of the content before")
    after_digest: Id | None = Field(default=None, description="of the content afterwards")
    artifact: Id | None = Field(default=None, description="the file's content afterwards")
    diff: Text | None = None
    call_id: Id | None = Field(default=None, description="the tool call that did it")


class ArtifactSaved(Event):
    """Something large was put into the artifact store."""

    type: ClassVar[str] = "artifact.saved"

    artifact: Id = Field(description="its reference in the store")
    name: Text
    media_type: Id
    size: Count = Field(description="bytes")
    digest: Id
    call_id: Id | None = None


class ProcessStarted(Event):
    """A process that outlives a tool call was started."""

    type: ClassVar[str] = "process.started"

    process_id: Id
    command: Text
    cwd: Text
    ports: list[Count] | None = None
    environment_names: list[Text] | None = Field(default=None, description="names, never values")


class ProcessEnded(Event):
    """A process is gone."""

    type: ClassVar[str] = "process.ended"

    process_id: Id
    exit_status: Integer | None = None


class SnapshotTaken(Event):
    """The environment was copied, so that it can be put back."""

    type: ClassVar[str] = "snapshot.taken"
    one_of: ClassVar[tuple[str, ...]] = ("artifact", "reference")

    snapshot_id: Id
    kind: Literal["files", "process", "provider"]
    artifact: Id | None = None
    reference: Text | None = Field(default=None, description="of the provider that keeps it")
    size: Count = Field(description="bytes")


class SnapshotRestored(Event):
    """The environment is as it was when the snapshot was taken."""

    type: ClassVar[str] = "snapshot.restored"

    snapshot_id: Id


class LimitExceeded(Event):
    """A session went over one of its limits."""

    type: ClassVar[str] = "limit.exceeded"

    limit: Id = Field(description="its name")
    value: Number = Field(description="what the session has come to")
    maximum: Number
    policy: Literal["refuse", "warn"] = Field(description="whether more is refused")
