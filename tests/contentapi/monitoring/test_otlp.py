"""Which requests are sampled, and the spans that a receiver gets."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from contentapi.monitoring.otlp import OpenTelemetryTracer
from contentapi.monitoring.records import RequestRecord, current_record
from contentapi.monitoring.traces import TRACING, trace
from contentapi.server.observed_requests import observe_request
from tests.otlp_receiver import OtlpReceiver, build_tree
from tests.wsgi import call_application

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = "00f067aa0ba902b7"

Start = Callable[..., OpenTelemetryTracer]


@pytest.fixture
def start(receiver: OtlpReceiver, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Return a function that starts a tracer with the variables of the SDK."""

    def start_tracer(**variables: str) -> OpenTelemetryTracer:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        TRACING.tracer = tracer = OpenTelemetryTracer()
        return tracer

    yield start_tracer
    TRACING.tracer = None


def respond(status: int, records: list[RequestRecord]) -> Callable[..., list[bytes]]:
    def handle(_: dict[str, Any], start_response: Any) -> list[bytes]:
        record = current_record.get()
        record.status, record.operation = status, "/posts/{post_id}"
        records.append(record)
        with trace("work"):
            record.add_statement(0.001, b"SELECT $1, 'secret'")
        start_response(f"{status} Status", [("X-Request-ID", record.id)])
        return [b""]

    return handle


def send(status: int = 200, **headers: Any) -> tuple[RequestRecord, dict[str, str]]:
    records: list[RequestRecord] = []
    handle = respond(status, records)
    response = call_application(
        lambda environ, start: observe_request(handle, environ, start), "GET", "/posts/17", **headers
    )
    return records[0], response.headers


def test_trace_without_a_parent_has_the_id_of_the_request(start: Start, receiver: OtlpReceiver) -> None:
    tracer = start()

    record, headers = send()

    tracer.stop()
    assert record.trace_id == record.id
    assert re.fullmatch(f"00-{record.id}-[0-9a-f]{{16}}-0[13]", headers["traceresponse"])
    assert {span.trace_id for span in receiver.spans} == {record.id}
    assert build_tree(receiver.spans, "") == [("GET /posts/{post_id}", [("work", ["SELECT"])])]


def test_request_that_is_not_sampled_has_a_trace_id_and_no_span(start: Start, receiver: OtlpReceiver) -> None:
    tracer = start(OTEL_TRACES_SAMPLER="parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG="0")

    record, headers = send()

    tracer.stop()
    assert (record.trace_id, record.trace) == (record.id, None)
    assert "traceresponse" not in headers
    assert receiver.spans == []


@pytest.mark.parametrize(
    ("sampler", "flags", "is_sampled"),
    [
        ("parentbased_always_on", "01", True),
        ("parentbased_always_on", "00", False),
        ("always_off", "01", False),
    ],
)
def test_sampler_decides_about_a_request_with_a_parent(
    start: Start, receiver: OtlpReceiver, sampler: str, flags: str, *, is_sampled: bool
) -> None:
    tracer = start(OTEL_TRACES_SAMPLER=sampler)

    record, _ = send(HTTP_TRACEPARENT=f"00-{TRACE}-{SPAN}-{flags}")

    tracer.stop()
    assert record.trace_id == TRACE
    assert bool(build_tree(receiver.spans, SPAN)) == is_sampled


def test_fault_of_the_server_is_a_failed_span(start: Start, receiver: OtlpReceiver) -> None:
    tracer = start()

    send(503)

    tracer.stop()
    request = receiver.spans[-1]
    assert (request.failed, request.attributes["error.type"]) == (True, "503")
    assert request.attributes["http.response.status_code"] == 503


def test_health_check_is_not_traced(start: Start, receiver: OtlpReceiver) -> None:
    tracer = start()

    call_application(lambda environ, start: observe_request(respond(200, []), environ, start), "GET", "/readyz")

    tracer.stop()
    assert receiver.spans == []


def test_service_name_of_the_environment_is_used(start: Start, receiver: OtlpReceiver) -> None:
    tracer = start(OTEL_RESOURCE_ATTRIBUTES="service.name=blog,deployment.environment.name=test")

    send()

    tracer.stop()
    resource = receiver.spans[-1].resource
    assert (resource["service.name"], resource["deployment.environment.name"]) == ("blog", "test")
