"""The resource view: one request, from its WSGI environ to the reply."""

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from http import HTTPStatus
from typing import Any, ClassVar, TypeVar

from django.http import HttpRequest, HttpResponse, QueryDict
from django.views.decorators.csrf import csrf_exempt

from contentapi.auth.authentication import HEADERS, authenticate_request
from contentapi.core.entity_tags import ExpectedVersion
from contentapi.core.errors import MethodNotAllowed, UnsupportedMediaType, to_api_error
from contentapi.core.identity import Actor
from contentapi.http.api_version import VERSION, negotiate_rest_media_type, require_known_version, split_path
from contentapi.http.body import JSON, is_json, read_bytes
from contentapi.http.conditional import apply_conditions, reject_misplaced_preconditions, resolve_expected_version
from contentapi.http.error_response import error_response
from contentapi.http.request_id import Response
from contentapi.http.response import Answer
from contentapi.rate_limits.account import Account
from contentapi.rate_limits.middleware import handles_rate_limit
from contentapi.rest.idempotency import replay_or_execute
from contentapi.rest.pages import PageRequest, parse_page_params
from contentapi.rest.request_bodies import Body, decode_body

MERGE_PATCH = "application/merge-patch+json"
METHODS = ("GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS")  # in the order of Allow
READS = ("GET", "HEAD")
SAFE = (*READS, "OPTIONS")
VARY = ", ".join(["Accept", "X-API-Version", *HEADERS])
BODILESS = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)

B = TypeVar("B", bound=Body)


class ResourceRequest:
    """A request, as a method of a resource sees it. `prefix` is what its path begins with before the resource's."""

    def __init__(self, actor: Actor, environ: Mapping[str, Any]) -> None:
        self.actor = actor
        self.environ = environ
        self.method: str = environ["REQUEST_METHOD"]
        self.prefix, self.path = split_path(environ["PATH_INFO"])

    def page(self, *filters: str) -> PageRequest:
        """Return which page of the collection is asked for, by which of these filters. Raises `Malformed`."""
        query = self.environ.get("QUERY_STRING", "").encode("latin-1")
        return parse_page_params(QueryDict(query).lists() if query else (), self.path, filters, self.prefix)

    @cached_property
    def content(self) -> bytes:
        """The bytes of the body. Raises `TooLarge` or `Malformed`."""
        return read_bytes(self.environ)

    def body(self, kind: type[B]) -> B:
        """Decode the body. Raises `UnsupportedMediaType`, `TooLarge` or `Malformed`."""
        patches = (MERGE_PATCH,) if self.method == "PATCH" else ()
        if not is_json(self.environ.get("CONTENT_TYPE", ""), (JSON, *patches)):
            raise UnsupportedMediaType(f"Send the body as {' or '.join((JSON, *patches))} in UTF-8.")
        return decode_body(self.content, kind)

    def body_if_any(self, kind: type[B]) -> B:
        """Decode the body of an action, which may have none."""
        is_chunked = bool(self.environ.get("HTTP_TRANSFER_ENCODING"))
        return self.body(kind) if is_chunked or self.environ.get("CONTENT_LENGTH") not in (None, "", "0") else kind()

    def expected_version(self, sent: str | None = None) -> ExpectedVersion:
        """Return which version the client expects, by If-Match and by what it sent of it. Raises `Malformed`."""
        return resolve_expected_version(self.environ.get("HTTP_IF_MATCH"), sent)


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
            status, headers, body = resource.handle(request.META, ids)
            response = HttpResponse(body, status=status, headers=headers)
            if "Content-Type" not in headers:
                del response["Content-Type"]
            return response

        vars(view)["resource"] = resource
        return view

    def handle(self, environ: Mapping[str, Any], ids: Mapping[str, str]) -> Response:
        """Answer a request, also when something goes wrong."""
        account = Account(environ)
        is_public = False
        try:
            asked = ResourceRequest(authenticate_request(environ), environ)
            account.set_actor(asked.actor)
            account.charge_request()
            is_public = asked.actor.is_anonymous and asked.method in SAFE
            answer = self.answer(asked, account, ids)
        except Exception as exception:  # noqa: BLE001 - the outermost edge: every failure has the same shape
            error = account.charge_failure(to_api_error(exception))
            answer = error_response(error, environ.get("HTTP_ACCEPT", ""))
        headers = {
            **account.headers,
            **answer.headers,
            "Cache-Control": "no-cache" if is_public else "no-store",
            "Vary": VARY,
            "X-API-Version": VERSION,
        }
        return build_rest_reply(answer, headers, environ["REQUEST_METHOD"])

    def answer(self, asked: ResourceRequest, account: Account, ids: Mapping[str, str]) -> Answer:
        """Do what is asked. A write of somebody known is charged as one, before anything is done."""
        if asked.method not in self.methods:
            raise MethodNotAllowed(asked.method, self.methods)
        if asked.method == "OPTIONS":
            return Answer(HTTPStatus.NO_CONTENT, headers={"Allow": ", ".join(self.methods)})
        require_known_version(asked.environ)
        media_type = negotiate_rest_media_type(asked.environ, asked.prefix)
        if asked.method in READS:
            return apply_conditions(self.act(asked, ids, media_type), asked.environ)
        reject_misplaced_preconditions(asked.environ, creates=asked.method == "POST" and "GET" in self.methods)
        account.charge_operation(1, writes=1)
        if asked.method == "POST" and "HTTP_IDEMPOTENCY_KEY" in asked.environ:
            return replay_or_execute(
                asked.actor, asked.environ, asked.content, partial(self.act, asked, ids, media_type)
            )
        return self.act(asked, ids, media_type)

    def act(self, asked: ResourceRequest, ids: Mapping[str, str], media_type: str) -> Answer:
        method = "get" if asked.method in READS else asked.method.lower()
        act: Callable[..., Answer] = getattr(self, method)
        status, body, headers = act(asked, **ids)
        own = {"Content-Type": media_type, **headers} if body else dict(headers)
        if "Location" in own:
            own["Location"] = asked.prefix + own["Location"]
        return Answer(status, body, own)


def build_rest_reply(answer: Answer, headers: dict[str, str], method: str) -> Response:
    """Return an answer as it is sent: one to HEAD, and 304, has the length of the body that it does not have."""
    if answer.status == HTTPStatus.NO_CONTENT:
        return Response(answer.status, headers, b"")
    headers["Content-Length"] = str(len(answer.body))
    if answer.status == HTTPStatus.NOT_MODIFIED:
        del headers["Content-Type"]
    return Response(answer.status, headers, b"" if method == "HEAD" or answer.status in BODILESS else answer.body)
