"""Compress static files that have no compressed copy. WhiteNoise serves the copies of those that have one.

`contentapi.frontend.build` compresses what it builds. The files of packages, such as the theme of the admin, are
compressed here when they are first requested, and kept in memory.
"""

import gzip
import re
from collections.abc import Callable

from django.conf import settings
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers

from contentapi.core.caching import BoundedCache

MEMORY = 8 * 1024 * 1024  # bytes of compressed files in each worker
SMALLEST = 1000  # bytes; compressing less saves no packet
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
            content = gzip.compress(response.getvalue())
            files.put(key, content)
        response.close()
        headers = {**response.headers, "Content-Encoding": "gzip", "Content-Length": str(len(content))}
        headers.pop("ETag", None)  # of the file as it is; Last-Modified validates both
        return HttpResponse(content, headers=headers)

    return middleware


def is_compressible(response: HttpResponseBase) -> bool:
    """Return whether a response is a whole text file without an encoding, long enough to be worth it."""
    return (
        isinstance(response, FileResponse)
        and response.status_code == 200
        and "Content-Encoding" not in response
        and TYPES.match(response.get("Content-Type", "")) is not None
        and int(response.get("Content-Length", "0")) >= SMALLEST
    )
