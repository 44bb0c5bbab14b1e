"""Receive the file of a signed address: `PUT /uploads/7?…`. A bucket of S3 does this itself."""

from collections.abc import Mapping
from contextlib import closing
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from contentapi.core.errors import ApiError, Invalid, MethodNotAllowed, TooLarge, UnsupportedMediaType
from contentapi.db.engine.slots import enter_expensive_lane
from contentapi.http.error_response import respond_to_error
from contentapi.http.uploads import read_sent_file
from contentapi.media.access import put_file
from contentapi.media.folder import read_signed_upload

ALLOWED_METHODS = ("PUT", "OPTIONS")


def is_signed(environ: Mapping[str, Any]) -> bool:
    """Return whether the address of a request has a valid signature."""
    try:
        read_signed_upload(str(environ["PATH_INFO"])[1:], str(environ.get("QUERY_STRING", "")))
    except ApiError:
        return False
    return True


@csrf_exempt  # the signature is the credential
def receive_file(request: HttpRequest, upload_id: str) -> HttpResponse:
    try:
        if request.method != "OPTIONS":
            store_file(f"uploads/{upload_id}", request.META)
    except Exception as error:  # noqa: BLE001 - the outermost edge: every error has the same format
        return respond_to_error(request, error)
    return HttpResponse(headers={"Allow": ", ".join(ALLOWED_METHODS), "Cache-Control": "no-store"})


def store_file(name: str, environ: Mapping[str, Any]) -> None:
    """Store the body of a PUT under a name, if it is exactly what the signature permits."""
    if environ["REQUEST_METHOD"] != "PUT":
        raise MethodNotAllowed(environ["REQUEST_METHOD"], ALLOWED_METHODS)
    expected = read_signed_upload(name, str(environ.get("QUERY_STRING", "")))
    if environ.get("CONTENT_TYPE") != expected.content_type:
        raise UnsupportedMediaType(f"Send the file as {expected.content_type}, as it was announced.")
    enter_expensive_lane()  # storing a file may take long: other requests keep their slots
    announced = f"the {expected.size:,} bytes that were announced"
    try:
        sent = read_sent_file(environ, "image", expected.size)
    except TooLarge:
        raise TooLarge(f"Send only {announced}.", limit="size of a file") from None
    with closing(sent):
        if (sent.size, sent.sha256.hex()) != (expected.size, expected.sha256):
            raise Invalid({"file": [f"These are not {announced}."]})
        put_file(name, sent.file)
