"""Handle a request to a REST resource, from its WSGI environ to the response."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from http import HTTPStatus
from typing import Any, ClassVar, TypeVar

from django.db import transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.views.decorators.csrf import csrf_exempt

from contentapi.auth.authentication import IDENTIFYING, authenticate_request
from contentapi.core import policy
from contentapi.core.entity_tags import ExpectedVersion
from contentapi.core.errors import ApiError, Malformed, MethodNotAllowed, UnsupportedMediaType
from contentapi.core.identity import Actor
from contentapi.core.replicas import read, read_credential, record_write
from contentapi.db.engine.slots import enter_expensive_lane
from contentapi.graphql.requests import charge_objects
from contentapi.http import negotiation
from contentapi.http.body import JSON, is_json, read_request_body
from contentapi.http.conditional import apply_conditions, reject_misplaced_preconditions, resolve_expected_version
from contentapi.http.error_response import error_response
from contentapi.http.hosts import add_resource_metadata, get_request_origin
from contentapi.http.idempotency import HEADER, hash_request, is_storable, replay_or_execute
from contentapi.http.response import Response, finalize_response, keep_preview_private
from contentapi.http.uploads import SentFile, read_sent_file
from contentapi.rate_limits.account import Account
from contentapi.rate_limits.middleware import ACCOUNT, handles_rate_limit
from contentapi.rest.fields import select_fields
from contentapi.rest.pages import PageRequest, parse_page_params, parse_query_parameters
from contentapi.rest.representations import Representation
from contentapi.rest.request_bodies import Body, decode_body

MERGE_PATCH = "application/merge-patch+json"
RESOURCE_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")  # in the order of Allow
READS = ("GET", "HEAD")
SAFE = (*READS, "OPTIONS")
VARY = ", ".join(["Accept", "X-API-Version", *IDENTIFYING])

B = TypeVar("B", bound=Body)


class ResourceRequest:
    """A request to a method of a resource. `prefix` is the version prefix of its path, `path` the rest.

    `shown` is the representation that the response shows, with the `fields` that the client selects, if any.
    """

    shown: Representation
    fields = ""

    def __init__(self, actor: Actor, environ: Mapping[str, Any], account: Account) -> None:
        self.actor = actor
        self.environ = environ
        self.account = account
        self.method: str = environ["REQUEST_METHOD"]
        self.prefix, self.path = negotiation.split_version_prefix(environ["PATH_INFO"])
        self.file: SentFile | None = None

    def page(self, *filters: str, has_offset: bool = True) -> PageRequest:
        """Return the requested page of a collection with these filters. Raises `Malformed`."""
        prefix = get_request_origin(self.environ) + self.prefix
        page = parse_page_params(self.query.items(), self.path, filters, prefix, has_offset=has_offset)
        if not self.fields:
            return page
        charge_objects(page.limit * self.shown.cost, self.account, writes=0)
        return replace(page, fields=self.fields)

    def show_fields(self) -> None:
        """Let the response show the `fields` of the query, if it has some. Raises `Malformed`."""
        if "fields" in self.query:
            self.shown = select_fields(self.shown, self.query.pop("fields"))
            self.fields = self.shown.fields
            charge_objects(self.shown.cost, self.account, writes=0)

    @cached_property
    def query(self) -> dict[str, list[str]]:
        """The values of each query parameter, but not of `fields` if a representation has them."""
        query = self.environ.get("QUERY_STRING", "").encode("latin-1")
        return dict(QueryDict(query).lists()) if query else {}

    @cached_property
    def content(self) -> bytes:
        """The bytes of the body. Raises `UnsupportedMediaType`, `TooLarge` or `Malformed`."""
        return read_request_body(self.environ)

    def read_file(self, family: str, limit: int) -> SentFile:
        """Return the file that the request sends, at its start. Raises the errors of `read_sent_file`."""
        enter_expensive_lane()  # storing a file may take long: other requests keep their slots
        self.file = self.file or read_sent_file(self.environ, family, limit)
        self.file.file.seek(0)
        return self.file

    def read_switch(self, name: str) -> bool:
        """Return whether a query parameter, the only one, is true. Raises `Malformed`."""
        value = parse_query_parameters(self.query.items(), {name}).get(name, "false")
        if value not in ("true", "false"):
            raise Malformed(f"{name} must be true or false.")
        return value == "true"

    def body(self, kind: type[B]) -> B:
        """Decode the body. Raises `UnsupportedMediaType`, `TooLarge` or `Malformed`."""
        media_types = (JSON, MERGE_PATCH) if self.method == "PATCH" else (JSON,)
        if not is_json(self.environ.get("CONTENT_TYPE", ""), media_types):
            raise UnsupportedMediaType(f"Send the body as {' or '.join(media_types)} in UTF-8.")
        return decode_body(self.content, kind)

    def body_if_any(self, kind: type[B]) -> B:
        """Decode an optional body. Without a body, return an empty object of this kind."""
        is_chunked = bool(self.environ.get("HTTP_TRANSFER_ENCODING"))
        return self.body(kind) if is_chunked or self.environ.get("CONTENT_LENGTH") not in (None, "", "0") else kind()

    def expected_version(self, sent: str | None = None) -> ExpectedVersion:
        """Return the version that the client expects, from If-Match and `expectedVersion`. Raises `Malformed`."""
        return resolve_expected_version(self.environ.get("HTTP_IF_MATCH"), sent)


class Resource:
    """A REST resource. A subclass allows the methods that it defines: `get`, `post`, `put`, `patch` and `delete`.

    All writes need a credential. `is_private` states whether reads need one too. `shows` is what responses show.
    """

    is_private: ClassVar[bool] = False
    shows: ClassVar[Representation | None] = None
    methods: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, *, is_private: bool = False, shows: Representation | None = None) -> None:
        cls.is_private, cls.shows = is_private, shows
        defined = {method for method in RESOURCE_METHODS if hasattr(cls, method.lower())} | {"OPTIONS"}
        if "GET" in defined:
            defined.add("HEAD")
        cls.methods = tuple(method for method in RESOURCE_METHODS if method in defined)

    @classmethod
    def as_view(cls) -> Callable[..., HttpResponse]:
        resource = cls()

        @handles_rate_limit
        @csrf_exempt
        def view(request: HttpRequest, **ids: str) -> HttpResponse:
            response = resource.handle(request.META, ids)
            django_response = HttpResponse(response.body, status=response.status, headers=response.headers)
            if "Content-Type" not in response.headers:
                del django_response["Content-Type"]
            return django_response

        vars(view)["resource"] = resource
        return view

    def handle(self, environ: Mapping[str, Any], ids: Mapping[str, str]) -> Response:
        """Return the response to a request, also to one that fails. `ids` are the ids in the path, by name."""
        account = environ.get(ACCOUNT) or Account(environ)  # of an upload, which was charged before its body
        is_public = False
        try:
            request = ResourceRequest(authenticate_request(environ), environ, account)
            account.set_actor(request.actor)
            account.charge_request()
            is_public = request.actor.is_anonymous and request.method in SAFE
            response = self.dispatch(request, ids)
        except Exception as error:  # noqa: BLE001 - the outermost edge: every error has the same format
            response = error_response(account.charge_failure(error), environ.get("HTTP_ACCEPT", ""))
        headers = {
            **account.headers,
            **add_resource_metadata(response.headers, environ),
            "Cache-Control": "no-cache" if is_public else "no-store",
            "Vary": VARY,
            "X-API-Version": negotiation.VERSION,
        }
        response = finalize_response(response, headers, environ["REQUEST_METHOD"])
        return keep_preview_private(response, environ, VARY)

    def dispatch(self, request: ResourceRequest, ids: Mapping[str, str]) -> Response:
        """Check what all resources check, and call the method. A missing credential precedes a malformed request."""
        if request.method not in self.methods:
            raise MethodNotAllowed(request.method, self.methods)
        if request.method == "OPTIONS":
            return Response(HTTPStatus.NO_CONTENT, headers={"Allow": ", ".join(self.methods)})
        negotiation.require_known_version(request.environ)
        media_type = negotiation.negotiate_rest_media_type(request.environ, request.prefix)
        try:
            if self.shows is not None and request.method != "DELETE":
                request.shown = self.shows
                if request.environ.get("QUERY_STRING"):
                    request.show_fields()
            return self.execute(request, partial(self.call_method, request, ids, media_type))
        except (Malformed, UnsupportedMediaType):  # before a service requires the credential
            if self.is_private or request.method not in READS:
                policy.require_credential(request.actor, "send this request")
            raise

    def execute(self, request: ResourceRequest, action: Callable[[], Response]) -> Response:
        """Call the method, under the conditions of the request. A write is charged before."""
        if request.method in READS:
            if request.actor.preview is not None:  # from the primary: a preview shows what has just been saved
                return read_credential(action)[0]
            return apply_conditions(read(request.actor.user_id, action), request.environ)
        reject_misplaced_preconditions(request.environ, creates=request.method == "POST" and "GET" in self.methods)
        policy.require_no_preview(request.actor)
        request.account.charge_operation(1, writes=1)
        request.actor = request.actor.through("REST")
        try:
            if request.fields:
                self.identify_content(request)  # reads a file before the transaction, as for a key
                action = transaction.atomic(action)  # without the write, if the response is too large
            return self.execute_once(request, action) if HEADER in request.environ else action()
        finally:  # also after a conflict: the client must be able to read the version that it missed
            record_write(request.actor.user_id)
            if request.file is not None:
                request.file.close()

    def execute_once(self, request: ResourceRequest, action: Callable[[], Response]) -> Response:
        """Execute a write with an Idempotency-Key, or return the stored response to it."""
        environ = request.environ
        target = [request.method, environ["PATH_INFO"], environ.get("QUERY_STRING", "")]
        digest = hash_request(target, self.identify_content(request))
        render = partial(render_refusal, accept=environ.get("HTTP_ACCEPT", ""))
        return replay_or_execute(request.actor, environ[HEADER], digest, action, render)

    def identify_content(self, request: ResourceRequest) -> bytes:
        """Return what identifies the body of a request."""
        return request.content

    def call_method(self, request: ResourceRequest, ids: Mapping[str, str], media_type: str) -> Response:
        name = "get" if request.method in READS else request.method.lower()
        response: Response = getattr(self, name)(request, **ids)
        headers = {"Content-Type": media_type, **response.headers} if response.body else dict(response.headers)
        if request.prefix and "Location" in headers:
            headers["Location"] = request.prefix + headers["Location"]
        body = negotiation.add_version_prefix(response.body, request.prefix) if request.prefix else response.body
        return Response(response.status, body, headers)


def render_refusal(error: Exception, accept: str) -> Response | None:
    return error_response(error, accept) if isinstance(error, ApiError) and is_storable(error) else None
