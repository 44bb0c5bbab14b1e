"""Django's middleware for browsers that log in, kept off the requests of the API, which have no session."""

from typing import Any

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest
from django.utils.deprecation import MiddlewareMixin

EDITORS_PATH = "/admin/"


class ForEditors(MiddlewareMixin):
    """Middleware that lets pass untouched what is not for editors."""

    def __call__(self, request: HttpRequest) -> Any:
        return super().__call__(request) if request.path_info.startswith(EDITORS_PATH) else self.get_response(request)


class Session(ForEditors, SessionMiddleware):
    pass


class Login(ForEditors, AuthenticationMiddleware):
    pass


class Messages(ForEditors, MessageMiddleware):
    pass
