"""Concurrent exchanges of one code or token: one succeeds, the others count as reuse."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connections
from oauth2_provider.models import AccessToken, RefreshToken

from tests.users.oauth.flow import Application, Browser, make_member, query_api

pytestmark = pytest.mark.django_db(transaction=True)

AT_ONCE = 6


def run_concurrently(action: Callable[[], Any]) -> list[Any]:
    """Send a request several times concurrently. Return the responses, the successful ones first."""
    ready = Barrier(AT_ONCE)

    def run(_: int) -> Any:
        try:
            ready.wait()
            return action()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return sorted(pool.map(run, range(AT_ONCE)), key=lambda response: int(response.status_code))


def assert_one_succeeded_and_its_family_is_revoked(responses: list[Any]) -> None:
    assert [response.status_code for response in responses] == [200] + [400] * (AT_ONCE - 1)
    assert {json.loads(response.content)["error"] for response in responses[1:]} == {"invalid_grant"}
    assert query_api(json.loads(responses[0].content)["access_token"]).status_code == 401
    assert not AccessToken.objects.exists()
    assert not RefreshToken.objects.filter(revoked=None).exists()


def test_one_of_several_concurrent_exchanges_of_a_code_succeeds() -> None:
    application = Application()
    code = Browser(make_member()).obtain_code(application)

    assert_one_succeeded_and_its_family_is_revoked(run_concurrently(lambda: application.exchange(code)))


def test_one_of_several_concurrent_refreshes_with_a_token_succeeds() -> None:
    application = Application()
    granted = json.loads(application.exchange(Browser(make_member()).obtain_code(application)).content)

    assert_one_succeeded_and_its_family_is_revoked(
        run_concurrently(lambda: application.refresh(granted["refresh_token"]))
    )
