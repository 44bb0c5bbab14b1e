"""The middleware that the fast path bypasses. Each was reviewed: it is replaced there, or has no effect there."""

from django.conf import settings

REVIEWED = (
    # Sets the request id, logs failures, removes forbidden bodies: FastPath.__call__ and the endpoints do so too.
    "contentapi.http.middleware.request_record_middleware",
    # Adds constant headers, which are learned. A request without TLS is not eligible.
    "django.middleware.security.SecurityMiddleware",
    # For /static/ only.
    "contentapi.http.static_files.static_compression_middleware",
    # Serves /static/ and /favicon.ico only.
    "contentapi.http.static_files.StaticFilesMiddleware",
    # Adds headers that are learned for each Origin. A preflight is not eligible.
    "corsheaders.middleware.CorsMiddleware",
    # The endpoints charge for their requests themselves (`handles_rate_limit`).
    "contentapi.rate_limits.middleware.RateLimitMiddleware",
    # Checks the host, as the fast path does, and sets Content-Length, as the endpoints do.
    "django.middleware.common.CommonMiddleware",
    # For pages only.
    "contentapi.http.middleware.SessionMiddleware",
    # The views of the API are exempt: cookies are not credentials.
    "django.middleware.csrf.CsrfViewMiddleware",
    # For pages only.
    "contentapi.http.middleware.AuthenticationMiddleware",
    "contentapi.http.middleware.MessageMiddleware",
    # Adds a constant header, which is learned.
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
)


def test_middleware_equals_the_reviewed_list() -> None:
    assert tuple(settings.MIDDLEWARE) == REVIEWED, (
        "MIDDLEWARE has changed, but requests of the fast path do not go through it. State in REVIEWED above what "
        "contentapi/server/fast_path.py does about the new middleware: learn its headers, do its work, or send the "
        "requests that it treats differently through Django (is_eligible_for_fast_path)."
    )
