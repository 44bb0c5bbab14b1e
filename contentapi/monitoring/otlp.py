"""Sends traces by OpenTelemetry. Import this module only if traces are sent: it takes a third of a second.

The standard variables OTEL_* choose the sampler, the limits, the resource and the time limits of the exporter.
"""

import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache, partial
from hashlib import sha256
from typing import Any

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.trace import Span, SpanKind, StatusCode, get_current_span, set_span_in_context
from opentelemetry.trace import Tracer as OTelTracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from contentapi.conf.timeouts import TRACE_LOG_INTERVAL
from contentapi.monitoring.records import RequestRecord, current_record
from contentapi.monitoring.repeated import RepeatedLine

LOG = logging.getLogger("contentapi.traces")
DEFAULT_SERVICE = "contentapi"
STANDARD_METHODS = frozenset({"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"})
UNTRACED_PATHS = frozenset({"/healthz", "/readyz"})
GRAPHQL = "/graphql"
NO_PARENT = Context()
MAX_TEXT = 4000  # characters of a statement in a span
HEADERS = {"traceparent": "HTTP_TRACEPARENT", "tracestate": "HTTP_TRACESTATE"}
# Literals in the text of a statement: strings, dollar-quoted strings, numbers, and the names of savepoints.
LITERAL = re.compile(
    r"""\bE'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|\$(\w*)\$.*?\$\1\$|(?<![\w$".])\d+(?:\.\d+)?(?![\w"])|"s\d+_x\d+\"""",
    re.DOTALL,
)
TABLE = re.compile(r'\b(?:FROM|INTO|UPDATE)\s+"?(\w+)"?')
OPERATION = re.compile(r"\s*([A-Za-z]+)")


@lru_cache(512)
def describe_statement(sql: str) -> dict[str, str]:
    """Return the attributes of a span: operation and first table, the text without literals, and its hash."""
    text = LITERAL.sub("?", sql)
    operation = OPERATION.match(text)
    table = TABLE.search(text)
    summary = " ".join(part for part in (operation and operation[1].upper(), table and table[1]) if part)
    return {
        "db.system.name": "postgresql",
        "db.query.summary": summary or "statement",
        "db.query.text": text[:MAX_TEXT],
        "db.statement.fingerprint": sha256(text.encode()).hexdigest()[:16],
    }


class TracedRequest:
    """The spans of one request. Its thread alone uses it."""

    def __init__(self, tracer: OTelTracer, span: Span, context: Context) -> None:
        self.tracer = tracer
        self.span = span
        self.context = context  # its span is the parent of the next one

    @property
    def traceresponse(self) -> str:
        """The header of the response with the trace and the span of the request, as in W3C Trace Context."""
        identity = self.span.get_span_context()
        return f"00-{identity.trace_id:032x}-{identity.span_id:016x}-{int(identity.trace_flags):02x}"

    @contextmanager
    def measure(self, name: str, attributes: Mapping[str, str] | None = None) -> Iterator[Callable[[str], None]]:
        span = self.tracer.start_span(name, self.context, attributes=attributes)
        outer, self.context = self.context, set_span_in_context(span, Context())
        try:
            yield partial(set_error, span)
        except BaseException as error:
            set_error(span, type(error).__name__)
            raise
        finally:
            self.context = outer
            span.end()

    def add_statement(self, seconds: float, sql: object, error_type: str) -> None:
        attributes = describe_statement(sql.decode() if isinstance(sql, bytes) else str(sql))
        end = time.time_ns()
        start = end - int(seconds * 1e9)
        name = attributes["db.query.summary"]
        span = self.tracer.start_span(name, self.context, SpanKind.CLIENT, attributes=attributes, start_time=start)
        if error_type:
            set_error(span, error_type)
        span.end(end)

    def finish(self, record: RequestRecord) -> None:
        span = self.span
        method = record.method if record.method in STANDARD_METHODS else "_OTHER"
        is_graphql = record.path == GRAPHQL
        is_operation = is_graphql and record.operation != GRAPHQL  # a label like `query posts`
        span.update_name(record.operation if is_operation else f"{method} {record.operation}".rstrip())
        span.set_attributes(
            {
                "http.request.method": method,
                "http.response.status_code": record.status,
                "http.response.body.size": record.size,
                "contentapi.request_id": record.id,
                "contentapi.cost": record.cost,
                "contentapi.wait_seconds": record.waited,
            }
        )
        if record.operation:
            span.set_attribute("http.route", record.path if is_graphql else record.operation)
        if record.status >= 500:
            set_error(span, str(record.status))
        span.end()


