"""The SDK of OpenTelemetry in a role: where spans go is said by the standard variables OTEL_….

OTEL_TRACES_EXPORTER names exporters (`otlp` unless it is set), OTEL_EXPORTER_OTLP_ENDPOINT where
the collector is, OTEL_TRACES_SAMPLER how much is kept, OTEL_SERVICE_NAME who we are.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from threading import Timer

from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

from agentjournal.errors import NotConfigured

_SERVICE = "service.name"
_PROTOCOLS = {"grpc": "otlp_proto_grpc", "http/protobuf": "otlp_proto_http"}
# For spans that are still here when the process ends: the SDK would take half a minute.
_LAST_S = 2.0


def provide(environ: Mapping[str, str] = os.environ) -> None:
    """Let this process export its spans, unless somebody has seen to that already.

    Raises NotConfigured when an exporter is named that is not installed.
    """
    if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return
    provider = TracerProvider(resource=_resource(), shutdown_on_exit=False)
    used = exporters(environ)
    for exporter in used:
        provider.add_span_processor(BatchSpanProcessor(exporter))
    atexit.register(shut_down, provider, used)
    trace.set_tracer_provider(provider)


def shut_down(provider: TracerProvider, used: Sequence[SpanExporter]) -> None:
    """Export what is left; give up after two seconds, so that no role waits for a collector."""
    timers = [Timer(_LAST_S, exporter.shutdown) for exporter in used]
    for timer in timers:
        timer.daemon = True
        timer.start()
    provider.shutdown()
    for timer in timers:
        timer.cancel()


def exporters(environ: Mapping[str, str]) -> list[SpanExporter]:
    """Return the exporters that the variables name. Raises NotConfigured."""
    named = environ.get("OTEL_TRACES_EXPORTER") or "otlp"
    return [_exporter(name, environ) for name in map(str.strip, named.split(",")) if name != "none"]


def _exporter(name: str, environ: Mapping[str, str]) -> SpanExporter:
    wanted = name
    if name == "otlp":
        protocol = environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or environ.get(
            "OTEL_EXPORTER_OTLP_PROTOCOL"
        )
        wanted = _PROTOCOLS.get(protocol or "http/protobuf", protocol or "")
    for found in entry_points(group="opentelemetry_traces_exporter", name=wanted):
        exporter: SpanExporter = found.load()()
        return exporter
    raise NotConfigured(f"OTEL_TRACES_EXPORTER: no exporter {wanted!r} of traces is installed")


def _resource() -> Resource:
    found = Resource.create()
    is_named = not str(found.attributes[_SERVICE]).startswith("unknown_service")
    return found if is_named else found.merge(Resource({_SERVICE: "agentjournal"}))
