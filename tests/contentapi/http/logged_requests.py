"""Requests on the two paths through the server, and the lines that they log."""

import json
import logging
from functools import cache, partial
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler

from contentapi.server.fast_path import FastPath, Utf8Request
from contentapi.server.observed_requests import observe_request


class Handler(WSGIHandler):
    request_class = Utf8Request


@cache
def get_applications() -> dict[str, Any]:
    """Return the two paths of a request: the fast one, and Django's handler with its middleware."""
    return {"fast path": partial(observe_request, FastPath(WSGIHandler())), "Django": Handler()}


def encode_query(query: str, **variables: Any) -> bytes:
    return json.dumps({"query": query, "variables": variables}).encode()


def get_logged_line(log: pytest.LogCaptureFixture, level: int = logging.INFO) -> str:
    """Return the only line that was logged."""
    [record] = log.records
    assert (record.levelno, record.name) == (level, "contentapi.requests")
    return record.getMessage()
