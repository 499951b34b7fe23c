"""`run`: roles in the foreground, as a container starts them."""

from __future__ import annotations

import signal
import sys
from typing import Annotated, NoReturn

import typer

from agentjournal.settings import find_settings

commands = typer.Typer()


@commands.command()
def run(
    roles: Annotated[list[str], typer.Argument(metavar="ROLE", help="Roles to run.")],
) -> None:
    """Run one or more roles in the foreground, until SIGTERM or Ctrl-C."""
    signal.signal(signal.SIGTERM, _stopped_early)  # loading takes a moment
    from consumers.health_server import find_serving  # noqa: PLC0415 - loads what only roles need
    from consumers.roles import ROLES  # noqa: PLC0415
    from consumers.running import run_roles  # noqa: PLC0415

    if unknown := [role for role in roles if role not in ROLES]:
        names = ", ".join(ROLES)
        raise typer.BadParameter(f"{', '.join(map(repr, unknown))}: the roles are {names}")
    chosen = list(dict.fromkeys(roles))
    raise typer.Exit(run_roles(find_settings(), chosen, find_serving()))


def _stopped_early(*_: object) -> NoReturn:
    sys.exit(0)
