"""Every URL below /admin/ refuses text that no database can store, and survives every other text, in each parameter."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from tests.contract.admin_browser import browse, log_in
from tests.contract.admin_walk import LEFT_OUT, name_model
from tests.contract.permissions import OWN
from tests.contract.test_admin_urls import build_urls, find_patterns, list_parameters
from tests.contract.worlds import make_worlds, roll_back

pytestmark = pytest.mark.thorough
NUL, LONG = "%00", "%ED%A0%80" + "x" * 10_000  # in an address: LONG begins with a lone surrogate
# Of pages that are no lists: what they read from their address or their form
NAMES = [
    "q", "s", "extended", "term", "app_label", "model_name", "field_name", "next", "ids", "page", "post", "body",
    "title", "slug", "alt", "day", "days", "site", "present", "opened_version", "_page", "_selected_action", "confirm",
    "tags", "author", "coauthors", "cover", "publish_at", "schedule_at_local", "url", "email", "name", "role", "scopes",
]  # fmt: skip


@pytest.fixture
def desk(db: None) -> tuple[Client, dict[str, str]]:  # noqa: ARG001
    """The browser of an admin, and the URLs of the desk by their names."""
    world = log_in(make_worlds("admin"))[OWN]
    browser = browse(world)
    browser.raise_request_exception = False
    return browser, {name: url for name, url in build_urls(world).items() if name not in LEFT_OUT}


def list_queries(name: str) -> Iterator[list[str]]:
    """Yield the parameters of requests to a URL: those of a list alone, because an unknown one is refused."""
    lists: dict[str, Any] = {f"{name_model(model)}_changelist": page for model, page in admin.site._registry.items()}
    if name in lists:
        yield from ([lookup] for lookup in ("q", "p", "o", *lists[name].list_lookups))
    else:
        yield NAMES


def test_text_that_no_database_can_store_is_refused_in_every_address(desk: tuple[Client, dict[str, str]]) -> None:
    browser, urls = desk

    statuses = {name: browser.get(f"{url}?q={NUL}").status_code for name, url in urls.items() if name != "login"}

    assert {name: status for name, status in statuses.items() if status != 400} == {}


def test_no_parameter_of_an_address_is_a_failure(desk: tuple[Client, dict[str, str]]) -> None:
    browser, urls = desk

    statuses = {
        (name, *names): browser.get(f"{url}?{'&'.join(f'{each}={LONG}' for each in names)}").status_code
        for name, url in urls.items()
        for names in list_queries(name)
    }

    assert {key: status for key, status in statuses.items() if status >= 500} == {}


@pytest.mark.parametrize("text", [NUL, LONG], ids=["NUL", "long"])
def test_no_part_of_a_path_is_a_failure(desk: tuple[Client, dict[str, str]], text: str) -> None:
    browser, _ = desk
    urls = [
        reverse(f"admin:{pattern.name}", kwargs={each: 1 if each in {"number"} else "TEXT" for each in parameters})
        for pattern in find_patterns(admin.site.get_urls())
        if (parameters := list_parameters(pattern)) and parameters != ["app_label"]  # one of a few words
    ]

    statuses = {
        (send.__name__, url): send(url.replace("TEXT", text)).status_code
        for url in urls
        for send in (browser.get, browser.post)
    }

    assert {key: status for key, status in statuses.items() if status >= 500} == {}
    if text == NUL:
        assert set(statuses.values()) == {400}


def test_no_value_of_a_form_is_a_failure(desk: tuple[Client, dict[str, str]]) -> None:
    browser, urls = desk
    statuses = {}
    for name, url in urls.items():
        with roll_back():
            statuses[name] = browser.post(url, dict.fromkeys(NAMES, "\0")).status_code

    assert {name: status for name, status in statuses.items() if status >= 500} == {}
