"""The outermost middleware of requests through Django: sets the request id and the record, removes forbidden bodies.

Django's session, authentication and message middleware are limited to HTML pages: API requests have no session.
"""

from collections.abc import Callable
from http import HTTPStatus
from time import perf_counter
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.middleware import AuthenticationMiddleware as DjangoAuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware as DjangoMessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware as DjangoSessionMiddleware
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from contentapi.core.replicas import record_write
from contentapi.http.request_log import finish_request
from contentapi.monitoring.records import NO_REQUEST, RequestRecord, current_record, format_route

STATIC = "/static/"
SAFE = ("GET", "HEAD", "OPTIONS")
Handler = Callable[[HttpRequest], HttpResponse]
PAGES = ("/admin/", "/oauth/authorize", "/oauth/login", "/oauth/logout")


def request_record_middleware(get_response: Handler) -> Handler:
    """Return the middleware. It completes the record of the server, or makes one where no server of ours does."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if current_record.get() is not NO_REQUEST:
            return handle(request)
        record, start = RequestRecord(request.META["REQUEST_METHOD"], request.META["PATH_INFO"]), perf_counter()
        token = current_record.set(record)
        try:
            response = handle(request)
            finish_request(record, perf_counter() - start)
            return response
        finally:
            current_record.reset(token)

    def handle(request: HttpRequest) -> HttpResponse:
        record = current_record.get()
        response = get_response(request)
        response["X-Request-ID"] = record.id
        # WSGI servers would send the body of a response to HEAD, and the Content-Length of a 204.
        if request.method == "HEAD" and not response.streaming:
            response.content = b""
        if response.status_code == HTTPStatus.NO_CONTENT:
            del response["Content-Length"]
        record.status = response.status_code
        record.size = measure_body(response)
        record.operation = record.operation or get_route(request)
        if response.status_code < HTTPStatus.INTERNAL_SERVER_ERROR:  # the session can be read
            record.credential = record.credential or get_session_credential(request)
        return response

    return middleware


def measure_body(response: HttpResponse) -> int:
    """Return the number of bytes of a response's body. A file has a Content-Length."""
    if response.streaming:
        length = response.get("Content-Length", "")
        return int(length) if length.isdecimal() else 0
    return len(response.content)


def get_route(request: HttpRequest) -> str:
    """Return the pattern of the URL, like `/admin/blog/post/{object_id}/change/`."""
    if request.resolver_match is not None:
        return format_route(request.resolver_match.route)
    return STATIC if request.path_info.startswith(STATIC) else ""


def get_session_credential(request: HttpRequest) -> str:
    """Return the user of a session, like `user:17`, if the request has used its session."""
    session = getattr(request, "session", None)
    user_id = session.get(SESSION_KEY) if session is not None and session.accessed else None
    return f"user:{user_id}" if user_id else ""


class BrowserOnlyMiddleware(MiddlewareMixin):
    """Skips the middleware for requests to paths that are not pages."""

    def __call__(self, request: HttpRequest) -> Any:
        return super().__call__(request) if request.path_info.startswith(PAGES) else self.get_response(request)


class SessionMiddleware(BrowserOnlyMiddleware, DjangoSessionMiddleware):
    pass


class AuthenticationMiddleware(BrowserOnlyMiddleware, DjangoAuthenticationMiddleware):
    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """After a write of a person who is logged in, let their next reads of the API see it."""
        user = getattr(request, "_cached_user", None)  # set when a view has used `request.user`
        if request.method not in SAFE and user is not None:
            record_write(user.pk)
        return response


class MessageMiddleware(BrowserOnlyMiddleware, DjangoMessageMiddleware):
    pass
