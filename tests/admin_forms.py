"""Fields and errors of admin forms, submitted as a browser does: all fields, with some edits."""

from html.parser import HTMLParser
from typing import Any

from django.test import Client


class Form(HTMLParser):
    """The fields of a page's form with their values, as a browser would send them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.values: dict[str, str] = {}
        self.open: str | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name = given.get("name") or ""
        if tag == "input" and given.get("type") not in ("submit", "checkbox", "file"):
            self.values[name] = given.get("value") or ""
        elif tag in ("textarea", "select"):
            self.open = name
            self.values[name] = ""
        elif tag == "option" and self.open and "selected" in given:
            self.values[self.open] = given.get("value") or ""

    def handle_data(self, data: str) -> None:
        if self.open and self.lasttag == "textarea":
            self.values[self.open] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self.open:  # HTML drops the first line end, and a form is sent with CR LF
            text = self.values[self.open].replace("\r\n", "\n").removeprefix("\n")
            self.values[self.open] = text.replace("\n", "\r\n")
        if tag in ("textarea", "select"):
            self.open = None


def submit_form(client: Client, url: str, **edits: str) -> Any:
    """Get the form at a URL and submit it with the edits."""
    return client.post(url, {**Form(client.get(url).content.decode()).values, **edits})


def get_form_errors(response: Any) -> dict[str, list[str]]:
    return dict(response.context["adminform"].form.errors)
