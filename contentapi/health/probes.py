"""The responses to `/healthz` (the server is alive) and `/readyz` (it can serve), for load balancers and platforms.

Both work for any Host, without credentials, outside of the rate limits, and without a connection slot.
`contentapi.server.complete_requests` answers them before anything else.
"""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs

import msgspec

from contentapi.core.errors import MethodNotAllowed
from contentapi.health.readiness import get_readiness
from contentapi.health.results import CheckResult, Results
from contentapi.http.body import JSON
from contentapi.http.error_response import error_response
from contentapi.http.response import Response

ALLOWED_METHODS = ("GET", "HEAD")
RETRY_AFTER = "5"  # seconds
MAX_QUERY = 1000  # characters
COMMON_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def respond_alive(_: Mapping[str, Any]) -> Response:
    return Response(HTTPStatus.OK, b'{"status":"alive"}', {"Content-Type": JSON})


def respond_ready(environ: Mapping[str, Any]) -> Response:
    """Respond with 200, or with 503 if a check fails. `?exclude=redis,worker` makes failures of checks warnings."""
    return build_readiness_response(get_readiness().read(), environ)


def build_readiness_response(results: Results, environ: Mapping[str, Any]) -> Response:
    results = exclude_checks(results, environ.get("QUERY_STRING", "")[:MAX_QUERY])
    checks = {name: describe(result) for name, result in results.items()}
    if any(result.is_problem for result in results.values()):
        body = msgspec.json.encode({"status": "not ready", "checks": checks})
        return Response(HTTPStatus.SERVICE_UNAVAILABLE, body, {"Content-Type": JSON, "Retry-After": RETRY_AFTER})
    body = msgspec.json.encode({"status": "ready", "checks": checks})
    return Response(HTTPStatus.OK, body, {"Content-Type": JSON})


def exclude_checks(results: Results, query: str) -> Results:
    for name in ",".join(parse_qs(query).get("exclude", [])).split(","):
        if name in results and results[name].is_problem:
            results = results | {name: results[name]._replace(status="warning")}
    return results


def describe(result: CheckResult) -> dict[str, str]:
    return {"status": result.status, "reason": result.reason} if result.reason else {"status": result.status}


Probes = Mapping[str, Callable[[Mapping[str, Any]], Response]]
PROBES: Probes = {"/healthz": respond_alive, "/readyz": respond_ready}


def respond_to_probe(environ: Mapping[str, Any], probes: Probes = PROBES) -> Response:
    """Return the response to a request for one of the probes. A response to HEAD has no body."""
    method = environ["REQUEST_METHOD"]
    if method not in ALLOWED_METHODS:
        response = error_response(MethodNotAllowed(method, ALLOWED_METHODS), environ.get("HTTP_ACCEPT", ""))
    else:
        response = probes[environ["PATH_INFO"]](environ)
    length = {"Content-Length": str(len(response.body))}
    body = b"" if method == "HEAD" else response.body
    return Response(response.status, body, {**COMMON_HEADERS, **response.headers, **length})
