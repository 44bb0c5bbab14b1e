"""`make run`, as a newcomer meets it: real make, servers, PostgreSQL and signals."""

import fcntl
import json
import os
import re
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.request import Request, urlopen

import psutil
import pytest

from contentapi.frontend import BUILT, hash_sources
from contentapi.frontend.build import has_node
from tests.deployment.checkout import Checkout, Run
from tests.deployment.ports import find_free_port
from tests.deployment.processes import wait_until

pytestmark = pytest.mark.servers
needs_node = pytest.mark.skipif(not has_node(), reason="Node and npm are not installed")

NEWEST = {"data": {"posts": [{"title": "How we name our boats", "author": {"name": "Marguerite Okafor"}}]}}
KEPT = {"data": {"posts": [{"title": "Kept"}]}}


def send_query(run: Run, query: str, key: str = "") -> object:
    headers = {"Content-Type": "application/json", **({"X-API-Key": key} if key else {})}
    request = Request(f"http://localhost:{run.port}/graphql", json.dumps({"query": query}).encode(), headers)
    with urlopen(request) as response:  # noqa: S310 - our own server
        return json.load(response)


def find_api_key(run: Run) -> str:
    match = re.search(r"API key +(\S+)", run.printed)
    assert match
    return match[1]


def test_first_starts_share_a_database_that_the_next_start_keeps(new_checkout: Checkout) -> None:
    runs = [new_checkout.run(), new_checkout.run()]
    for run in runs:
        run.wait_until_ready()
    first, second = runs
    key = find_api_key(first)
    assert find_api_key(second) == key
    assert send_query(first, "{ posts(limit: 1) { title author { name } } }") == NEWEST
    created = 'mutation { createPost(input: {title: "Kept", body: "", status: published}) { id } }'
    send_query(first, created, key)

    first.interrupt()

    assert send_query(second, "{ posts(limit: 1) { title } }") == KEPT
    assert new_checkout.manage("create_user", "late@example.invalid", "--name", "Late").returncode == 0
    assert send_query(second, "{ posts(limit: 1) { title } }") == KEPT
    second.interrupt()
    new_checkout.wait_until_empty()
    assert not (new_checkout.folder / "var/postgres/postmaster.pid").exists()
    third = new_checkout.run().wait_until_ready()
    assert send_query(third, "{ posts(limit: 1) { title } }") == KEPT
    assert find_api_key(third) == key


def require_restart_of_postgresql(run: Run) -> None:
    """Kill PostgreSQL. It is started once, by the first process that needs it, and all requests get their responses."""
    query = "{ posts(limit: 1) { title author { name } } }"
    before = [send_query(run, query) for _ in range(4)]  # which connects several threads
    log, record = (run.checkout.folder / "var/postgres" / name for name in ("server.log", "postmaster.pid"))
    starts = count_starts(log)
    killed = psutil.Process(int(record.read_text().split()[0]))
    killed.kill()
    psutil.wait_procs([killed], timeout=60)

    with ThreadPoolExecutor(8) as threads:
        after = list(threads.map(lambda _: send_query(run, query), range(16)))

    assert after == before[:1] * 16
    assert count_starts(log) == starts + 1


def count_starts(log: Path) -> int:
    return log.read_text(errors="replace").count("LOG:  starting PostgreSQL")


def test_run_survives_the_end_of_postgresql_and_the_next_one_its_own(checkout: Checkout) -> None:
    run = checkout.run(WEB_CONCURRENCY="2").wait_until_ready()
    require_restart_of_postgresql(run)

    checkout.kill_everything()

    again = checkout.run().wait_until_ready()
    assert send_query(again, "{ posts(limit: 1) { title author { name } } }") == NEWEST
    again.interrupt()
    checkout.wait_until_empty()
    assert "Traceback" not in run.printed + again.printed


def load_page(run: Run, path: str) -> str:
    request = Request(f"http://localhost:{run.port}{path}", headers={"Accept": "text/html"})
    with urlopen(request) as response:  # noqa: S310 - our own server
        content: str = response.read().decode()
        return content


