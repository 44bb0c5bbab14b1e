"""Traces without a server: the header `traceparent`, statements without literals, and what is imported when."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contentapi.monitoring.otlp import CollectorLog, describe_statement
from contentapi.monitoring.records import RequestRecord

ROOT = Path(__file__).resolve().parents[3]
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = "00f067aa0ba902b7"
SERVE = """
import json, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "contentapi.settings"
os.environ["CONTENTAPI_PROCESS"] = "server"
import django
django.setup()
import contentapi.server.complete_requests, contentapi.graphql.endpoint, contentapi.rate_limits.counters
from contentapi.conf import conf
from contentapi.conf.environment import read_environment
from contentapi.monitoring.traces import TRACING, start_tracing, stop_tracing
given = os.environ.copy()
for variables in json.loads(sys.argv[1]):
    os.environ.clear()
    os.environ.update(given | variables)
    django.conf.settings.ENVIRONMENT, _ = read_environment(os.environ)
    conf.clear()
    start_tracing()
    print(TRACING.tracer is not None, any(name.startswith("opentelemetry") for name in sys.modules))
    stop_tracing()
"""
URL = "http://127.0.0.1:9"


VALID = [f"00-{TRACE}-{SPAN}-01", f"00-{TRACE}-{SPAN}-00", f" 00-{TRACE}-{SPAN}-01 ", f"01-{TRACE}-{SPAN}-01-more"]
INVALID = [
    f"00-{TRACE}-{SPAN}-01-more",
    f"ff-{TRACE}-{SPAN}-01",
    f"00-{TRACE.upper()}-{SPAN}-01",
    f"00-{'0' * 32}-{SPAN}-01",
    f"00-{TRACE}-{'0' * 16}-01",
    f"00-{TRACE}-{SPAN}",
    f"00-{TRACE}-{SPAN}-01\nforged",
    "",
]


def test_trace_id_is_that_of_a_valid_header() -> None:
    for header in (*VALID, *INVALID):
        found = RequestRecord("GET", "/posts", traceparent=header).find_trace_id()
        assert found == (TRACE if header in VALID else ""), header


UNTRACED: list[dict[str, str]] = [
    {},
    {"OTEL_EXPORTER_OTLP_ENDPOINT": ""},
    {"OTEL_EXPORTER_OTLP_ENDPOINT": URL, "OTEL_SDK_DISABLED": "true"},
    {"OTEL_EXPORTER_OTLP_ENDPOINT": URL, "OTEL_TRACES_EXPORTER": "none"},
]
TRACED = [{"OTEL_EXPORTER_OTLP_ENDPOINT": URL}, {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{URL}/v1/traces"}]


@pytest.mark.servers
def test_opentelemetry_is_imported_only_to_send_traces(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    environment = {**kept, "CONTENTAPI_VAR": str(tmp_path)}
    command = [sys.executable, "-c", SERVE, json.dumps(UNTRACED + TRACED)]

    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)

    assert run.stdout.splitlines() == ["False False"] * len(UNTRACED) + ["True True"] * len(TRACED), run.stderr


@pytest.mark.parametrize(
    ("sql", "summary", "text"),
    [
        ('SELECT "a" FROM "blog_post" U0 WHERE U0."id" = $1 LIMIT 25', "SELECT blog_post", None),
        ("SELECT set_config('x', '{\"by\": 17}', true)", "SELECT", "SELECT set_config(?, ?, true)"),
        ("SELECT E'it\\'s' || 'a''b' || 'c\\' FROM t", "SELECT t", "SELECT ? || ? || ? FROM t"),
        ("SELECT $$secret$$, $tag$it's$tag$, $1", "SELECT", "SELECT ?, ?, $1"),
        (
            "UPDATE users_apikey SET n = 1.5 WHERE i = -3",
            "UPDATE users_apikey",
            "UPDATE users_apikey SET n = ? WHERE i = -?",
        ),
        ('SAVEPOINT "s140_x2"', "SAVEPOINT", "SAVEPOINT ?"),
        ("", "statement", ""),
    ],
)
def test_statement_is_described_without_its_literals(sql: str, summary: str, text: str | None) -> None:
    described = describe_statement(sql)

    assert described["db.query.summary"] == summary
    assert described["db.query.text"] == (sql.replace("25", "?") if text is None else text)


def test_statements_that_differ_in_literals_have_one_fingerprint() -> None:
    described = (describe_statement(f"SELECT {value}") for value in ("1", "'x'", "a"))

    first, second, other = (each["db.statement.fingerprint"] for each in described)
    assert first == second != other


@pytest.mark.property
@given(st.text(max_size=30))
def test_no_quoted_value_is_in_a_described_statement(value: str) -> None:
    marked = f"<secret {value}"
    quoted = marked.replace("'", "''")
    escaped = marked.replace("\\", "\\\\").replace("'", "\\'")

    for sql in (f"SELECT '{quoted}'", f"SELECT  E'{escaped}', '{quoted}'"):
        assert "<secret" not in describe_statement(sql)["db.query.text"]


def test_messages_of_opentelemetry_are_one_line_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    handler = CollectorLog()

    for _ in range(3):
        error = ConnectionError("http://user:password@collector")
        handler.emit(logging.LogRecord("x", logging.ERROR, "", 0, "Failed: %s", (error,), None))
    assert handler.line.timer is not None
    handler.line.timer.cancel()

    assert handler.line.interval == 60
    assert caplog.messages == ["Traces are not sent. Failed: ConnectionError (messages since the last line: 1)"]
