"""Resource-oriented HTTP: the resource view, JSON in and JSON out, and how a failure is said.

    class PostResource(Resource):
        def get(self, asked: Asked, post_id: str) -> Answer:
            return ok(POST.one(selectors.post_by_id(asked.actor, post_id), asked.actor))

    path("posts/<str:post_id>", PostResource.as_view())

A method is a sentence: what is asked for goes to a selector or a service, and what comes back is an `Answer`. All else
is said here once: who asks and what it costs them, methods, media types, bodies, failures. Cookies are no credential.
"""

import logging
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from http import HTTPStatus
from typing import Any, ClassVar, NamedTuple, TypeVar, cast

import msgspec
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.cache import patch_vary_headers
from django.views.decorators.csrf import csrf_exempt
from msgspec import UNSET

from contentapi import bodies
from contentapi.admission import HEADERS, admitted
from contentapi.bodies import JSON, is_json, read_bytes
from contentapi.errors import (
    ApiError,
    Forbidden,
    Internal,
    Malformed,
    MethodNotAllowed,
    NotAcceptable,
    NotFound,
    UnsupportedMediaType,
    from_exception,
)
from contentapi.identity import ANONYMOUS, Actor
from contentapi.negotiation import preferred_type
from contentapi.pagination import Page, asked_page
from contentapi.rates import Account
from contentapi.requests import charges_itself, current_request_id
from contentapi.text import require_storable

LOG = logging.getLogger("contentapi.rest")

PROBLEM = "application/problem+json"
MERGE_PATCH = "application/merge-patch+json"
METHODS = ("GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS")  # in the order of Allow
SAFE = ("GET", "HEAD", "OPTIONS")


class Body(msgspec.Struct, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """The body of a request. A field without a default is required; one of `UNSET` may be left out."""

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, datetime):
                setattr(self, name, in_utc(value))

    def given(self) -> dict[str, Any]:
        """Return the fields that were sent, by their names in Python."""
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        return {name: value for name, value in values.items() if value is not UNSET}


def in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("a time is in the years 1 to 9999 in UTC") from None


class Nothing(Body):
    """A body with nothing in it: `{}`, or none at all."""


B = TypeVar("B", bound=Body)


class Asked(NamedTuple):
    """A request, as a method of a resource sees it."""

    actor: Actor
    request: HttpRequest

    def page(self, *filters: str) -> Page:
        """Return which page of the collection is asked for, by which of these filters. Raises `Malformed`."""
        return asked_page(self.request.GET.lists(), self.request.path_info, filters)

    def body(self, kind: type[B]) -> B:
        """Decode the body. Raises `UnsupportedMediaType`, `TooLarge` or `Malformed`."""
        patches = (MERGE_PATCH,) if self.request.method == "PATCH" else ()
        if not is_json(self.request.META.get("CONTENT_TYPE", ""), (JSON, *patches)):
            raise UnsupportedMediaType(f"Send the body as {' or '.join((JSON, *patches))} in UTF-8.")
        return decode(read_bytes(self.request.META), kind)

    def body_if_any(self, kind: type[B]) -> B:
        """Decode the body of an action, which may have none."""
        environ = self.request.META
        is_chunked = bool(environ.get("HTTP_TRANSFER_ENCODING"))
        return self.body(kind) if is_chunked or environ.get("CONTENT_LENGTH") not in (None, "", "0") else kind()


