"""Errors at the start: one clear message and a failing exit status."""

import socket
import sys

import pytest

from tests.deployment.checkout import Checkout
from tests.deployment.ports import find_free_port
from tests.deployment.processes import ROOT, run_program

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return Checkout(tmp_path_factory.mktemp("failures") / "a checkout")


def test_occupied_port_is_named_with_a_remedy(checkout: Checkout) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        printed = checkout.run(PORT=str(port)).fails()

    assert f"CommandError: Cannot listen on 127.0.0.1:{port}: Address already in use." in printed
    assert f"make run PORT={port + 1}" in printed
    assert "Traceback" not in printed
    checkout.wait_until_empty()


def test_unreachable_database_is_reported_in_a_few_lines(checkout: Checkout) -> None:
    url = f"postgresql://app:hunter2@127.0.0.1:{find_free_port()}/app"

    printed = checkout.run(DATABASE_URL=url, SECRET_KEY="s" * 50, JWT_SECRET="s" * 32).fails()

    assert "The database does not answer" in printed
    assert "DATABASE_URL says where it is." in printed
    assert "hunter2" not in printed
    assert "Traceback" not in printed


def test_deployment_without_a_secret_does_not_start(checkout: Checkout) -> None:
    url = "postgresql://app@db.invalid/app"

    by_make = checkout.run(DATABASE_URL=url)
    by_procfile = checkout.serve_as_the_procfile(DATABASE_URL=url)

    for printed in (by_make.fails(), by_procfile.fails()):
        assert "SECRET_KEY is required when DATABASE_URL is set." in printed
        assert "HINT: Set it to 50 random characters or more" in printed
        assert "JWT_PRIVATE_KEY is required when DATABASE_URL is set." in printed
        assert "Traceback" not in printed


def test_missing_python_is_reported(checkout: Checkout) -> None:
    printed = checkout.run("PYTHON=/nowhere/python3").fails()

    assert "There is no /nowhere/python3. Install Python 3.11 or newer" in printed


def test_python_that_is_too_old_is_reported() -> None:
    pretend = "import sys; sys.version_info = (3, 10, 13); from contentapi import bootstrap; bootstrap.main([])"

    done = run_program(sys.executable, "-c", pretend, cwd=ROOT, env={"PATH": ""})

    assert done.returncode == 1
    assert done.stderr.startswith("Python 3.11 or newer is needed, and ")
    assert "is Python 3.10. Install one, or name it: make run PYTHON=" in done.stderr
