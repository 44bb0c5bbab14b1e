"""Each page of the admin site answers each role as its row says, and no page lacks a row."""

from typing import Any

import pytest
from django.test import Client

from contentapi.core.identity import Role
from tests.contract.admin_pages import STAFF, browse
from tests.contract.admin_urls import NO_ROW, PAGES, Page, list_urls, name_outcome
from tests.contract.permissions import Outcome, make_world
from tests.factories import make_user

pytestmark = pytest.mark.django_db

CELLS = [
    pytest.param(page, role, outcome, id=f"{role}: {page.name}, {page.whose}")
    for page in PAGES
    for role, outcome in zip(STAFF, page.outcomes.split(), strict=True)
]


@pytest.mark.parametrize(("page", "role", "outcome"), CELLS)
def test_page_has_the_outcome_of_the_table(page: Page, role: str, outcome: Outcome) -> None:
    world = make_world(role, page.whose)

    assert name_outcome(page.send(world, browse(world), page.name)) == outcome


@pytest.mark.parametrize("logged_in", [False, True], ids=["anonymous", "reader"])
def test_every_url_leads_anonymous_callers_and_readers_to_the_login(client: Client, *, logged_in: bool) -> None:
    if logged_in:
        client.force_login(make_user(Role.READER))
    urls = {name: url for name, url in list_urls().items() if name not in NO_ROW}

    responses = {(name, send): send(url) for name, url in urls.items() for send in (client.get, client.post)}

    elsewhere = {key: found.status_code for key, found in responses.items() if not is_login(found)}
    assert elsewhere == {}


def is_login(response: Any) -> bool:
    return response.status_code == 302 and str(response["Location"]).startswith("/admin/login/?next=")


def test_every_url_of_the_admin_site_has_a_row_or_a_reason_why_not() -> None:
    assert {page.name for page in PAGES} | set(NO_ROW) == set(list_urls())
    assert not {page.name for page in PAGES} & set(NO_ROW)
