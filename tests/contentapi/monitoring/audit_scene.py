"""The admin who acts, for the tests of the audit log."""

import json
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from contentapi.auth.sessions import build_session_actor
from contentapi.core.identity import Role
from tests.admin_forms import log_in, submit_form
from tests.conftest import make_api_key
from tests.factories import make_user
from tests.users.oauth.flow import PASSWORD


class Scene:
    """An admin, who acts by an API key, by the admin site or as an actor."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings = settings
        self.folder = folder
        self.user = make_user(Role.ADMIN)
        make_user(Role.ADMIN)  # the last admin cannot be deleted
        self.secrets = [PASSWORD]

    @cached_property
    def key(self) -> str:
        self.secrets.append(key := make_api_key(build_session_actor(self.user)))
        return key

    @cached_property
    def browser(self) -> Client:
        return log_in(self.user)

    def request(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Any:
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        headers = {"X-API-Key": self.key}
        response = Client().generic(method, path, content, content_type=content_type, headers=headers)
        assert response.status_code < 300, response.content
        self.secrets += [str(value) for name, value in read_members(response).items() if name == "secret"]
        return response

    def gql(self, mutation: str, row: Model | None = None) -> None:
        """Send a mutation, in which the id of the row replaces `%d`."""
        text = mutation if row is None else mutation % row.pk
        response = self.request("POST", "/graphql", {"query": f"mutation {{ {text} }}"})
        assert "errors" not in response.json(), response.json()

    def open(self, page: str, *arguments: object, **values: object) -> None:
        response = self.browser.post(reverse(f"admin:{page}", args=arguments), values)
        assert response.status_code in (200, 302), response.content

    def submit(self, page: str, /, *arguments: object, **edits: str) -> None:
        response = submit_form(self.browser, reverse(f"admin:{page}", args=arguments), **edits)
        assert response.status_code == 302 or "secret" in response.context, response.content

    def command(self, *arguments: object) -> None:
        output = StringIO()
        call_command(*map(str, arguments), stdout=output, stderr=StringIO())
        printed = output.getvalue().splitlines()
        self.secrets += printed[1:] or printed  # a client id is before its secret


def read_members(response: Any) -> dict[str, Any]:
    members = json.loads(response.content) if response.content else {}
    return members if isinstance(members, dict) else {}
