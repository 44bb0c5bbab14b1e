"""Serve static files: WhiteNoise, also for pages that are built while the server runs, and compression.

`contentapi.frontend.build` compresses what it builds, and WhiteNoise serves the compressed copies. The files of
packages, such as the theme of the admin, are compressed here when they are first requested, and kept in memory.
"""

import gzip
import re
from collections.abc import Callable

from django.conf import settings
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from whitenoise.middleware import WhiteNoiseMiddleware

from contentapi.core.caching import BoundedCache
from contentapi.frontend import BUILT, find_built_folder

MEMORY = 8 * 1024 * 1024  # bytes of compressed files in each worker
SMALLEST = 1000  # bytes; compressing less saves no packet
FRONTEND_URL = f"{settings.STATIC_URL}frontend/"
TYPES = re.compile(r"text/|application/(json|xml)|image/svg|.*(javascript|\+xml)")
ACCEPTS_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))")


def static_compression_middleware(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Return the middleware. It is outside of WhiteNoise."""
    files: BoundedCache[bytes] = BoundedCache(MEMORY, weigh=len, name="static files")

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if not request.path_info.startswith(settings.STATIC_URL) or not is_compressible(response):
            return response
        patch_vary_headers(response, ["Accept-Encoding"])
        if request.method != "GET" or not ACCEPTS_GZIP.search(request.headers.get("Accept-Encoding", "")):
            return response
        key = request.path_info, response["Last-Modified"]
        content = files.get(key)
        if content is None:
            content = gzip.compress(response.getvalue(), mtime=0)  # the same bytes from each worker
            files.put(key, content)
        response.close()
        headers = {**response.headers, "Content-Encoding": "gzip", "Content-Length": str(len(content))}
        headers.pop("ETag", None)  # of the file as it is; Last-Modified validates both
        return HttpResponse(content, headers=headers)

    return middleware


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]
    """WhiteNoise, which lists the files at the start. It lists the pages for developers again once they are built."""

    listed_folder = ""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not self.listed_folder and request.path_info.startswith(FRONTEND_URL) and (folder := find_built_folder()):
            self.add_files(str(BUILT.parent / folder), prefix=f"{settings.STATIC_URL}{folder}")
            self.listed_folder = folder
        response: HttpResponseBase = super().__call__(request)
        return response


def is_compressible(response: HttpResponseBase) -> bool:
    """Return whether a response is a whole text file without an encoding, long enough to be worth it."""
    return (
        isinstance(response, FileResponse)
        and response.status_code == 200
        and "Content-Encoding" not in response
        and TYPES.match(response.get("Content-Type", "")) is not None
        and int(response.get("Content-Length", "0")) >= SMALLEST
    )