class Answer(NamedTuple):
    """What a method of a resource answers: a status, a body in JSON and headers."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = {}


def ok(body: bytes) -> Answer:
    return Answer(HTTPStatus.OK, body)


def created(location: str, body: bytes) -> Answer:
    return Answer(HTTPStatus.CREATED, body, {"Location": location})


def no_content() -> Answer:
    return Answer(HTTPStatus.NO_CONTENT)


class Resource:
    """A resource. Its methods `get`, `post`, `patch` and `delete` are those that it allows."""

    methods: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        own = {method for method in METHODS if hasattr(cls, method.lower())} | {"OPTIONS"}
        cls.methods = tuple(method for method in METHODS if method in own or (method == "HEAD" and "GET" in own))

    @classmethod
    def as_view(cls) -> Callable[..., HttpResponse]:
        resource = cls()

        @charges_itself
        @csrf_exempt
        def view(request: HttpRequest, **ids: str) -> HttpResponse:
            return resource.respond(request, ids)

        return view

    def respond(self, request: HttpRequest, ids: Mapping[str, str]) -> HttpResponse:
        """Answer a request, also when something goes wrong."""
        account = Account(request.META)
        asked = None
        response: HttpResponse
        try:
            asked = Asked(admitted(request.META, account), request)
            response = response_of(self.answer(asked, account, ids))
        except Exception as exception:  # noqa: BLE001 - the outermost edge: every failure has the same shape
            response = failure_response(exception, accept_of(request))
        for name, value in account.headers.items():
            response.setdefault(name, value)
        is_public = asked is not None and asked.actor == ANONYMOUS and request.method in SAFE
        response["Cache-Control"] = "no-cache" if is_public else "no-store"
        patch_vary_headers(response, ["Accept", *HEADERS])
        return without_body(response) if request.method == "HEAD" else response

    def answer(self, asked: Asked, account: Account, ids: Mapping[str, str]) -> Answer:
        """Do what is asked. A write of somebody known is charged as one, before anything is done."""
        method = asked.request.method or ""
        if method not in self.methods:
            raise MethodNotAllowed(method, self.methods)
        if method == "OPTIONS":
            return Answer(HTTPStatus.NO_CONTENT, headers={"Allow": ", ".join(self.methods)})
        require_acceptable(accept_of(asked.request))
        if method not in SAFE:
            account.charge(1, is_write=True)
        act: Callable[..., Answer] = getattr(self, "get" if method == "HEAD" else method.lower())
        return act(asked, **ids)


def accept_of(request: HttpRequest) -> str:
    return request.headers.get("Accept", "")


def require_acceptable(accept: str) -> None:
    if preferred_type(accept, [JSON]) is None and not wants_problem(accept):
        raise NotAcceptable(f"An answer is {JSON}, and Accept does not allow it.")


def response_of(answer: Answer) -> HttpResponse:
    response = HttpResponse(answer.body, status=answer.status, headers=dict(answer.headers), content_type=JSON)
    if answer.status == HTTPStatus.NO_CONTENT:
        del response["Content-Type"]
    return response


def without_body(response: HttpResponse) -> HttpResponse:
    """Return the answer to HEAD: that to GET, with the length of its body in place of the body."""
    response["Content-Length"] = str(len(response.content))
    response.content = b""
    return response


# --- Bodies ---------------------------------------------------------------------------------------------


def decode(content: bytes, kind: type[B]) -> B:
    """Decode a JSON object. Raises `Malformed`, naming the place."""
    body, whole = bodies.decode(content, cast("msgspec.json.Decoder[B]", decoder(kind)), "what is expected")
    require_storable(whole)
    return body


@cache
def decoder(kind: type[B]) -> msgspec.json.Decoder[B]:
    return msgspec.json.Decoder(kind)


# --- Failures -------------------------------------------------------------------------------------------


def error_response(error: ApiError, accept: str = "") -> JsonResponse:
    """Return `{"error": message}` with the error's status, or problem details (RFC 9457) where Accept names them.

    The code is in X-Error-Code either way.
    """
    headers = {"X-Error-Code": error.code, **error.headers}
    if not wants_problem(accept):
        return JsonResponse({"error": error.message}, status=error.status, headers=headers)
    return JsonResponse(problem(error), status=error.status, headers=headers, content_type=PROBLEM)


def wants_problem(accept: str) -> bool:
    return PROBLEM in accept.lower() and preferred_type(accept, [PROBLEM]) is not None


def problem(error: ApiError) -> dict[str, Any]:
    details: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(error.status).phrase,
        "status": error.status,
        "detail": error.message,
        "requestId": current_request_id.get(),
    }
    return details | ({"errors": error.fields} if error.fields else {})


def failure_response(exception: Exception, accept: str = "") -> JsonResponse:
    """Return the answer to any exception. Our own faults go to the log, with their traceback."""
    kind = from_exception(exception)
    if kind.status >= Internal.status:
        LOG.error("%s", exception, exc_info=exception)
    return error_response(kind, accept)


def bad_request(request: HttpRequest, exception: Exception) -> JsonResponse:  # noqa: ARG001 - Django's signature
    kind = Malformed("The request is malformed, or its Host is not one of ALLOWED_HOSTS.")
    return error_response(kind, accept_of(request))


def forbidden(request: HttpRequest, exception: Exception) -> JsonResponse:  # noqa: ARG001
    return error_response(Forbidden("You may not do this."), accept_of(request))


def not_found(request: HttpRequest, exception: Exception) -> JsonResponse:  # noqa: ARG001
    return error_response(NotFound("There is nothing at this address."), accept_of(request))


def server_error(request: HttpRequest) -> JsonResponse:
    """Answer what a view has not: Django calls this while it handles the exception, and logs it."""
    exception = sys.exc_info()[1]
    kind = Internal() if exception is None else from_exception(exception)
    return error_response(kind, accept_of(request))
