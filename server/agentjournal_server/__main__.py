"""`python -m agentjournal_server`: the same as the command `agentjournal`."""

from __future__ import annotations

from agentjournal_server import main

if __name__ == "__main__":
    main()
