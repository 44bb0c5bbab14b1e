"""Charges of requests that no endpoint charges."""

import pytest
from django.test import Client
from pytest_django import Settings

from tests.contentapi.rate_limits.test_account import limited

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", ["/openapi.json", "/nowhere"])
def test_request_to_a_document_or_no_view_is_charged_once(path: str) -> None:
    headers = [Client().get(path)["RateLimit"] for _ in range(2)]

    assert [header.split(";")[:2] for header in headers] == [['"anonymous"', "r=299"], ['"anonymous"', "r=298"]]


def test_request_over_the_limit_gets_429(settings: Settings) -> None:
    limited(settings, anonymous="1/minute")
    Client().get("/openapi.json")

    response = Client().get("/openapi.json")

    assert (response.status_code, response["X-Error-Code"], response["Retry-After"]) == (429, "RATE_LIMITED", "60")


@pytest.mark.parametrize("path", ["/admin/login/", "/static/nothing.css"])
def test_page_of_the_admin_and_static_file_are_not_charged(path: str) -> None:
    assert "RateLimit" not in Client().get(path)
