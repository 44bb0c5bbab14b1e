"""A WSGI layer that reads each request completely, then leases a connection slot and calls the application.

A client that sends its body slowly holds a thread and nothing else. Everything that needs the processor or the database
happens while the request has one of `CONTENTAPI_THREADS` slots (`contentapi.db.engine.slots`).
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication

from django.db import DatabaseError

from contentapi.conf import conf
from contentapi.conf.timeouts import derive_timeouts
from contentapi.core.errors import RateLimited, Unavailable
from contentapi.core.identity import Actor
from contentapi.db.engine.slots import ConnectionSlots, NoSlotAvailable, uninstall_connections
from contentapi.health.probes import PROBES, respond_to_probe
from contentapi.http.body import UploadTooLarge
from contentapi.http.response import send
from contentapi.http.uploads import SpooledBody, Upload
from contentapi.media.delivery import PATH as MEDIA
from contentapi.media.delivery import deliver_file
from contentapi.rate_limits.account import Account
from contentapi.rate_limits.middleware import ACCOUNT
from contentapi.rate_limits.places import Places
from contentapi.server.bodies import buffer_body, get_announced_length, refuse_body, spool_body
from contentapi.server.observed_requests import add_header, observe_request
from contentapi.server.worker import WORKER

MOST_UPLOADS = 16  # that a process receives at a time, so that they do not fill the folder of temporary files
MOST_OF_PERSON = 3
PLACE = "contentapi.upload_place"  # a key of the WSGI environ; the value is the id of the user
NO_PLACE = (
    f"A person may send {MOST_OF_PERSON} uploads at a time, and a server receives {MOST_UPLOADS}. Try again shortly."
)
Refuse = Callable[[dict[str, Any], NoSlotAvailable, StartResponse], Iterable[bytes]]


class RequestBufferingLayer:
    """The layer around an application."""

    def __init__(
        self, application: WSGIApplication, refuse: Refuse, *, slots: int, uploads: Sequence[Upload] = ()
    ) -> None:
        self.application = application
        self.refuse = refuse  # responds to a request that waited too long for a slot
        self.uploads = uploads  # that may have a larger body than other requests
        self.places = Places(MOST_UPLOADS)
        self.slots = WORKER.slots = ConnectionSlots(slots, patience=derive_timeouts(conf.environment).slot)

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        WORKER.requests += 1
        clear_invalid_host(environ)
        has_body = "CONTENT_LENGTH" in environ or "HTTP_TRANSFER_ENCODING" in environ
        is_broken = has_body and not self.read_body(environ)
        if is_broken or WORKER.is_retiring:  # gunicorn ignores the header; its `pre_request` closes the connection
            start_response = add_header(start_response, "Connection", "close")
        try:
            return observe_request(self.handle_request, environ, start_response)
        finally:
            if PLACE in environ:
                self.places.leave(environ[PLACE])
                if isinstance(environ["wsgi.input"], SpooledBody):
                    environ["wsgi.input"].close()

    def handle_request(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        if environ["PATH_INFO"] in PROBES:  # without a slot: a server whose slots are all in use is alive
            return send(respond_to_probe(environ), start_response)
        if environ["PATH_INFO"].startswith(MEDIA):
            return deliver_file(environ, start_response)
        try:
            lease = self.slots.acquire()
        except NoSlotAvailable as error:
            return self.refuse(environ, error, start_response)
        try:
            response = self.application(environ, start_response)
            if type(response) is not list:
                response = detach_from_connection(response)
        finally:
            self.slots.release(lease)
        return response

    def read_body(self, environ: dict[str, Any]) -> bool:
        """Replace `wsgi.input` by the body. Return whether the whole body was read from the connection.

        Only an upload may have a larger body than other requests.
        """
        length = get_announced_length(environ)
        is_small = length <= conf.environment.contentapi_max_body and "HTTP_TRANSFER_ENCODING" not in environ
        upload = None if is_small else next((upload for upload in self.uploads if upload.matches(environ)), None)
        if upload is None:
            return buffer_body(environ, length)
        refusal: Exception = UploadTooLarge("You may not send a body of this size.")
        try:
            if (sender := self.find_sender(upload, environ)) is not None:
                if self.places.enter(sender.user_id, MOST_OF_PERSON):
                    environ[PLACE] = sender.user_id
                    return spool_body(environ, upload.limit, upload.excess)
                refusal = Unavailable(NO_PLACE, limit="uploads at a time")
        except (NoSlotAvailable, DatabaseError) as error:
            refusal = Unavailable(limit=getattr(error, "awaited", ""))
        except RateLimited as error:  # the application charges the request again, and responds
            refusal = error
        return refuse_body(environ, refusal)

    def find_sender(self, upload: Upload, environ: dict[str, Any]) -> Actor | None:
        """Charge the request, and return its actor; None if the caller has no permission.

        Raises `NoSlotAvailable`, `DatabaseError` and `RateLimited`.
        """
        lease = self.slots.acquire()
        try:
            sender = upload.find_sender(environ)
        finally:
            self.slots.release(lease)
        if sender is not None and upload.is_metered:
            account = Account(environ)
            account.set_actor(sender)
            account.charge(1, writes=1)
            account.is_metered = False  # the application charges nothing more
            environ[ACCOUNT] = account
        return sender


def detach_from_connection(response: Any) -> Iterable[bytes]:
    """Return a response of Django that no longer needs a database connection.

    A complete response is read and closed while its request still has the slot. A streamed response is a file and is
    sent at the client's speed: release the connection of its thread.
    """
    if getattr(response, "streaming", True):  # the `wsgi.file_wrapper` of a server has no such attribute
        uninstall_connections()
        return response  # type: ignore[no-any-return]
    with closing(response):
        return [*response]


def clear_invalid_host(environ: dict[str, Any]) -> None:
    """Set Host to an empty string if an HTTP/1.1 request has none, or another than its absolute target.

    See RFC 9112, section 3.2. Django responds to an empty Host with 400. A Host that the server added to an HTTP/1.0
    request is removed.
    """
    host = environ.get("HTTP_HOST", "")
    if not host:
        if environ.get("SERVER_PROTOCOL") == "HTTP/1.1":
            environ["HTTP_HOST"] = ""
        else:
            environ.pop("HTTP_HOST", None)
        return
    target = environ.get("RAW_URI", "/")  # gunicorn's; granian does not pass it on
    if target[0] != "/" and "://" in target and target.split("/", 3)[2].lower() != host.lower():
        environ["HTTP_HOST"] = ""
