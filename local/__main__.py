"""`python -m local HOME`: the supervisor that `agentjournal up -d` leaves behind."""

from __future__ import annotations

import sys
from pathlib import Path

from agentjournal.errors import AgentJournalError
from local.supervise import supervise


def main() -> int:
    """Run until a signal; return 1 when the stack cannot be started, as its log tells."""
    try:
        supervise(Path(sys.argv[1]))
    except AgentJournalError:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
