"""Which roles of this host have said lately that they are alive."""

from __future__ import annotations

import socket

import psycopg

from agentjournal.errors import Unavailable
from agentjournal.settings import Settings

SILENT_AFTER_S = 15  # roles say so every second or two while Postgres answers

# A member's name begins with its host.
_QUERY = """
SELECT DISTINCT role FROM agentjournal_internal.members
WHERE starts_with(member, %(host)s || ':')
    AND seen_at > clock_timestamp() - make_interval(secs => %(silent_after_s)s)
"""


def roles_at_work_here(settings: Settings) -> set[str]:
    """Return the roles that have a living process on this host. Raises Unavailable."""
    asked = {"host": socket.gethostname(), "silent_after_s": SILENT_AFTER_S}
    try:
        with psycopg.connect(
            settings.postgres, application_name="agentjournal health"
        ) as connection:
            return {row[0] for row in connection.execute(_QUERY, asked)}
    except psycopg.Error as error:
        raise Unavailable("Postgres", error) from error
