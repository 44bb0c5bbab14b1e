"""The parties of the authorization code flow: an application, the browser of a user, and the API."""

import base64
import hashlib
import json
import re
import secrets
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from django.conf import settings
from django.test import Client

from users.models import User
from users.oauth.clients import RegisteredClient, register_client

CALLBACK = "https://app.example.invalid/callback"
PASSWORD = "a long and unusual password"
CSRF = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')


class Application:
    """A registered application that requests authorization from a user."""

    def __init__(self, *, public: bool = False, name: str = "Harbour News", redirect_uri: str = CALLBACK) -> None:
        self.registered: RegisteredClient = register_client(name=name, redirect_uris=[redirect_uri], public=public)
        self.verifier = secrets.token_urlsafe(48)
        self.state = secrets.token_urlsafe(16)

    @property
    def challenge(self) -> str:
        return base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()

    def build_authorization_url(self, /, **changes: str | None) -> str:
        """Return the URL of the authorization request. A parameter that is None is omitted."""
        parameters = {
            "response_type": "code",
            "client_id": self.registered.client_id,
            "redirect_uri": CALLBACK,
            "scope": "posts:read posts:write posts:publish",
            "state": self.state,
            "code_challenge": self.challenge,
            "code_challenge_method": "S256",
            **changes,
        }
        return f"/oauth/authorize?{urlencode({name: text for name, text in parameters.items() if text is not None})}"

    def post(self, path: str, *, secret: str | None = None, **form: str) -> Any:
        """Post a form to the authorization server, with the secret of the application if it has one."""
        secret = self.registered.secret if secret is None else secret
        headers = {}
        if secret:
            pair = f"{self.registered.client_id}:{secret}".encode()
            headers["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
        else:
            form = {"client_id": self.registered.client_id, **form}
        return Client().generic("POST", path, urlencode(form), "application/x-www-form-urlencoded", headers=headers)

    def exchange(self, code: str, /, **changes: str) -> Any:
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK}
        return self.post("/oauth/token", **{**form, "code_verifier": self.verifier, **changes})

    def refresh(self, refresh_token: str, **changes: str) -> Any:
        return self.post("/oauth/token", **{"grant_type": "refresh_token", "refresh_token": refresh_token, **changes})


class Browser:
    """A browser with the cookies of one user."""

    def __init__(self, user: User | None = None) -> None:
        self.client = Client(enforce_csrf_checks=True)
        if user is not None:
            self.client.force_login(user)

    def log_in(self, address: str, email: str, password: str) -> Any:
        page = self.client.get(address)
        form = {
            "username": email,
            "password": password,
            "csrfmiddlewaretoken": find_csrf_token(page),
            "next": find_next_path(address),
        }
        return self.client.post(address, form)

    def submit_consent(self, address: str, *, allow: bool) -> Any:
        """Open the consent page and submit its form."""
        page = self.client.get(address)
        form = {"csrfmiddlewaretoken": find_csrf_token(page), "allow": "yes" if allow else "no"}
        return self.client.post(address, form)

    def obtain_code(self, application: Application, **changes: str | None) -> str:
        """Return a code, as the page of the consent does when the user allows it."""
        token = "a" * 32
        self.client.cookies[settings.CSRF_COOKIE_NAME] = token
        address = application.build_authorization_url(**changes)
        response = self.client.post(address, {"csrfmiddlewaretoken": token, "allow": "yes"})
        return read_redirect_parameters(response)["code"]


def find_csrf_token(page: Any) -> str:
    found = CSRF.search(page.content.decode())
    assert found, page.content.decode()
    return found[1]


def find_next_path(address: str) -> str:
    return parse_qs(urlsplit(address).query).get("next", [""])[0]


def read_redirect_parameters(redirection: Any) -> dict[str, str]:
    """Return the parameters of a redirect to the application."""
    assert redirection.status_code == 302, redirection.content
    assert redirection["Location"].startswith(f"{CALLBACK}?"), redirection["Location"]
    return {name: texts[0] for name, texts in parse_qs(urlsplit(redirection["Location"]).query).items()}


def query_api(access_token: str, query: str = "{ viewer { role } }") -> Any:
    """Send a GraphQL query with an access token."""
    headers = {"Authorization": f"Bearer {access_token}"}
    return Client().post("/graphql", json.dumps({"query": query}), content_type="application/json", headers=headers)


def make_member(role: str = "author") -> User:
    """Return a user who can log in."""
    user = User(email=f"{secrets.token_hex(4)}@example.invalid", name="Mara Member", role=role)
    user.set_password(PASSWORD)
    user.save()
    return user