@pytest.fixture
def pages(checkout: Checkout) -> Path:
    """The folder of the pages for developers, which are not built in this checkout."""
    folder = checkout.folder / "contentapi/static/frontend"
    folder.unlink()
    folder.mkdir()
    return folder


@pytest.fixture
def path_without_node(tmp_path: Path) -> str:
    """A folder with links to all programs except Node."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for program in (program for folder in os.get_exec_path() for program in Path(folder).glob("*")):
        if program.name not in ("node", "npm") and not os.path.lexists(programs / program.name):
            (programs / program.name).symlink_to(program)
    return str(programs)


def require_built_pages(run: Run) -> None:
    name = hash_sources()
    for path, script in (("/docs", "reference.js"), ("/graphql", "explorer.js")):
        address = f"/static/frontend/{name}/{script}"
        assert address in load_page(run, path)
        assert load_page(run, address) == (BUILT / name / script).read_text()


def test_gunicorn_serves_the_same_responses_also_without_node(
    checkout: Checkout, pages: Path, path_without_node: str
) -> None:
    metrics = f"127.0.0.1:{find_free_port()}"
    variables = {"CONTENTAPI_METRICS_BIND": metrics, "WEB_CONCURRENCY": "2", "PATH": path_without_node}
    run = checkout.run("SERVER=gunicorn", **variables).wait_until_ready()

    run.wait_for("Node 18 or newer with npm is not installed. Until they are, browsers get plain pages at")
    assert all("make pages" in load_page(run, path) for path in ("/docs", "/graphql"))
    if (built := BUILT / hash_sources()).exists():
        shutil.copytree(built, pages / built.name)
        require_built_pages(run)

    created = 'mutation { createPost(input: {title: "Kept", body: "é", status: published}) { body } }'
    made = send_query(run, created, find_api_key(run))
    with urlopen(f"http://localhost:{run.port}/admin/login/") as response:
        page = response.read().decode()

    assert made == {"data": {"createPost": {"body": "é"}}}
    assert "csrfmiddlewaretoken" in page
    require_restart_of_postgresql(run)
    all_processes = {"server": "2.0", "stream": "1.0", "worker": "1.0"}
    wait_until(lambda: read_processes(metrics) == all_processes, "the figures of all processes")
    run.interrupt()
    checkout.wait_until_empty()
    assert "Traceback" not in run.printed


def read_processes(metrics: str) -> dict[str, str]:
    """Return the number of processes of each role."""
    with urlopen(f"http://{metrics}/metrics") as response:
        text = response.read().decode()
    return dict(re.findall(r'^contentapi_processes\{role="(\w+)"\} (\S+)', text, re.MULTILINE))


def find_builds(checkout: Checkout) -> list[psutil.Process]:
    return [process for process in checkout.processes() if "contentapi.frontend.build" in read_command(process)]


def read_command(process: psutil.Process) -> list[str]:
    """Return the command line of a process; no words if it has just ended."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@needs_node
def test_server_does_not_wait_for_the_build_of_the_pages_and_then_serves_them(checkout: Checkout, pages: Path) -> None:
    name = hash_sources()
    other_build = os.open(pages, os.O_RDONLY)
    fcntl.flock(other_build, fcntl.LOCK_EX)
    run = checkout.run().wait_until_ready()
    wait_until(lambda: len(find_builds(checkout)) == 1, "the start of the build")
    assert all("make pages" in load_page(run, path) for path in ("/docs", "/graphql"))

    shutil.copytree(BUILT / name, pages / "arriving")
    (pages / "arriving").rename(pages / name)
    os.close(other_build)

    wait_until(lambda: find_builds(checkout) == [], "the end of the build")
    require_built_pages(run)
    run.interrupt()
    checkout.wait_until_empty()
    assert not any(word in run.printed for word in ("Building", "Traceback"))


def test_ctrl_c_at_any_moment_of_the_start_leaves_nothing_running(checkout: Checkout) -> None:
    for seconds in (0.1, 0.4, 0.9, 2.2):
        run = checkout.run()

        time.sleep(seconds)
        run.interrupt()

        checkout.wait_until_empty()
        assert "Traceback" not in run.printed, seconds
