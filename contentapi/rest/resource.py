"""The resource view: one request, from its WSGI environ to the reply."""

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from http import HTTPStatus
from typing import Any, ClassVar, TypeVar

from django.http import HttpRequest, HttpResponse, QueryDict
from django.views.decorators.csrf import csrf_exempt

from contentapi.auth.authentication import HEADERS, admitted
from contentapi.core.entity_tags import Expected
from contentapi.core.errors import MethodNotAllowed, UnsupportedMediaType, from_exception
from contentapi.core.identity import Actor
from contentapi.core.pagination import Page, asked_page
from contentapi.http.api_version import VERSION, media_type_for, require_known_version, split_path
from contentapi.http.body import JSON, is_json, read_bytes
from contentapi.http.conditional import conditional, expected_version, require_fitting_conditions
from contentapi.http.error_response import failure
from contentapi.http.request_id import Response
from contentapi.http.response import Answer
from contentapi.rate_limits.account import Account
from contentapi.rate_limits.middleware import handles_rate_limit
from contentapi.rest.idempotency import once
from contentapi.rest.request_bodies import Body, decode

MERGE_PATCH = "application/merge-patch+json"
METHODS = ("GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS")  # in the order of Allow
READS = ("GET", "HEAD")
SAFE = (*READS, "OPTIONS")
VARY = ", ".join(["Accept", "X-API-Version", *HEADERS])
BODILESS = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)

B = TypeVar("B", bound=Body)


class Asked:
    """A request, as a method of a resource sees it. `prefix` is what its path begins with before the resource's."""

    def __init__(self, actor: Actor, environ: Mapping[str, Any]) -> None:
        self.actor = actor
        self.environ = environ
        self.method: str = environ["REQUEST_METHOD"]
        self.prefix, self.path = split_path(environ["PATH_INFO"])

    def page(self, *filters: str) -> Page:
        """Return which page of the collection is asked for, by which of these filters. Raises `Malformed`."""
        query = self.environ.get("QUERY_STRING", "").encode("latin-1")
        return asked_page(QueryDict(query).lists() if query else (), self.path, filters, self.prefix)

    @cached_property
    def content(self) -> bytes:
        """The bytes of the body. Raises `TooLarge` or `Malformed`."""
        return read_bytes(self.environ)

    def body(self, kind: type[B]) -> B:
        """Decode the body. Raises `UnsupportedMediaType`, `TooLarge` or `Malformed`."""
        patches = (MERGE_PATCH,) if self.method == "PATCH" else ()
        if not is_json(self.environ.get("CONTENT_TYPE", ""), (JSON, *patches)):
            raise UnsupportedMediaType(f"Send the body as {' or '.join((JSON, *patches))} in UTF-8.")
        return decode(self.content, kind)

    def body_if_any(self, kind: type[B]) -> B:
        """Decode the body of an action, which may have none."""
        is_chunked = bool(self.environ.get("HTTP_TRANSFER_ENCODING"))
        return self.body(kind) if is_chunked or self.environ.get("CONTENT_LENGTH") not in (None, "", "0") else kind()

    def expected_version(self, sent: str | None = None) -> Expected:
        """Return which version the client expects, by If-Match and by what it sent of it. Raises `Malformed`."""
        return expected_version(self.environ.get("HTTP_IF_MATCH"), sent)


class Resource:
    """A resource. Its methods `get`, `post`, `patch` and `delete` are those that it allows."""

    methods: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        own = {method for method in METHODS if hasattr(cls, method.lower())} | {"OPTIONS"}
        cls.methods = tuple(method for method in METHODS if method in own or (method == "HEAD" and "GET" in own))

    @classmethod
    def as_view(cls) -> Callable[..., HttpResponse]:
        resource = cls()

        @handles_rate_limit
        @csrf_exempt
        def view(request: HttpRequest, **ids: str) -> HttpResponse:
            status, headers, body = resource.respond(request.META, ids)
            response = HttpResponse(body, status=status, headers=headers)
            if "Content-Type" not in headers:
                del response["Content-Type"]
            return response

        vars(view)["resource"] = resource
        return view

    def respond(self, environ: Mapping[str, Any], ids: Mapping[str, str]) -> Response:
        """Answer a request, also when something goes wrong."""
        account = Account(environ)
        is_public = False
        try:
            asked = Asked(admitted(environ, account), environ)
            is_public = asked.actor.is_anonymous and asked.method in SAFE
            answer = self.answer(asked, account, ids)
        except Exception as exception:  # noqa: BLE001 - the outermost edge: every failure has the same shape
            answer = failure(from_exception(exception), environ.get("HTTP_ACCEPT", ""))
        headers = {
            **account.headers,
            **answer.headers,
            "Cache-Control": "no-cache" if is_public else "no-store",
            "Vary": VARY,
            "X-API-Version": VERSION,
        }
        return reply(answer, headers, environ["REQUEST_METHOD"])

    def answer(self, asked: Asked, account: Account, ids: Mapping[str, str]) -> Answer:
        """Do what is asked. A write of somebody known is charged as one, before anything is done."""
        if asked.method not in self.methods:
            raise MethodNotAllowed(asked.method, self.methods)
        if asked.method == "OPTIONS":
            return Answer(HTTPStatus.NO_CONTENT, headers={"Allow": ", ".join(self.methods)})
        require_known_version(asked.environ)
        media_type = media_type_for(asked.environ, asked.prefix)
        if asked.method in READS:
            return conditional(self.act(asked, ids, media_type), asked.environ)
        require_fitting_conditions(asked.environ, creates=asked.method == "POST" and "GET" in self.methods)
        account.charge(1, writes=1)
        if asked.method == "POST" and "HTTP_IDEMPOTENCY_KEY" in asked.environ:
            return once(asked.actor, asked.environ, asked.content, partial(self.act, asked, ids, media_type))
        return self.act(asked, ids, media_type)

    def act(self, asked: Asked, ids: Mapping[str, str], media_type: str) -> Answer:
        method = "get" if asked.method in READS else asked.method.lower()
        act: Callable[..., Answer] = getattr(self, method)
        status, body, headers = act(asked, **ids)
        own = {"Content-Type": media_type, **headers} if body else dict(headers)
        if "Location" in own:
            own["Location"] = asked.prefix + own["Location"]
        return Answer(status, body, own)


def reply(answer: Answer, headers: dict[str, str], method: str) -> Response:
    """Return an answer as it is sent: one to HEAD, and 304, has the length of the body that it does not have."""
    if answer.status == HTTPStatus.NO_CONTENT:
        return Response(answer.status, headers, b"")
    headers["Content-Length"] = str(len(answer.body))
    if answer.status == HTTPStatus.NOT_MODIFIED:
        del headers["Content-Type"]
    return Response(answer.status, headers, b"" if method == "HEAD" or answer.status in BODILESS else answer.body)
