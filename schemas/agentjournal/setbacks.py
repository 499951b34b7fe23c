"""When a worker may try a session again: what failed, or did not get on, waits longer each time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from agentjournal.ports import Runnable

_MOST = 10_000  # sessions that are remembered
_BEHIND_S = 5.0  # how long the read models may take to show the end of a run


@dataclass(slots=True)
class _Past:
    """How the last run of a session ended. Times are of the caller's clock, in seconds."""

    found: Runnable
    known_version: int  # of the last event that the run knew
    ended_at: float
    setbacks: int = 0  # in a row
    is_counted: bool = False  # whether this end is among them
    not_before: float = 0.0


class Setbacks:
    """Sessions that are to be left alone for a while.

    A run that raised is a setback. So is one after which the session needs a worker for the very
    same thing. Each in a row doubles the wait, from `first_s` up to `most_s`; `spread` gives a part
    of it, so that workers do not come back all at once.
    """

    def __init__(
        self, first_s: float, most_s: float, spread: Callable[[float], float] = lambda s: s
    ) -> None:
        self._first_s, self._most_s, self._spread = first_s, most_s, spread
        self._past: OrderedDict[str, _Past] = OrderedDict()

    def ended(self, found: Runnable, known_version: int, now: float, *, failed: bool) -> None:
        """Note that a run ended that was begun for `found`."""
        before = self._past.get(found.session_id)
        past = _Past(found, known_version, now, 0 if before is None else before.setbacks)
        self._keep(past)
        if failed:
            self._count(past)

    def leave(self, found: Runnable, now: float, seconds: float) -> None:
        """Leave a session alone for some seconds, for no fault of its own."""
        past = self._past.get(found.session_id) or _Past(found, 0, now, is_counted=True)
        past.not_before = max(past.not_before, now + seconds)
        self._keep(past)

    def may_try(self, found: Runnable, now: float) -> bool:
        """Whether a session that was found may be taken."""
        past = self._past.get(found.session_id)
        if past is None:
            return True
        if found.head_version <= past.known_version and now < past.ended_at + _BEHIND_S:
            return False  # it was found as it was before the run ended
        if not past.is_counted:
            if (found.reason, found.version) != (past.found.reason, past.found.version):
                del self._past[found.session_id]  # it got on
                return True
            self._count(past)
        return now >= past.not_before

    def left_alone(self, now: float) -> list[str]:
        """Return the sessions that may not be tried yet."""
        return [name for name, past in self._past.items() if past.not_before > now]

    def _count(self, past: _Past) -> None:
        past.setbacks, past.is_counted = past.setbacks + 1, True
        wait_s = min(self._most_s, self._first_s * 2 ** min(past.setbacks - 1, 60))
        past.not_before = past.ended_at + self._spread(wait_s)

    def _keep(self, past: _Past) -> None:
        self._past[past.found.session_id] = past
        self._past.move_to_end(past.found.session_id)
        if len(self._past) > _MOST:
            self._past.popitem(last=False)
