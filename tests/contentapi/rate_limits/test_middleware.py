"""Charges of requests that no endpoint charges."""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", ["/openapi.json", "/nowhere"])
def test_request_to_a_document_or_no_view_is_charged_once(path: str) -> None:
    headers = [Client().get(path)["RateLimit"] for _ in range(2)]

    assert [header.split(";")[:2] for header in headers] == [['"anonymous"', "r=299"], ['"anonymous"', "r=298"]]


@pytest.mark.parametrize("path", ["/admin/login/", "/static/nothing.css"])
def test_page_of_the_admin_and_static_file_are_not_charged(path: str) -> None:
    assert "RateLimit" not in Client().get(path)
