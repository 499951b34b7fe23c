"""`python -m consumers init | ROLE…`: composes the roles, and is where the environment is read."""

from __future__ import annotations

import asyncio
import sys

from agentjournal.errors import AgentJournalError
from agentjournal.settings import find_settings
from consumers.health_server import find_serving
from consumers.roles import ROLES
from consumers.running import initialise, run_roles


def main(arguments: list[str]) -> int:
    """Return the exit status: 0, 1 (failed) or 2 (wrong use)."""
    known = ["init", *ROLES]
    if not arguments or any(name not in known for name in arguments):
        print(f"usage: python -m consumers init | {' | '.join(ROLES)} …", file=sys.stderr)  # noqa: T201
        return 2
    try:
        settings = find_settings()
        if arguments == ["init"]:
            for line in asyncio.run(initialise(settings)):
                print(line)  # noqa: T201
            return 0
        return run_roles(settings, arguments, find_serving())
    except AgentJournalError as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
