"""`make run`, as a newcomer meets it: real make, servers, PostgreSQL and signals."""

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.request import Request, urlopen

import psutil
import pytest

from tests.e2e.checkout import Checkout, Run, free_port

pytestmark = pytest.mark.processes


def send_query(run: Run, query: str, key: str = "") -> object:
    headers = {"Content-Type": "application/json", **({"X-API-Key": key} if key else {})}
    request = Request(f"http://localhost:{run.port}/graphql", json.dumps({"query": query}).encode(), headers)
    with urlopen(request) as response:  # noqa: S310 - our own server
        return json.load(response)


def find_api_key(run: Run) -> str:
    match = re.search(r"API key +(\S+)", run.printed)
    assert match
    return match[1]


def test_ctrl_c_leaves_nothing_running_and_the_next_start_keeps_the_data(checkout: Checkout) -> None:
    first = checkout.run(port=free_port()).wait_until_ready()
    send_query(
        first,
        'mutation { createPost(input: {title: "Kept", body: "", status: published}) { id } }',
        find_api_key(first),
    )

    first.interrupt()

    checkout.wait_until_empty()
    assert not (checkout.folder / "var/postgres/postmaster.pid").exists()
    second = checkout.run(port=free_port()).wait_until_ready()
    assert send_query(second, "{ posts(limit: 1) { title } }") == {"data": {"posts": [{"title": "Kept"}]}}
    assert find_api_key(second) == find_api_key(first)


@pytest.mark.slow
def test_gunicorn_serves_the_same_responses(checkout: Checkout) -> None:
    run = checkout.run("SERVER=gunicorn", port=free_port()).wait_until_ready()

    made = send_query(
        run, 'mutation { createPost(input: {title: "Kept", body: "é", status: published}) { body } }', find_api_key(run)
    )
    with urlopen(f"http://localhost:{run.port}/admin/login/") as response:
        page = response.read().decode()

    assert made == {"data": {"createPost": {"body": "é"}}}
    assert "csrfmiddlewaretoken" in page
    run.interrupt()
    checkout.wait_until_empty()
    assert "Traceback" not in run.printed


@pytest.mark.slow
def test_start_after_a_kill_works_and_ends_cleanly(checkout: Checkout) -> None:
    checkout.run(port=free_port()).wait_until_ready()

    checkout.kill_everything()

    again = checkout.run(port=free_port()).wait_until_ready()
    assert send_query(again, "{ posts(limit: 1) { author { name } } }") == {
        "data": {"posts": [{"author": {"name": "Marguerite Okafor"}}]}
    }
    again.interrupt()
    checkout.wait_until_empty()


@pytest.mark.slow
def test_two_concurrent_starts_share_the_database_until_the_last_ends(checkout: Checkout) -> None:
    runs = [checkout.run(port=free_port()), checkout.run(port=free_port())]
    for run in runs:
        run.wait_until_ready()

    assert find_api_key(runs[0]) == find_api_key(runs[1])
    runs[0].interrupt()

    assert send_query(runs[1], "{ __typename }") == {"data": {"__typename": "Query"}}
    assert checkout.manage("create_user", "late@example.invalid", "--name", "Late").returncode == 0
    assert send_query(runs[1], "{ posts(limit: 1) { title } }") == {
        "data": {"posts": [{"title": "How we name our boats"}]}
    }
    runs[1].interrupt()
    checkout.wait_until_empty()


@pytest.mark.slow
def test_two_checkouts_run_side_by_side(checkout: Checkout, tmp_path: Path) -> None:
    other = Checkout(tmp_path / "another checkout")
    here, there = checkout.run(port=free_port()).wait_until_ready(), other.run(port=free_port()).wait_until_ready()

    send_query(
        here, 'mutation { createPost(input: {title: "Here", body: "", status: published}) { id } }', find_api_key(here)
    )

    assert send_query(there, "{ posts(limit: 1) { title } }") == {
        "data": {"posts": [{"title": "How we name our boats"}]}
    }
    here.interrupt()
    there.interrupt()
    checkout.wait_until_empty()
    other.wait_until_empty()


@pytest.mark.slow
@pytest.mark.parametrize("server", ["gunicorn", "granian"])
def test_killed_postgresql_is_restarted_by_the_next_request(checkout: Checkout, server: str) -> None:
    run = checkout.run(f"SERVER={server}", port=free_port()).wait_until_ready()
    query = "{ posts(limit: 1) { title } }"
    before = [send_query(run, query) for _ in range(4)]  # which connects several threads
    killed = psutil.Process(int((checkout.folder / "var/postgres/postmaster.pid").read_text().split()[0]))
    killed.kill()
    psutil.wait_procs([killed], timeout=10)

    with ThreadPoolExecutor(8) as threads:
        after = list(threads.map(lambda _: send_query(run, query), range(16)))

    assert after == before[:1] * 16
    assert run.printed.count("has been started again") == 1
    run.interrupt()
    checkout.wait_until_empty()
    assert "Traceback" not in run.printed


OTHER_MOMENTS = [0.02, 0.05, 0.15, 0.2, 0.25, 0.6, 0.7, 0.8, 1.0, 1.1, 1.2, 1.7, 2.2]


@pytest.mark.slow
@pytest.mark.parametrize(
    "seconds", [0.1, 0.4, 0.9, 1.4, *(pytest.param(moment, marks=pytest.mark.thorough) for moment in OTHER_MOMENTS)]
)
def test_ctrl_c_at_any_moment_of_the_start_leaves_nothing_running(checkout: Checkout, seconds: float) -> None:
    checkout.manage("migrate", "--verbosity", "0")
    run = checkout.run(port=free_port())

    time.sleep(seconds)
    run.interrupt()

    checkout.wait_until_empty()
    assert "Traceback" not in run.printed
