"""What a browser does on the pages of the admin site, and the outcome."""

from dataclasses import replace
from functools import cache
from typing import Any

from django.conf import settings
from django.test import Client
from django.urls import reverse

from tests.admin_forms import read_form
from tests.contract.permissions import OWN, Outcome
from tests.contract.worlds import World, read_all_rows
from users.models import User

STAFF = ("author", "editor", "admin")


def log_in(worlds: dict[str, World]) -> dict[str, World]:
    """Log the caller in, and return the worlds with the session."""
    browser = Client()
    browser.force_login(User.objects.get(pk=worlds[OWN].actor.user_id or 0))
    session, rows = browser.cookies[settings.SESSION_COOKIE_NAME].value, read_all_rows()
    return {whose: replace(world, session=session, rows=rows) for whose, world in worlds.items()}


def browse(world: World) -> Client:
    """Return a new browser in which the caller is logged in."""
    browser = Client()
    browser.cookies[settings.SESSION_COOKIE_NAME] = world.session
    return browser


def name_outcome(response: Any, *, done: bool) -> Outcome:
    """Return `ok`, or the status of a refusal. A page of the admin's errors is HTML, whatever its status."""
    if response.status_code >= 400:
        assert response["Content-Type"].startswith("text/html")
        return str(response.status_code)
    assert done, response.status_code
    return "ok"


def open_page(world: World, page: str, row_id: object) -> Outcome:
    response = browse(world).get(reverse(f"admin:{page}_change", args=[row_id]))
    return name_outcome(response, done=response.status_code == 200)


def open_list(world: World, page: str, row_id: int, **filters: str) -> Outcome:
    response = browse(world).get(reverse(f"admin:{page}_changelist"), filters)
    if response.status_code >= 400:
        return name_outcome(response, done=False)
    return "ok" if row_id in {row.pk for row in response.context["cl"].result_list} else "404"


def open_form(session: str, url: str) -> tuple[int, dict[str, Any]]:
    """Return the status of a page and the values of its form."""
    page = Client(headers={"Cookie": f"{settings.SESSION_COOKIE_NAME}={session}"}).get(url)
    return page.status_code, read_form(page.text) if page.status_code == 200 else {}


open_unchanged_form = cache(open_form)  # each action finds the same rows


def send_form(world: World, url: str, **edits: Any) -> Outcome:
    """Get a form and send it with the edits; if the form is refused, send the edits without it."""
    status, values = open_unchanged_form(world.session, url)
    return post_form(world, url, status, {**values, **edits})


def send_changed_form(world: World, url: str) -> Outcome:
    """Get a form whose rows the action has changed, and send it."""
    return post_form(world, url, *open_form(world.session, url))


def post_form(world: World, url: str, status: int, values: dict[str, Any]) -> Outcome:
    response = browse(world).post(url, values)
    if status >= 400:
        assert response.status_code == status
    if response.status_code == 200:
        raise AssertionError(response.context["adminform"].form.errors)
    return name_outcome(response, done=response.status_code == 302)


def confirm_deletion(world: World, page: str, row_id: object) -> Outcome:
    return send_form(world, reverse(f"admin:{page}_delete", args=[row_id]), post="yes")


def press_button(world: World, page: str, row_id: object, action: str) -> Outcome:
    """Send the form of a button, such as Hide."""
    response = browse(world).post(reverse(f"admin:{page}_action", args=[row_id, action]))
    return name_outcome(response, done=response.status_code == 302)
