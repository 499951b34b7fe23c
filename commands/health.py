"""`health`: what a container is asked about the roles in it."""

from __future__ import annotations

from typing import Annotated

import typer

from agentjournal.settings import find_settings
from commands.errors import CommandFailed
from commands.postgres_health import roles_at_work_here

commands = typer.Typer()


@commands.command()
def health(
    roles: Annotated[
        list[str] | None, typer.Argument(metavar="[ROLE]", help="Roles that should be at work.")
    ] = None,
) -> None:
    """Exit with 0 if every ROLE is at work on this host; without one, if any role is."""
    at_work = roles_at_work_here(find_settings())
    if missing := [role for role in roles or () if role not in at_work]:
        raise CommandFailed(f"not at work on this host: {', '.join(missing)}")
    if not at_work:
        raise CommandFailed("no role is at work on this host")
    print("at work:", ", ".join(sorted(at_work)))
