"""What each role runs: the parts of a process put together from its settings."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, TypeAlias

import structlog

from agentjournal.kafka_alerts import AlertWriter
from agentjournal.limits import read_limits
from agentjournal.log import Log
from agentjournal.memory.extractors import Extracting, extracting_of
from agentjournal.memory.promoter import Promoter
from agentjournal.redis_rates import RedisRates
from agentjournal.servers import servers_of
from agentjournal.settings import Settings
from consumers.cache import Cache, CacheOptions, CachePorts
from consumers.indexer import MOST_RECORDS, EmbeddedReadModels, has_vectors, local_vectors
from consumers.janitor import Janitor, JanitorOptions, JanitorPorts
from consumers.janitor_limits import rows_of
from consumers.kafka_appends import KafkaAppends
from consumers.kafka_events import KafkaEvents
from consumers.kafka_letters import KafkaLetters
from consumers.kafka_log_reader import KafkaLogReader
from consumers.kafka_requests import KafkaRequests
from consumers.kafka_topics import check_topics
from consumers.meter import MeterPace, MeterPorts, MeterRole
from consumers.metrics_readers import ReaderMetrics
from consumers.metrics_sequencer import SequencerMetrics
from consumers.postgres_heads import PostgresHeads
from consumers.postgres_janitor import PostgresJanitor
from consumers.postgres_membership import PostgresMembership, new_member
from consumers.postgres_pool import PostgresPool
from consumers.postgres_promoter import PostgresPromoter
from consumers.postgres_read_models import PostgresReadModels
from consumers.postgres_refusals import PostgresRefusals
from consumers.projector import Projector, ProjectorOptions, ProjectorPorts
from consumers.promoter import PromoterOptions, PromoterPorts, PromoterRole
from consumers.redis_answers import RedisAnswers
from consumers.redis_note_cache import RedisNoteCache
from consumers.refusals import Refusals
from consumers.sequencer import Sequencer, SequencerOptions, SequencerPorts
from consumers.tracing import event_traces, request_traces
from consumers.watch import current_watch
from projections.conversation import CONVERSATION
from projections.embeddings import embeddings
from projections.environment import ENVIRONMENT
from projections.events import EVENTS_PROJECTION
from projections.execution import EXECUTION
from projections.facts import FACTS_PROJECTION
from projections.limits import LIMITS
from projections.memory import MEMORY
from projections.plan import PLAN
from projections.projection import Projection
from projections.recall import RECALL
from projections.results import RESULTS_PROJECTION
from streams.meter import Meter
from streams.meter_thresholds import Thresholds, thresholds_of
from streams.rules import rules_1

Role: TypeAlias = Callable[[Settings, asyncio.Event], Awaitable[None]]


async def run_sequencer(
    settings: Settings,
    stop: asyncio.Event,
    *,
    options: SequencerOptions | None = None,
    fault: Callable[[str], None] = lambda _: None,
) -> None:
    """Sequence this member's share of the partitions until `stop` is set.

    Raises Unavailable when the topics cannot be seen, IntegrityError when they are not ours.
    """
    await check_topics(settings)
    async with (
        PostgresPool(settings, name="sequencer") as pool,
        KafkaAppends(settings) as appends,
        KafkaEvents(settings) as events,
    ):
        answers = RedisAnswers(settings)
        membership = PostgresMembership(pool, "sequencer", new_member())
        heads, traces = PostgresHeads(pool), request_traces(settings)
        seen = SequencerMetrics(current_watch("sequencer"), appends.end_seen)
        ports = SequencerPorts(appends, events, heads, answers, membership, traces, seen)
        try:
            await Sequencer(ports, rules_1(), options, fault).run(stop)
        finally:
            await answers.close()


async def run_projector(
    settings: Settings,
    stop: asyncio.Event,
    *,
    options: ProjectorOptions | None = None,
    fault: Callable[[str], None] = lambda _: None,
) -> None:
    """Keep this member's share of the read models up to date until `stop` is set.

    Raises Unavailable when the topics cannot be seen, IntegrityError when they are not ours.
    """
    await check_topics(settings)
    async with (
        PostgresPool(settings, name="projector") as pool,
        PostgresPool(settings, name="refusals", size=1) as beside,
        KafkaLogReader(settings) as events,
        KafkaLetters(settings) as letters,
    ):
        membership = PostgresMembership(pool, "projector", new_member())
        models, traces = PostgresReadModels(pool, fault), event_traces(settings)
        seen = ReaderMetrics(current_watch("projector"), events.end_seen)
        ports = ProjectorPorts(events, models, membership, traces, seen)
        await _together(
            Projector(ports, PROJECTIONS, options, fault).run(stop),
            Refusals(letters, PostgresRefusals(beside)).run(stop),
        )


async def _together(*parts: Coroutine[Any, Any, None]) -> None:
    """Run parts of a role until all are done, or one fails: then the others are cut off."""
    tasks = [asyncio.create_task(part) for part in parts]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def run_cache(
    settings: Settings, stop: asyncio.Event, *, options: CacheOptions | None = None
) -> None:
    """Keep this member's share of the notes in Redis up to date until `stop` is set.

    Raises Unavailable when the topics cannot be seen, IntegrityError when they are not ours.
    """
    await check_topics(settings)
    async with (
        PostgresPool(settings, name="cache") as pool,
        KafkaLogReader(settings) as events,
    ):
        store = RedisNoteCache(settings)
        membership = PostgresMembership(pool, "cache", new_member())
        try:
            seen = ReaderMetrics(current_watch("cache"), events.end_seen)
            await Cache(CachePorts(events, store, membership, seen), options).run(stop)
        finally:
            await store.close()


async def run_janitor(
    settings: Settings,
    stop: asyncio.Event,
    *,
    options: JanitorOptions | None = None,
    fault: Callable[[str], None] = lambda _: None,
) -> None:
    """Let idle sessions expire, and tell of limits, until `stop` is set.

    Raises NotConfigured when the file of limits is not right, Unavailable when the topics cannot be
    seen, IntegrityError when they are not ours.
    """
    limits = list(rows_of(read_limits(settings.limits)))
    await check_topics(settings)
    async with (
        PostgresPool(settings, name="janitor", size=2) as pool,
        KafkaRequests(settings) as requests,
        AlertWriter(settings) as alerts,
    ):
        membership = PostgresMembership(pool, "janitor", new_member())
        models, watch = PostgresJanitor(pool), current_watch("janitor")
        ports = JanitorPorts(models, requests, alerts, membership, watch)
        await Janitor(ports, limits, options, fault).run(stop)


async def run_indexer(
    settings: Settings, stop: asyncio.Event, *, options: ProjectorOptions | None = None
) -> None:
    """Keep this member's share of what recall searches up to date until `stop` is set.

    Vectors are made where the extra is installed and Postgres has pgvector. Raises Unavailable when
    the topics cannot be seen, IntegrityError when they are not ours.
    """
    await check_topics(settings)
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(PostgresPool(settings, name="indexer"))
        watch = current_watch("indexer")
        events = await stack.enter_async_context(KafkaLogReader(settings))
        seen = ReaderMetrics(watch, events.end_seen)
        membership = PostgresMembership(pool, "indexer", new_member())
        ports = ProjectorPorts(events, PostgresReadModels(pool), membership, seen=seen)
        parts = [Projector(ports, SEARCHED, options).run(stop)]
        vectors = local_vectors()
        if vectors is None or not await has_vectors(pool):
            what = "no model" if vectors is None else "no pgvector in Postgres"
            structlog.get_logger().info("words_only", reason=what)
        else:
            beside = await stack.enter_async_context(PostgresPool(settings, name="embedder"))
            few = KafkaLogReader(settings, most_records=MOST_RECORDS)
            few = await stack.enter_async_context(few)
            models = EmbeddedReadModels(beside, vectors)
            others = PostgresMembership(beside, "embedder", new_member())
            ports = ProjectorPorts(few, models, others)
            parts.append(Projector(ports, (embeddings(vectors),), options).run(stop))
        await _together(*parts)


async def run_promoter(
    settings: Settings,
    stop: asyncio.Event,
    *,
    options: PromoterOptions | None = None,
    fault: Callable[[str], None] = lambda _: None,
    extracting: Extracting | None = None,
) -> None:
    """Promote sessions that end or are idle, until `stop` is set.

    Raises NotConfigured when the file of limits or of slots is not right, or a model is asked for
    that cannot be, Unavailable when the topics cannot be seen, IntegrityError when they are not
    ours.
    """
    limits = read_limits(settings.limits)
    await check_topics(settings)
    extracting = extracting or extracting_of(settings)
    servers = servers_of(settings)
    async with (
        PostgresPool(settings, name="promoter", size=2) as pool,
        Log(settings, servers=servers),
    ):
        membership = PostgresMembership(pool, "promoter", new_member())
        models = PostgresPromoter(pool, extracting.extractor, limits)
        promoter = Promoter(servers, extracting, fault)
        ports = PromoterPorts(models, promoter, membership, current_watch("promoter"))
        await PromoterRole(ports, options, fault).run(stop)


async def run_meter(
    settings: Settings,
    stop: asyncio.Event,
    *,
    thresholds: Thresholds | None = None,
    pace: MeterPace | None = None,
) -> None:
    """Count what happens, and raise alerts, until `stop` is set.

    Raises NotConfigured for a threshold that is not right, Unavailable when the topics cannot be
    seen, IntegrityError when they are not ours.
    """
    from streams.faust_meter import FaustMeter  # noqa: PLC0415 - no other role pays for Faust

    meter = Meter(thresholds or thresholds_of(os.environ))
    await check_topics(settings)
    async with (
        PostgresPool(settings, name="meter", size=1) as pool,
        AlertWriter(settings) as alerts,
    ):
        shown = RedisRates(settings)
        membership = PostgresMembership(pool, "meter", new_member())
        try:
            ports = MeterPorts(
                partial(FaustMeter, settings), shown, alerts, membership, current_watch("meter")
            )
            await MeterRole(ports, meter, pace).run(stop)
        finally:
            await shown.close()


PROJECTIONS = (
    EVENTS_PROJECTION,
    CONVERSATION,
    PLAN,
    MEMORY,
    EXECUTION,
    ENVIRONMENT,
    RESULTS_PROJECTION,
    LIMITS,
    FACTS_PROJECTION,
)
SEARCHED = (RECALL,)  # kept by the indexer: nobody who searches nothing pays for it
READ_MODELS = (*PROJECTIONS, *SEARCHED)


def known_read_models() -> Mapping[str, Projection]:
    """Return every read model by its name, that of vectors too where a model is installed."""
    vectors = local_vectors()
    known = READ_MODELS if vectors is None else (*READ_MODELS, embeddings(vectors))
    return {each.name: each for each in known}


ROLES: Mapping[str, Role] = {
    "sequencer": run_sequencer,
    "projector": run_projector,
    "cache": run_cache,
    "janitor": run_janitor,
    "indexer": run_indexer,
    "promoter": run_promoter,
    "meter": run_meter,
}
