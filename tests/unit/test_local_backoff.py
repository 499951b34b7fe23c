"""How long a dead child waits."""

from __future__ import annotations

from local.backoff import Backoff


def test_the_wait_doubles_from_a_fifth_of_a_second_to_ten_seconds() -> None:
    backoff = Backoff()
    waits = [backoff.after(lived_s=0.1) for _ in range(9)]
    assert waits == [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10.0, 10.0, 10.0]


def test_thirty_seconds_of_health_begin_it_anew() -> None:
    backoff = Backoff()
    waits = [backoff.after(lived_s=lived_s) for lived_s in (1.0, 1.0, 29.9, 30.0, 1.0)]
    assert waits == [0.2, 0.4, 0.8, 0.2, 0.4]
