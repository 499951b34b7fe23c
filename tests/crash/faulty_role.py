"""A test build of a role: cuts its own power (`kill -9`) where it is told to.

`python -m tests.crash.faulty_role ROLE POINT NTH`: POINT is one of its fault points, or `none`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from functools import partial

from agentjournal.settings import find_settings
from consumers.janitor import JanitorOptions
from consumers.projector import ProjectorOptions
from consumers.promoter import PromoterOptions
from consumers.roles import run_janitor, run_projector, run_promoter, run_sequencer
from consumers.running import configure_logging
from consumers.sequencer import SequencerOptions
from tests.promoted import PlainExtracting

# Small, so that saving, evicting, reading back and taking over heads happen all the time.
SEQUENCER = SequencerOptions(save_every_s=0.05, most_heads=8, fold_again=5, heartbeat_s=0.2)
PROJECTOR = ProjectorOptions(heartbeat_s=0.2, most_contexts=4)
JANITOR = JanitorOptions(
    scan_every_s=0.05, look_every_s=0.0, page=1, look_page=2, margin_s=0.0, heartbeat_s=0.2
)

PROMOTER = PromoterOptions(scan_every_s=0.05, page=1, at_once=1, heartbeat_s=0.2)


def cut_at(point: str, nth: int) -> Callable[[str], None]:
    """Return the function that kills this process when `point` is reached the nth time."""
    left = nth

    def fault(reached: str) -> None:
        nonlocal left
        if reached == point:
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    return fault


async def main(role: str, point: str, nth: int) -> None:
    """Run the role until SIGTERM, or until its power is cut."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    fault = cut_at(point, nth)
    run = {
        "sequencer": partial(run_sequencer, options=SEQUENCER),
        "projector": partial(run_projector, options=PROJECTOR),
        "janitor": partial(run_janitor, options=JANITOR),
        "promoter": partial(run_promoter, options=PROMOTER, extracting=PlainExtracting()),
    }[role]
    await run(find_settings(), stop, fault=fault)


if __name__ == "__main__":
    configure_logging()
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
