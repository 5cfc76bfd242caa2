"""OpenTelemetry, where its SDK is installed and an endpoint is configured. FastMCP makes the spans; without this they
go nowhere and cost nothing."""

import logging
import os
from importlib import import_module

logger = logging.getLogger("trivium.telemetry")
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def start_telemetry() -> bool:
    """Whether spans are exported now."""
    if not any(os.environ.get(name) for name in _ENDPOINTS):
        return False
    try:
        sdk = import_module("opentelemetry.sdk.trace")
        export = import_module("opentelemetry.sdk.trace.export")
        resources = import_module("opentelemetry.sdk.resources")
        exporter = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    except ImportError:
        logger.warning(
            "an OpenTelemetry endpoint is set, but nothing is sent to it: install opentelemetry-sdk and"
            " opentelemetry-exporter-otlp-proto-http beside Trivium"
        )
        return False
    from opentelemetry import trace

    provider = sdk.TracerProvider(resource=resources.Resource.create({"service.name": "trivium"}))
    provider.add_span_processor(export.BatchSpanProcessor(exporter.OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return True


def end_telemetry() -> None:
    """Sends what is still waiting: a server that a signal ends runs no exit handlers."""
    from opentelemetry import trace

    shutdown = getattr(trace.get_tracer_provider(), "shutdown", None)
    if shutdown is not None:
        shutdown()
