"""Each page of the admin site answers each role as its row says, and no page lacks a row."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.template.response import SimpleTemplateResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, reverse

from tests.contract.admin_browser import STAFF, browse, log_in
from tests.contract.admin_requests import find_objects
from tests.contract.admin_urls import PAGES, name_outcome
from tests.contract.own_types import OWN_APPS
from tests.contract.permissions import ANONYMOUS_CALLER, OTHERS, choose_cells
from tests.contract.worlds import World, make_worlds, read_all_rows, roll_back

# URLs without a row
NO_ROW = {
    "login": "Everybody may open it; tests/users/test_login.py tests it.",
    "logout": "Everybody who is logged in may log out.",
}


def list_names() -> set[str]:
    """Return the names of the URLs of the admin site, but for own types. Django's redirects have no name."""
    names = {pattern.name or "" for pattern in find_patterns(admin.site.get_urls())}
    return {name for name in names if not OWN_APPS or not name.startswith(OWN_APPS)}


def build_urls(world: World) -> dict[str, str]:
    """Return each URL of the admin site by its name, with objects of the world and the action to delete them."""
    objects = {beginning: find(world) for beginning, find in find_objects(world).items()}
    others = {"action": "delete", "app_label": "blog", "content_type_id": 1, "name": "archive", "number": 1}
    urls = {}
    for pattern in find_patterns(admin.site.get_urls()):
        name = pattern.name or ""
        found = next((row for beginning, row in objects.items() if name.startswith(beginning)), 1)
        kwargs = {parameter: others.get(parameter, found) for parameter in list_parameters(pattern)}
        urls[name] = reverse(f"admin:{name}", kwargs=kwargs)
    return urls


def find_patterns(patterns: Iterable[URLPattern | URLResolver]) -> Iterator[URLPattern]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from find_patterns(pattern.url_patterns)
        elif pattern.name:
            yield pattern


def list_parameters(pattern: URLPattern) -> list[str]:
    return [name.strip("<>").rpartition(":")[2] for name in re.findall(r"<[^>]+>", str(pattern.pattern))]


@pytest.mark.thorough
@pytest.mark.django_db
@pytest.mark.parametrize("role", STAFF)
def test_pages_have_the_outcomes_of_the_table(
    subtests: pytest.Subtests, role: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SimpleTemplateResponse, "rendered_content", "")  # the outcome is known before the page is
    worlds = log_in(make_worlds(role))

    for page in PAGES:
        if role not in choose_cells(page.outcomes):
            continue  # no page of an admin fails: tests/users/test_hostile_parameters.py
        world = worlds[page.whose]
        with subtests.test(f"{role}: {page}"), roll_back():
            assert name_outcome(page.send(world, browse(world), page.name)) == page.outcomes[role]


@pytest.mark.django_db
@pytest.mark.parametrize("caller", [ANONYMOUS_CALLER, "reader"])
def test_every_url_leads_anonymous_callers_and_readers_to_the_login(caller: str) -> None:
    worlds = make_worlds(caller)
    worlds = worlds if caller == ANONYMOUS_CALLER else log_in(worlds)
    browser = Client() if caller == ANONYMOUS_CALLER else browse(worlds[OTHERS])
    urls = {name: url for name, url in build_urls(worlds[OTHERS]).items() if name not in NO_ROW}
    rows = read_all_rows()

    responses = {(name, send): send(url) for name, url in urls.items() for send in (browser.get, browser.post)}

    elsewhere = {key: found.status_code for key, found in responses.items() if not is_login(found)}
    assert elsewhere == {}
    assert read_all_rows() == rows


def is_login(response: Any) -> bool:
    return response.status_code == 302 and str(response["Location"]).startswith("/admin/login/?next=")


def test_every_url_of_the_admin_site_has_a_row_or_a_reason_why_not() -> None:
    assert {page.name for page in PAGES} | set(NO_ROW) == list_names()
    assert not {page.name for page in PAGES} & set(NO_ROW)


def test_every_page_has_an_outcome_for_every_role() -> None:
    assert [str(page) for page in PAGES if set(page.outcomes) != set(STAFF)] == []
