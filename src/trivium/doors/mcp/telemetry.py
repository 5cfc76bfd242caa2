"""OpenTelemetry, where its SDK is installed and an endpoint is configured. FastMCP makes the spans; without this they
go nowhere and cost nothing."""

import os
from importlib.util import find_spec

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_EXPORTER = "opentelemetry.exporter.otlp.proto.http.trace_exporter"


def start_telemetry() -> bool:
    """Whether spans are exported now."""
    if not any(os.environ.get(name) for name in _ENDPOINTS):
        return False
    try:
        if find_spec("opentelemetry.sdk.trace") is None or find_spec(_EXPORTER) is None:
            return False
    except ModuleNotFoundError:
        return False
    from importlib import import_module

    from opentelemetry import trace

    sdk = import_module("opentelemetry.sdk.trace")
    export = import_module("opentelemetry.sdk.trace.export")
    resources = import_module("opentelemetry.sdk.resources")
    provider = sdk.TracerProvider(resource=resources.Resource.create({"service.name": "trivium"}))
    provider.add_span_processor(export.BatchSpanProcessor(import_module(_EXPORTER).OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return True
