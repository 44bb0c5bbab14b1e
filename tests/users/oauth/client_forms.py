"""Forms of applications in the admin, for the tests of their registration and secrets."""

from typing import Any

from django.test import Client
from oauth2_provider.models import Application

from tests import admin_forms
from tests.users.oauth.flow import CALLBACK

ADD = "/admin/oauth2_provider/application/add/"


def submit_application(admin_client: Client, **changes: str) -> Any:
    form = {"name": "App", "redirect_uris": CALLBACK, "client_type": "confidential", **changes}
    return admin_client.post(ADD, form, follow=True)


def open_form(admin_client: Client, client: Application) -> dict[str, str]:
    return admin_forms.open_form(admin_client, f"/admin/oauth2_provider/application/{client.pk}/change/")


def change_application(admin_client: Client, client: Application, **changes: str) -> Any:
    page = f"/admin/oauth2_provider/application/{client.pk}/change/"
    return admin_client.post(page, {**open_form(admin_client, client), **changes}, follow=True)
