"""Traces of requests, sent to an OpenTelemetry collector if OTEL_EXPORTER_OTLP_ENDPOINT is set.

The layers use this module only. OpenTelemetry is imported by `contentapi.monitoring.otlp`, which is imported only if
traces are sent. A request that is not traced costs one comparison at each place that may add a span.

A span never has values of a request: no query string, header, variable or body, and no message of an exception.
"""

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from threading import Event, Thread
from typing import Any

from contentapi.conf import conf
from contentapi.conf.timeouts import TRACE_STOP_LIMIT
from contentapi.monitoring.records import current_record

UNTRACED: AbstractContextManager[Any] = nullcontext(lambda _: None)


class Tracing:
    """The tracer of this process, a `contentapi.monitoring.otlp.OpenTelemetryTracer`; None if no traces are sent."""

    tracer: Any = None
    stopper: Thread | None = None  # ends when the last spans are sent

    def __init__(self) -> None:
        self.ending = Event()

    def wait_and_stop(self, tracer: Any) -> None:
        self.ending.wait()
        tracer.stop()


TRACING = Tracing()


def are_traces_requested() -> bool:
    """Return whether the environment names a collector, and no standard variable turns traces off."""
    environment = conf.environment
    is_disabled = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    is_unexported = os.environ.get("OTEL_TRACES_EXPORTER", "").strip().lower() == "none"
    endpoint = environment.otel_exporter_otlp_traces_endpoint or environment.otel_exporter_otlp_endpoint
    return bool(endpoint) and not is_disabled and not is_unexported


def start_tracing() -> None:
    """Start to send traces, if they are requested. Call this in each worker: a fork would not copy the threads."""
    if not are_traces_requested():
        return
    from contentapi.monitoring.otlp import OpenTelemetryTracer

    TRACING.tracer = tracer = OpenTelemetryTracer()
    # Started now, because an interpreter that exits can start no thread.
    TRACING.stopper = Thread(target=TRACING.wait_and_stop, args=(tracer,), name="traces", daemon=True)
    TRACING.stopper.start()


def stop_tracing() -> None:
    """Send the spans that are left, within `TRACE_STOP_LIMIT`. Call this at the end of a worker."""
    TRACING.tracer = None
    if TRACING.stopper is not None:
        TRACING.ending.set()
        TRACING.stopper.join(TRACE_STOP_LIMIT)


def trace(name: str, attributes: Mapping[str, str] | None = None) -> AbstractContextManager[Any]:
    """Return a context manager that measures its block as a span of the current request, if that is traced.

    Its value is a function that marks the span as failed, with the type of an error. An exception that leaves the block
    does the same. Spans inside of the block are children of this one.
    """
    found = current_record.get().trace
    return UNTRACED if found is None else found.measure(name, attributes)
