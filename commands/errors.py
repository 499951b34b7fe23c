"""How a command says that it failed."""

from __future__ import annotations

from agentjournal.errors import AgentJournalError


class CommandFailed(AgentJournalError):
    """The command cannot do what was asked; the message says why, and what to do."""


class NoTables(CommandFailed):
    """Nothing was ever prepared in this database: `agentjournal init` does it."""

    def __init__(self) -> None:
        super().__init__("there are no tables: `agentjournal init` makes them")
