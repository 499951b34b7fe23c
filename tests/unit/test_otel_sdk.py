"""A role's exporters, by the standard variables; and a collector that is away keeps nobody."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from threading import Event

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    ConsoleSpanExporter,
    SpanExporter,
    SpanExportResult,
)

from agentjournal.errors import NotConfigured
from consumers import otel_sdk
from local.roles import python_path


@pytest.mark.parametrize(
    ("environ", "kinds"),
    [
        ({}, [OTLPSpanExporter]),
        ({"OTEL_TRACES_EXPORTER": ""}, [OTLPSpanExporter]),
        ({"OTEL_TRACES_EXPORTER": "none"}, []),
        ({"OTEL_TRACES_EXPORTER": "console, otlp"}, [ConsoleSpanExporter, OTLPSpanExporter]),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, [OTLPSpanExporter]),
    ],
)
def test_exporters_are_those_that_the_variables_name(
    environ: dict[str, str], kinds: list[type[SpanExporter]]
) -> None:
    assert [type(exporter) for exporter in otel_sdk.exporters(environ)] == kinds


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "zipkin"),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "otlp_proto_grpc"),
        ({"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "carrier-pigeon"}, "carrier-pigeon"),
    ],
)
def test_an_exporter_that_is_not_installed_is_named(environ: dict[str, str], named: str) -> None:
    with pytest.raises(NotConfigured, match=named):
        otel_sdk.exporters(environ)


class Away(SpanExporter):
    """Tries until it is shut down, as one does whose collector is away."""

    def __init__(self) -> None:
        self._over = Event()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        del spans
        self._over.wait(60)
        return SpanExportResult.FAILURE

    def shutdown(self) -> None:
        self._over.set()


def test_a_process_ends_though_its_collector_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otel_sdk, "_LAST_S", 0.05)
    away, provider = Away(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(away))
    provider.get_tracer("test").start_span("last").end()
    began = time.monotonic()
    otel_sdk.shut_down(provider, [away])
    assert time.monotonic() - began < 10


A_ROLE = """
from consumers.otel_sdk import provide
from agentjournal.otel_spans import tracer
provide()
provide()
tracer().start_span("last").end()
"""


@pytest.mark.parametrize(
    ("named", "service"), [({}, "agentjournal"), ({"OTEL_SERVICE_NAME": "ours"}, "ours")]
)
def test_a_process_exports_what_is_left_when_it_ends(named: dict[str, str], service: str) -> None:
    environ = {"PYTHONPATH": python_path(), "OTEL_TRACES_EXPORTER": "console", **named}
    printed = subprocess.run(
        [sys.executable, "-c", A_ROLE], env=environ, capture_output=True, check=True
    ).stdout
    span = json.loads(printed)  # one, though it was provided twice
    assert (span["name"], span["resource"]["attributes"]["service.name"]) == ("last", service)
