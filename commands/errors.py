"""How a command says that it failed."""

from __future__ import annotations

from agentjournal.errors import AgentJournalError


class CommandFailed(AgentJournalError):
    """The command cannot do what was asked; the message says why, and what to do."""
