"""Django's middleware for browsers that log in, kept off the requests of the API, which have no session."""

from typing import Any

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest
from django.utils.deprecation import MiddlewareMixin

PAGES = ("/admin/", "/oauth/authorize", "/oauth/login", "/oauth/logout")


class ForPages(MiddlewareMixin):
    """Middleware that lets pass untouched what is not for a person with a browser."""

    def __call__(self, request: HttpRequest) -> Any:
        return super().__call__(request) if request.path_info.startswith(PAGES) else self.get_response(request)


class Session(ForPages, SessionMiddleware):
    pass


class Login(ForPages, AuthenticationMiddleware):
    pass


class Messages(ForPages, MessageMiddleware):
    pass
