"""Django's session, authentication and message middleware, limited to HTML pages. API requests have no session."""

from typing import Any

from django.contrib.auth.middleware import AuthenticationMiddleware as DjangoAuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware as DjangoMessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware as DjangoSessionMiddleware
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from contentapi.core.replicas import record_write

SAFE = ("GET", "HEAD", "OPTIONS")
PAGES = ("/admin/", "/oauth/authorize", "/oauth/login", "/oauth/logout")


class BrowserOnlyMiddleware(MiddlewareMixin):
    """Skips the middleware for requests to paths that are not pages."""

    def __call__(self, request: HttpRequest) -> Any:
        return super().__call__(request) if request.path_info.startswith(PAGES) else self.get_response(request)


class SessionMiddleware(BrowserOnlyMiddleware, DjangoSessionMiddleware):
    pass


class AuthenticationMiddleware(BrowserOnlyMiddleware, DjangoAuthenticationMiddleware):
    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """After a write of a person who is logged in, let their next reads of the API see it."""
        user = getattr(request, "_cached_user", None)  # set when a view has used `request.user`
        if request.method not in SAFE and user is not None:
            record_write(user.pk)
        return response


class MessageMiddleware(BrowserOnlyMiddleware, DjangoMessageMiddleware):
    pass
