"""Prints what a container needs: the dependencies of both packages, without the local stack's.

What traces need is among them, though they are off unless they are asked for.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]


def requirements() -> list[str]:
    """Return the requirements, in the words of the pyproject files."""
    client = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    server = tomllib.loads((CHECKOUT / "server" / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    left_out = {*server["optional-dependencies"]["local"], f"{client['name']}=={client['version']}"}
    wanted = [*server["dependencies"], *server["optional-dependencies"]["otel"]]
    return [*client["dependencies"], *(r for r in wanted if r not in left_out)]


if __name__ == "__main__":
    print(*requirements(), sep="\n")  # noqa: T201
