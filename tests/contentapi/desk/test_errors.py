"""Errors below /admin/ are HTML pages in the look of the theme, and need no database."""

import logging
import sys
from typing import Any

import pytest
from django.conf import settings
from django.contrib import admin
from django.db import OperationalError
from django.test import Client, RequestFactory
from django.urls import reverse

from contentapi.core.identity import Role
from contentapi.desk import pages
from tests.factories import make_post, make_user

HTML = "text/html; charset=utf-8"
LISTS = [
    reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist") for model in admin.site._registry
]


@pytest.mark.parametrize("path", LISTS)
def test_unknown_parameter_of_a_list_is_refused(admin_client: Client, path: str) -> None:
    for query in ("author__user__password__startswith=a", "nothing=1", "id=1", "q=%00"):
        response = admin_client.get(f"{path}?{query}")

        assert (response.status_code, response["Content-Type"]) == (400, HTML), query


def test_wrong_value_of_a_filter_is_no_failure(admin_client: Client) -> None:
    make_post()
    queries = [
        *("p=x", "p=99999999999", "o=x&tag=", "o=99&created_at_from=x", "status__exact=lost"),
        *("author__id__exact=x", "author__id__exact=99999999999999999999999"),
        *("created_at_to=9999-12-31&created_at_from=2026-02-30",),
    ]

    statuses = {
        query: admin_client.get(f"{reverse('admin:blog_post_changelist')}?{query}").status_code for query in queries
    }

    assert {query: status for query, status in statuses.items() if status not in (200, 302)} == {}


@pytest.mark.parametrize("selected", ["-1", ""])
def test_wrong_selection_of_an_action_is_a_message(admin_client: Client, selected: str) -> None:
    url = reverse("admin:blog_post_changelist")

    response = admin_client.post(url, {"action": "delete_selected", "_selected_action": selected, "post": "yes"})

    assert response.status_code == 302


def test_search_page_that_is_no_number_is_refused(admin_client: Client) -> None:
    assert admin_client.get("/admin/search/?s=post&page=x").status_code == 400


@pytest.mark.parametrize("object_id", ["x", "99999999999999999999999", "1/2"])
def test_object_that_does_not_exist_is_a_404_page(admin_client: Client, object_id: str) -> None:
    response = admin_client.get(f"/admin/blog/post/{object_id}/change/")

    assert (response.status_code, response["Content-Type"]) == (404, HTML)


def test_form_without_a_csrf_token_is_refused_with_a_page(db: None) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_user(Role.EDITOR))

    response = client.post(reverse("admin:blog_post_add"), {"title": "New"})

    assert (response.status_code, response["Content-Type"]) == (403, HTML)


def test_failure_of_a_view_is_a_500_page(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr("blog.desk.queries.build_desk", fail)
    admin_client.raise_request_exception = False
    with caplog.at_level(logging.ERROR):
        response = admin_client.get(reverse("admin:index"))

    assert (response.status_code, response["Content-Type"]) == (500, HTML)
    assert "secret detail" not in response.text
    assert "ZeroDivisionError" in caplog.text


def test_failed_database_is_a_503_page_without_a_query(monkeypatch: pytest.MonkeyPatch) -> None:
    """`db` is no fixture here: a query would fail the test."""
    request = RequestFactory().get("/admin/")
    monkeypatch.setattr(sys, "exc_info", lambda: (OperationalError, OperationalError("closed"), None))

    response = pages.handle_error(request)

    assert (response.status_code, response["Content-Type"], response["Retry-After"]) == (503, HTML, "5")


@pytest.mark.parametrize("path", ["/nothing", "/posts/nothing/else"])
def test_error_outside_of_the_admin_stays_json(client: Client, path: str) -> None:
    assert client.get(path)["Content-Type"] == "application/json"


def test_pages_of_errors_load_files_of_this_site_only(admin_client: Client) -> None:
    response = admin_client.get("/admin/nothing/")

    assert "default-src 'none'" in response["Content-Security-Policy"]
    assert settings.STATIC_URL in response.text
