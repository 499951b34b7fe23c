"""The command line `agentjournal`, and the application that is bundled behind it.

The application's packages (`streams`, `local`, …) have names that other programs use too. They
are bundled in `_app/`, which goes on the path of the processes that this package starts, never on
anybody else's.
"""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> None:
    """Run the command line."""
    sys.path.insert(0, str(application_root()))
    from commands.app import main as run  # noqa: PLC0415 - found only on the path set above

    run()


def application_root() -> Path:
    """Return the folder that holds the application's packages: the bundle, or the checkout."""
    bundle = Path(__file__).parent / "_app"
    return bundle if bundle.is_dir() else Path(__file__).parents[2]