def set_error(span: Span, error_type: str) -> None:
    """Mark a span as failed, with the type of the error. Its message may hold values of rows."""
    span.set_attribute("error.type", error_type)
    span.set_status(StatusCode.ERROR)


class OpenTelemetryTracer:
    """Begins the spans of requests and sends them in the background. Create it after the fork of a worker."""

    def __init__(self) -> None:
        logger = logging.getLogger("opentelemetry")
        logger.handlers, logger.propagate = [CollectorLog()], False
        resource = Resource.create({SERVICE_NAME: DEFAULT_SERVICE}).merge(OTELResourceDetector().detect())
        self.provider = TracerProvider(resource=resource, shutdown_on_exit=False, id_generator=RequestIdGenerator())
        self.exporter = OTLPSpanExporter()
        self.provider.add_span_processor(BatchSpanProcessor(self.exporter))
        self.tracer = self.provider.get_tracer("contentapi")
        self.propagator = TraceContextTextMapPropagator()

    def begin(self, record: RequestRecord, environ: Mapping[str, Any]) -> None:
        """Set `trace_id` of the record and, if the request is sampled, `trace`."""
        if record.path in UNTRACED_PATHS:
            return
        parent = NO_PARENT
        if "HTTP_TRACEPARENT" in environ:
            carrier = {name: environ[key] for name, key in HEADERS.items() if key in environ}
            parent = self.propagator.extract(carrier, NO_PARENT)
        if parent is NO_PARENT or not get_current_span(parent).get_span_context().is_valid:
            record.trace_id = record.id  # the id of the request is 128 random bits, like that of a trace
            if not self.is_sampled(int(record.id, 16)):
                return
        attributes = {"url.scheme": environ.get("wsgi.url_scheme", "http")}
        span = self.tracer.start_span(record.method, parent, SpanKind.SERVER, attributes=attributes)
        record.trace_id = f"{span.get_span_context().trace_id:032x}"
        if span.is_recording():
            record.trace = TracedRequest(self.tracer, span, set_span_in_context(span, Context()))

    def is_sampled(self, trace_id: int) -> bool:
        """Return whether to sample a request without a parent, without the work of `start_span` for a dropped one."""
        result = self.provider.sampler.should_sample(NO_PARENT, trace_id, "", SpanKind.SERVER)
        return result.decision is not Decision.DROP

    def stop(self) -> None:
        """Send what is left. This may take as long as the collector takes."""
        self.provider.shutdown()


class RequestIdGenerator(RandomIdGenerator):
    """Makes the id of a request the id of its trace, for which `OpenTelemetryTracer.is_sampled` has decided."""

    def generate_trace_id(self) -> int:
        return int(current_record.get().id, 16)


class CollectorLog(logging.Handler):
    """Replaces the log lines of OpenTelemetry by one line a minute, without URLs and texts of exceptions."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.line = RepeatedLine(TRACE_LOG_INTERVAL, write_failures)

    def emit(self, record: logging.LogRecord) -> None:
        self.line.add(describe_line(record))


def write_failures(messages: int, last: str) -> None:
    LOG.warning("Traces are not sent. %s (messages since the last line: %s)", last, messages)


def describe_line(record: logging.LogRecord) -> str:
    """Return the message with the types of its exceptions. Their texts may contain the address."""
    if not isinstance(record.args, tuple):
        return str(record.msg)
    values = [type(value).__name__ if isinstance(value, BaseException) else value for value in record.args]
    return str(record.msg) % tuple(values)
