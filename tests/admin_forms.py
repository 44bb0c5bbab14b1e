"""Forms of HTML pages, read and submitted as a browser does it: all fields, with some edits."""

from html.parser import HTMLParser
from typing import Any
from unittest.mock import patch

from django.forms import BoundField
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import reverse

from contentapi.desk.bases import PolicyAdmin


class Form(HTMLParser):
    """The fields of a page's form with their values, as a browser would send them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.values: dict[str, Any] = {}
        self.open: str | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name = given.get("name") or ""
        if tag == "input" and name and given.get("type") not in ("submit", "checkbox", "radio", "file"):
            self.values[name] = given.get("value") or ""
        elif tag == "input" and name and "checked" in given:
            self.values[name] = given.get("value") or "on"
        elif tag in ("textarea", "select"):
            self.open = name
            self.values[name] = [] if "multiple" in given else ""
        elif tag == "option" and self.open and "selected" in given:
            value = given.get("value") or ""
            several = self.values[self.open]
            self.values[self.open] = [*several, value] if isinstance(several, list) else value

    def handle_data(self, data: str) -> None:
        if self.open and self.lasttag == "textarea":
            self.values[self.open] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self.open:  # HTML drops the first line end, and a form is sent with CR LF
            text = self.values[self.open].replace("\r\n", "\n").removeprefix("\n")
            self.values[self.open] = text.replace("\n", "\r\n")
        if tag in ("textarea", "select"):
            self.open = None


def read_form(page: str) -> dict[str, Any]:
    """Return the values of the forms of a page, by the names of their fields: lists of those with several values."""
    return Form(page).values


def render_fields(_: PolicyAdmin, request: HttpRequest, context: dict[str, Any], **__: Any) -> HttpResponse:
    """Render the fields of the page of an object in the desk, and the time beside the buttons of a post."""
    form = context["adminform"].form
    fields = [field.field for fieldset in context["adminform"] for line in fieldset for field in line]
    inputs = [field for field in fields if isinstance(field, BoundField)]
    return HttpResponse([*map(str, inputs), str(form["schedule_at"]) if "schedule_at" in form.fields else ""])


def open_form(client: Client, url: str) -> dict[str, Any]:
    """Return the values of the form at a URL. Only its fields are rendered: the whole page takes as long as a save."""
    with patch.object(PolicyAdmin, "render_change_form", render_fields):
        return read_form(client.get(url).text)


def submit_form(client: Client, url: str, **edits: Any) -> Any:
    """Open the form at a URL and submit it with the edits."""
    return client.post(url, open_form(client, url) | edits)


def get_form_errors(response: Any) -> dict[str, list[str]]:
    return dict(response.context["adminform"].form.errors)


def get_page(row: Any) -> str:
    """Return the address of the page of an object in the desk."""
    return reverse(f"admin:{row._meta.label_lower.replace('.', '_')}_change", args=[row.pk])


def log_in(user: Any) -> Client:
    """Return a client in which a user is logged in."""
    client = Client()
    client.force_login(user)
    return client
