"""`approve` and `deny`: answers to what an agent wants to be allowed."""

from __future__ import annotations

from typing import Annotated

import typer

from agentjournal import Approval
from commands.answering import answered, json_option
from commands.errors import CommandFailed
from commands.harmless import one_line
from commands.naming import SessionName
from commands.printing import print_line

commands = typer.Typer()

ApprovalName = Annotated[str, typer.Argument(help="An approval's id, as `approvals` lists it.")]
By = Annotated[str, typer.Option("--by", metavar="NAME", help="Who answers.")]
Comment = Annotated[
    str | None, typer.Option("--comment", metavar="TEXT", help="Why; a model reads it.")
]


@commands.command()
def approve(
    session: SessionName,
    approval: ApprovalName,
    *,
    by: By,
    comment: Comment = None,
    arguments: Annotated[
        str | None,
        typer.Option("--arguments", metavar="JSON", help="Allow these in place of those asked."),
    ] = None,
) -> None:
    """Allow what an agent asked about, with exactly the arguments it asked about or those given.

    The first answer stands; status 1 when that is another one.
    """
    edited = json_option("--arguments", arguments)
    if edited is None and arguments is not None:
        edited = arguments  # null is a value too
    held = answered(
        session,
        lambda found: found.grant(approval, by=by, comment=comment, edited_arguments=edited),
    )
    _tell(held, "granted")


@commands.command()
def deny(session: SessionName, approval: ApprovalName, *, by: By, comment: Comment = None) -> None:
    """Refuse what an agent asked about.

    The first answer stands; status 1 when that is another one.
    """
    _tell(answered(session, lambda found: found.deny(approval, by=by, comment=comment)), "denied")


def _tell(held: Approval, wanted: str) -> None:
    said = one_line(f"approval {held.approval_id} was {held.outcome} by {held.by}")
    if held.outcome != wanted:
        raise CommandFailed(said)
    print_line(said)
