"""Expiry and limits in the fold: the broker's clock and the head decide, and nothing else."""

from __future__ import annotations

import pytest

from agentjournal.ids import Version
from agentjournal.receipts import Refusal
from agentjournal.requests import NewEvent, Request
from streams.decide import Outcome
from streams.lifetime import ALWAYS
from tests.support import BEGAN_MS, RULES, Stream, event, request, said, started

HOUR_MS = 3_600_000


def expiry(version: int | None, idle_s: float = 3_600) -> Request:
    return request(event("session.expired", idle_s=idle_s), expected_version=version)


def limited(**limits: int) -> NewEvent:
    """Return a start whose limits are enforced."""
    stated = {name: {"maximum": most, "policy": "refuse"} for name, most in limits.items()}
    return started(limits=stated)


def refusal_of(outcome: Outcome) -> Refusal:
    assert outcome.answer is not None
    assert isinstance(outcome.answer.outcome, Refusal)
    assert outcome.records == ()
    return outcome.answer.outcome


def idle(*events: NewEvent, at_ms: int = BEGAN_MS, start: NewEvent | None = None) -> Stream:
    stream = Stream()
    stream.accept(request(*(events or [said("a")]), start=start), at_ms)
    return stream


def status(stream: Stream) -> str:
    assert stream.head is not None
    return stream.head.status


@pytest.mark.parametrize(("after_ms", "expires"), [(HOUR_MS - 1, False), (HOUR_MS, True)])
def test_a_session_expires_when_the_time_has_passed_by_the_brokers_clock(
    after_ms: int, *, expires: bool
) -> None:
    stream = idle()
    outcome = stream.ask(expiry(1), BEGAN_MS + after_ms)
    if expires:
        assert (status(stream), len(outcome.records)) == ("expired", 1)
    else:
        reason = "has not passed since the last event"
        assert refusal_of(outcome) == Refusal("not_idle", "events[0].data.idle_s", reason)
        assert outcome.dead is None  # as it should be: nobody has to see to it


def test_a_message_of_the_same_millisecond_wins_in_both_orders() -> None:
    at_ms = BEGAN_MS + HOUR_MS
    before = idle()
    before.accept(request(said("b")), at_ms)
    outcome = before.ask(expiry(1), at_ms)
    assert refusal_of(outcome) == Refusal("conflict", version=Version(2))
    assert outcome.dead is None
    assert status(before) == "open"

    after = idle()
    after.accept(expiry(1), at_ms)
    receipt = after.accept(request(said("b")), at_ms)
    assert receipt.first_version == 3  # it is in the log, and a worker takes it up from there
    after.accept(request(event("session.resumed")), at_ms)
    assert status(after) == "open"


def test_expiring_twice_is_expiring_once() -> None:
    stream, asked = idle(), expiry(1)
    first = stream.accept(asked, BEGAN_MS + HOUR_MS)
    again = stream.accept(asked.with_attempt(2), BEGAN_MS + 2 * HOUR_MS)
    assert (again.duplicate, again.position) == (True, first.position)
    other = stream.ask(expiry(2), BEGAN_MS + 9 * HOUR_MS)
    assert refusal_of(other) == Refusal("not_idle", "events[0].type", "the session is not open")
    assert len(stream.records) == 2


def test_a_session_does_not_expire_before_its_own_ttl() -> None:
    stream = idle(start=started(ttl_s=7_200))
    early = stream.ask(expiry(2), BEGAN_MS + 9 * HOUR_MS)
    reason = "is less than the session's own TTL"
    assert refusal_of(early) == Refusal("not_idle", "events[0].data.idle_s", reason)
    stream.accept(request(event("session.updated", ttl_s=60.5)), BEGAN_MS)
    stream.accept(expiry(3, idle_s=60.5), BEGAN_MS + 60_500)


def test_a_live_lease_holds_a_session_open() -> None:
    lease = event("lease.acquired", holder="w", fence=1, lease_s=7_200)
    stream = idle(lease)
    held = stream.ask(expiry(1), BEGAN_MS + HOUR_MS)
    reason = "a worker has the session's lease"
    assert refusal_of(held) == Refusal("not_idle", "events[0].type", reason)
    stream.accept(expiry(1), BEGAN_MS + 2 * HOUR_MS)


@pytest.mark.parametrize("ended", ["session.ended", "session.expired"])
def test_only_an_open_session_expires(ended: str) -> None:
    stream = idle()
    fields = {"idle_s": 0} if ended == "session.expired" else {}
    stream.accept(request(event(ended, **fields), expected_version=1), BEGAN_MS)
    again = refusal_of(stream.ask(expiry(2), BEGAN_MS + HOUR_MS))
    assert again == Refusal("not_idle", "events[0].type", "the session is not open")
    assert refusal_of(Stream().ask(expiry(0), BEGAN_MS)) == again


