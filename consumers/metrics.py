"""The metrics of the roles: every name with its kind, unit, labels and meaning.

Labels are bounded: what a label may hold is said with it, and no session, user or tenant is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

from agentjournal.receipts import RefusalReason

MetricName: TypeAlias = Literal[
    "agentjournal_append_latency_seconds",
    "agentjournal_batch_records",
    "agentjournal_batch_seconds",
    "agentjournal_dead_letters_total",
    "agentjournal_decisions_total",
    "agentjournal_events_stored_total",
    "agentjournal_events_written_total",
    "agentjournal_heads",
    "agentjournal_lag_records",
    "agentjournal_lag_seconds",
    "agentjournal_leases_live",
    "agentjournal_leases_taken_total",
    "agentjournal_loop_delay_seconds",
    "agentjournal_note_changes_total",
    "agentjournal_note_lookups_total",
    "agentjournal_partitions",
    "agentjournal_promotions_total",
    "agentjournal_ready",
    "agentjournal_sessions_expired_total",
    "agentjournal_starts_over_total",
    "agentjournal_streams_parked",
]
Kind: TypeAlias = Literal["counter", "gauge", "histogram"]

REFUSALS: tuple[RefusalReason, ...] = tuple(sorted(get_args(RefusalReason)))
DECISIONS = ("accepted", "duplicate", *REFUSALS)
_NONE: Mapping[str, str] = MappingProxyType({})
_ROLE = "the role that this process runs"
_READER = "`sequencer` (of `appends`), `cache`, or the name of a projection (of `events`)"
_REASON = "why, as in the view `dead_letters`"


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric as it is published: `labels` says what each label may hold.

    A histogram is published as NAME_bucket (with `le`), NAME_sum and NAME_count.
    """

    kind: Kind
    unit: str
    meaning: str
    labels: Mapping[str, str] = field(default_factory=lambda: _NONE)
    buckets: tuple[float, ...] = ()  # upper bounds, of a histogram


_LATENCIES = (
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0,
)  # fmt: skip
_SIZES = (1.0, 5.0, 10.0, 50.0, 100.0, 500.0, 1_000.0, 2_000.0, 4_000.0, 8_000.0)

METRICS: Mapping[MetricName, Metric] = {
    "agentjournal_append_latency_seconds": Metric(
        "histogram",
        "seconds",
        "From the broker's time of a request to the moment its answer was sent; the sequencer "
        "counts every decision once. Clocks of broker and sequencer must agree.",
        buckets=_LATENCIES,
    ),
    "agentjournal_batch_records": Metric(
        "histogram",
        "records",
        "How many records a batch held: requests for the sequencer, events for others.",
        {"role": _ROLE},
        _SIZES,
    ),
    "agentjournal_batch_seconds": Metric(
        "histogram",
        "seconds",
        "From a batch being read to all of it being stored, or for the sequencer answered.",
        {"role": _ROLE},
        _LATENCIES,
    ),
    "agentjournal_dead_letters_total": Metric(
        "counter",
        "letters",
        "Letters that the log acknowledged in the topic `dead`; one may be written twice when a "
        "partition is taken over.",
        {"reason": _REASON},
    ),
    "agentjournal_decisions_total": Metric(
        "counter",
        "requests",
        "Decisions of the sequencer that the log acknowledged.",
        {"decision": ", ".join(f"`{decision}`" for decision in DECISIONS)},
    ),
    "agentjournal_events_stored_total": Metric(
        "counter",
        "events",
        "Events read from the log, of which a role has stored all that it makes of them. Those "
        "that are read again after an outage count again.",
        {"role": _ROLE},
    ),
    "agentjournal_events_written_total": Metric(
        "counter", "events", "Events that the sequencer wrote and the log acknowledged."
    ),
    "agentjournal_heads": Metric(
        "gauge", "streams", "Heads of streams that the sequencer has in memory."
    ),
    "agentjournal_lag_records": Metric(
        "gauge",
        "records",
        "Records of this process's partitions that are in the log and not yet dealt with.",
        {"reader": _READER},
    ),
    "agentjournal_lag_seconds": Metric(
        "gauge",
        "seconds",
        "How old the oldest such record is at most, in the partition where it is worst; 0 when "
        "there is none.",
        {"reader": _READER},
    ),
    "agentjournal_leases_live": Metric(
        "gauge",
        "leases",
        "Leases that have not passed, of the streams this sequencer wrote to since it took their "
        "partitions.",
    ),
    "agentjournal_leases_taken_total": Metric(
        "counter", "leases", "Leases that were taken, those that were taken over included."
    ),
    "agentjournal_loop_delay_seconds": Metric(
        "gauge",
        "seconds",
        "How long the event loop of this process has not come round, beyond what is usual; "
        "`/healthz` fails when it is too long.",
    ),
    "agentjournal_note_changes_total": Metric(
        "counter",
        "changes",
        "Changes of notes that the cache read: of a session that is kept in Redis, or of one that "
        "nobody reads.",
        {"notes": "`kept`, `not_kept`"},
    ),
    "agentjournal_note_lookups_total": Metric(
        "counter",
        "lookups",
        "Lookups of notes by clients: answered by Redis, or by Postgres. Clients count in Redis, "
        "which may lose it; the owner of the partition publishes it.",
        {"result": "`hit`, `miss`", "partition": "a partition of `events`"},
    ),
    "agentjournal_partitions": Metric(
        "gauge", "partitions", "Partitions that this process works on.", {"role": _ROLE}
    ),
    "agentjournal_promotions_total": Metric(
        "counter",
        "sessions",
        "Sessions that the promoter read for facts. `failed` are left alone until they go on, or "
        "`agentjournal promote --failed`.",
        {"outcome": "`completed`, `repeated` (nothing was said since), `failed`"},
    ),
    "agentjournal_ready": Metric(
        "gauge",
        "1 or 0",
        "Whether the role is ready, as `/readyz` says.",
        {"role": _ROLE},
    ),
    "agentjournal_sessions_expired_total": Metric(
        "counter", "sessions", "Sessions that expired: the sequencer accepted `session.expired`."
    ),
    "agentjournal_starts_over_total": Metric(
        "counter",
        "times",
        "How often a role dropped what it had in memory and took its partitions anew.",
        {"role": _ROLE, "kind": "the error: `OutageError`, `EmissionUnknownError`, …"},
    ),
    "agentjournal_streams_parked": Metric(
        "gauge",
        "streams",
        "Streams of this process's partitions that a projection is parked at.",
        {"projection": "the name of a projection"},
    ),
}
