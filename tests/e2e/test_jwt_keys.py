"""A running server and the keys of its tokens: no restart, no token lost."""

import json
from typing import Any
from urllib.request import urlopen

import pytest

from tests.e2e.checkout import Checkout, Run, free_port
from tests.e2e.test_oauth import get_status_with_token, run_command

pytestmark = [pytest.mark.processes, pytest.mark.slow]

EMAIL = "tova@example.invalid"


def get_key_ids(run: Run) -> list[str]:
    with urlopen(f"http://localhost:{run.port}/.well-known/jwks.json") as response:
        keys: Any = json.load(response)["keys"]
    return [key["kid"] for key in keys]


def test_rotated_key_is_known_at_once_and_the_old_one_still_verifies(checkout: Checkout) -> None:
    run = checkout.run(port=free_port()).wait_until_ready()
    run_command(checkout, "create_user", EMAIL, "--name", "Tova", "--role", "author")
    (before,) = run_command(checkout, "issue_token", EMAIL)
    old = get_key_ids(run)
    assert {get_status_with_token(run, before) for _ in range(8)} == {200}

    (new,) = run_command(checkout, "rotate_jwt_key")
    (after,) = run_command(checkout, "issue_token", EMAIL)

    assert {get_status_with_token(run, token) for token in (after, before) * 8} == {200}
    assert [new, *old] in [get_key_ids(run) for _ in range(8)]


def test_two_servers_of_one_checkout_accept_each_others_tokens(checkout: Checkout) -> None:
    one = checkout.run(port=free_port()).wait_until_ready()
    other = checkout.run(port=free_port(), SERVER="gunicorn").wait_until_ready()
    run_command(checkout, "create_user", EMAIL, "--name", "Tova", "--role", "author")

    (token,) = run_command(checkout, "issue_token", EMAIL)

    assert [get_status_with_token(run, token) for run in (one, other)] == [200, 200]
    assert get_key_ids(one) == get_key_ids(other)
