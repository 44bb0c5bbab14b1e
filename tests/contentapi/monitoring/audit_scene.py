"""The admin who acts, and the registry of the actions, for the tests of the audit log.

An action is a function that prepares what it needs and returns the function that does it.
"""

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from contentapi.core.identity import OPERATOR, Role
from contentapi.monitoring.audit import AuditEvent
from tests.admin_forms import submit_form
from tests.factories import make_user
from tests.users.oauth.flow import PASSWORD
from users import services as user_services


class Scene:
    """An admin, who acts by an API key, by the admin site or as an actor."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings = settings
        self.folder = folder
        self.user = make_user(Role.ADMIN)
        make_user(Role.ADMIN)  # the last admin cannot be deleted
        self.key = user_services.create_api_key(actor=OPERATOR, email=self.user.email, name="test")
        self.browser = Client()
        self.browser.force_login(self.user)
        self.secrets = [self.key, PASSWORD]

    def request(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"X-API-Key": self.key}
        response = Client().generic(method, path, encode(body), content_type="application/json", headers=headers)
        assert response.status_code < 300, response.content
        return response

    def gql(self, mutation: str) -> None:
        response = self.request("POST", "/graphql", {"query": f"mutation {{ {mutation} }}"})
        assert "errors" not in response.json(), response.json()

    def press(self, page: str, row_id: object, action: str, **values: str) -> None:
        response = self.browser.post(reverse(f"admin:{page}_action", args=[row_id, action]), values)
        assert response.status_code in (200, 302)

    def select(self, page: str, action: str, *ids: object, **more: str) -> None:
        """Do an action to rows of a list."""
        form = {"action": action, "_selected_action": [str(row_id) for row_id in ids], **more}
        response = self.browser.post(reverse(f"admin:{page}_changelist"), form)
        assert response.status_code == 302, response.content

    def submit(self, page: str, /, *arguments: object, **edits: str) -> None:
        response = submit_form(self.browser, reverse(f"admin:{page}", args=arguments), **edits)
        assert response.status_code == 302 or "secret" in response.context, response.content

    def command(self, *arguments: str) -> None:
        output = StringIO()
        call_command(*arguments, stdout=output, stderr=StringIO())
        printed = output.getvalue().splitlines()
        self.secrets += printed[1:] or printed  # a client id is before its secret


def encode(body: Any) -> bytes:
    return b"" if body is None else json.dumps(body).encode()


Action = Callable[[], object]
Prepare = Callable[[Scene], Action]


class Case(NamedTuple):
    event: AuditEvent
    interface: str
    prepare: Prepare
    number: int = 1

    def __str__(self) -> str:
        return f"{self.event}-{self.prepare.__name__}"


CASES: list[Case] = []


def causes(event: AuditEvent, interface: str, number: int = 1) -> Callable[[Prepare], Prepare]:
    def add(prepare: Prepare) -> Prepare:
        CASES.append(Case(event, interface, prepare, number))
        return prepare

    return add
