"""Decide whether the CORS headers of a response can be reused for the same `Origin`.

django-cors-headers makes the decisions.
"""

from collections.abc import Mapping
from typing import Any

from corsheaders.signals import check_request_enabled

LONGEST_ORIGIN = 255  # characters; a request with a longer one goes through Django


def has_reusable_cors_headers(environ: Mapping[str, Any]) -> bool:
    """Return whether the CORS headers for a request with an `Origin` depend on nothing but the `Origin`.

    django-cors-headers responds to a preflight itself, and receivers of its signal may read the whole request.
    """
    return (
        environ["REQUEST_METHOD"] != "OPTIONS"
        and len(environ["HTTP_ORIGIN"]) <= LONGEST_ORIGIN
        and "HTTP_ACCESS_CONTROL_REQUEST_PRIVATE_NETWORK" not in environ
        and not check_request_enabled.receivers  # `has_listeners` takes a lock
    )