def test_who_expires_a_session_says_which_version_was_idle() -> None:
    refused = idle().ask(expiry(None), BEGAN_MS + HOUR_MS)
    assert refused.dead == Refusal(
        "rejected",
        "expectedversion",
        "is missing: a session expires at the version at which it was found idle",
    )


@pytest.mark.parametrize(
    ("limit", "most", "taken", "refusal"),
    [
        ("events", 3, [said("a"), said("b")], ("3", 4)),
        ("tokens", 10, [said("a")._replace(tokens=10)], ("10", 11)),
        ("age_s", 0, [said("a")], ("0", 1)),
    ],
)
def test_what_goes_beyond_a_limit_is_refused(
    limit: str, most: int, taken: list[NewEvent], refusal: tuple[str, int]
) -> None:
    stream = Stream()
    stream.accept(request(*taken, start=limited(**{limit: most})), BEGAN_MS)
    outcome = stream.ask(request(said("c")._replace(tokens=1)), BEGAN_MS + 1)
    maximum, value = refusal
    assert refusal_of(outcome) == outcome.dead == Refusal("limit", limit, maximum, Version(value))


def test_bytes_are_those_of_the_data_of_all_events() -> None:
    first, second = said("a" * 100), said("b" * 100)
    start = limited(bytes=1_000)  # as long as any maximum of four digits
    most = len(start.data) + len(first.data) + len(second.data)
    assert 100 <= most < 1_000
    fits, exceeds = limited(bytes=most), limited(bytes=most - 2)
    assert len(fits.data) == len(exceeds.data) == len(start.data) - 1
    for begun, is_taken in ((fits, True), (exceeds, False)):
        stream = Stream()
        stream.accept(request(first, start=begun))
        assert (stream.ask(request(second)).dead is None) == is_taken


def test_a_whole_batch_is_refused_or_none_of_it() -> None:
    stream = Stream()
    stream.accept(request(said("a"), start=limited(events=4)))
    stream.refuse(request(said("b"), said("c"), said("d")))
    assert stream.accept(request(said("b"), said("c"))).last_version == 4
    first = Stream()
    first.refuse(request(said("a"), said("b"), start=limited(events=2)))
    assert first.head is None


def test_what_has_begun_is_finished_beyond_the_limit() -> None:
    call = {"call_id": "c", "attempt": 1}
    stream = Stream()
    stream.accept(request(said("a"), start=limited(events=2)))
    done = event("tool.completed", **call, output="charged", duration_ms=1)
    stream.refuse(request(done, said("b")))
    turn = event("turn.ended", turn_id="t", reason="limit")
    lease = event("lease.acquired", holder="w", fence=3, lease_s=60)
    stream.accept(request(lease))
    assert stream.accept(request(done, turn, fence=3)).last_version == 5
    stream.accept(request(event("lease.released", fence=3), fence=3))
    assert stream.accept(request(event("session.ended"))).last_version == 7


def test_the_end_of_anything_that_begins_is_always_taken() -> None:
    begins = {kind.removesuffix(".started") for kind in RULES.streams if kind.endswith(".started")}
    endings = {
        k for k in RULES.streams if k.endswith((".completed", ".failed", ".settled", ".ended"))
    }
    of_what_begins = {kind for kind in endings if kind.split(".")[0] in begins}
    assert of_what_begins <= ALWAYS
    assert set(RULES.streams) >= ALWAYS
    beginning = {kind for kind in ALWAYS if kind.endswith((".started", ".added", ".requested"))}
    assert beginning == {"turn.started"}


def test_a_limit_that_only_warns_is_enforced_no_more() -> None:
    stream = Stream()
    stream.accept(request(said("a"), start=limited(events=2)))
    stream.refuse(request(said("b")))
    warned = {"events": {"maximum": 2, "policy": "warn"}}
    stream.accept(request(event("session.updated", limits=warned)))
    stream.accept(request(said("b")))
    assert stream.head is not None
    assert stream.head.limits == b""


def test_a_title_leaves_limits_and_ttl_as_they_are() -> None:
    stream = Stream()
    stream.accept(request(said("a"), start=limited(events=9)))
    before = stream.head
    stream.accept(request(event("session.updated", title="t")))
    assert before is not None
    assert stream.head is not None
    assert stream.head.lifetime == before.lifetime
    assert before.lifetime.started_ms == BEGAN_MS
