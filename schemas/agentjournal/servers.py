"""The servers that settings name, as a client talks to them. Nothing is contacted yet."""

from __future__ import annotations

import secrets
from functools import cache, partial
from typing import TYPE_CHECKING

from agentjournal.appender import Appender
from agentjournal.artifacts import artifacts_of
from agentjournal.errors import NotConfigured
from agentjournal.handle import Servers
from agentjournal.kafka_ends import KafkaEnds
from agentjournal.kafka_outbox import KafkaOutbox
from agentjournal.kafka_subscriptions import KafkaSubscriptions
from agentjournal.limits import read_limits
from agentjournal.live import Live
from agentjournal.outgoing import Redact
from agentjournal.ports import Appends
from agentjournal.postgres_facts import PostgresFacts
from agentjournal.postgres_live import PostgresLive
from agentjournal.postgres_notes import PostgresNotes
from agentjournal.postgres_recall import PostgresRecalls
from agentjournal.postgres_results import PostgresResults
from agentjournal.postgres_views import PostgresViews
from agentjournal.postgres_work import PostgresWork
from agentjournal.redis_counters import RedisCounters
from agentjournal.redis_inbox import RedisInbox
from agentjournal.redis_notes import RedisNotes
from agentjournal.redis_streaming import RedisDrafts
from agentjournal.settings import Settings

if TYPE_CHECKING:
    from agentjournal.memory.extractors import Extracting


def servers_of(settings: Settings, redact: Redact | None = None) -> Servers:
    """Return Kafka, Postgres and Redis. Raises NotConfigured when an extra is not installed."""
    artifacts = artifacts_of(settings)
    views = PostgresViews(settings, artifacts)
    drafts = RedisDrafts(settings)
    return Servers(
        appender=appender_of(settings),
        views=views,
        ends=KafkaEnds(settings),
        redact=redact,
        notes=RedisNotes(settings),
        artifacts=artifacts,
        stored_notes=PostgresNotes(views),
        results=PostgresResults(views),
        subscriptions=KafkaSubscriptions(settings),
        live=Live(PostgresLive(views), drafts, artifacts),
        counters=RedisCounters(settings),
        work=PostgresWork(views),
        recalls=PostgresRecalls(views),
        facts=PostgresFacts(views),
        limits=read_limits(settings.limits).of(settings.tenant),
        extracting=cache(partial(_extracting, settings)),
    )


def _extracting(settings: Settings) -> Extracting:
    from agentjournal.memory.extractors import extracting_of  # noqa: PLC0415 - it loads the rules

    return extracting_of(settings)


def appender_of(settings: Settings) -> Appends:
    """Return what sends appends to Kafka, and has its answers from Redis.

    Raises NotConfigured when they are to be traced and OpenTelemetry is not installed.
    """
    channel = f"{settings.topic_prefix}receipts.{secrets.token_hex(8)}"
    appends = Appender(
        KafkaOutbox(settings), lambda deliver: RedisInbox(settings, channel, deliver)
    )
    if not settings.traces:
        return appends
    try:
        from agentjournal.otel_appends import TracedAppends  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise NotConfigured("traces need `pip install 'agentjournal[otel]'`") from error
    return TracedAppends(appends, settings.appends)
