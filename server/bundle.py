"""Build hook: puts the application's packages into the wheel, below a package of ours.

They have names that any program may have too (`streams`, `local`, …). Installed editable, the
checkout is run, and nothing is copied.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGES = ("streams", "projections", "consumers", "importers", "local", "commands", "in_memory")
BUNDLE = "agentjournal_server/_app"


class Bundle(BuildHookInterface[Any]):
    """Adds the sibling folders to a wheel that is not editable."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        checkout = Path(self.root).parent
        for package in PACKAGES:
            build_data["force_include"][str(checkout / package)] = f"{BUNDLE}/{package}"
