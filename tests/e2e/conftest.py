from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.deployment.checkout import Checkout
from tests.deployment.live_server import LiveServer, Site, run_site
from tests.deployment.proxies import find_nginx
from tests.deployment.template import Template, get_or_create_template
from tests.e2e.accessibility import install_axe
from tests.e2e.chromium import launch_chromium
from tests.e2e.shared_servers import SharedServer
from tests.e2e.writing import Desk, run_desk

NEEDS_NGINX = pytest.mark.skipif(find_nginx() is None, reason="nginx is not installed")


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return get_or_create_template(tmp_path_factory)


@pytest.fixture
def new_checkout(tmp_path: Path) -> Iterator[Checkout]:
    """A new checkout, whose path has a space in it. What still runs there at the end is stopped."""
    yield from stop_at_the_end(Checkout(tmp_path / "a checkout"))


@pytest.fixture
def checkout(tmp_path: Path, template: Template) -> Iterator[Checkout]:
    """A checkout that has run before: it has a migrated database with the demo."""
    yield from stop_at_the_end(Checkout(tmp_path / "a checkout", template))


@pytest.fixture(scope="session")
def demo_server(tmp_path_factory: pytest.TempPathFactory, template: Template) -> Iterator[LiveServer]:
    """A server with the demo, for tests that change nothing that others look at."""
    with run_site(tmp_path_factory.mktemp("server") / "site", template) as site, site.serve("granian") as server:
        yield server


def stop_at_the_end(checkout: Checkout) -> Iterator[Checkout]:
    yield checkout
    for run in checkout.runs:
        if run.process.poll() is None:
            run.interrupt()
    checkout.kill_everything()


@pytest.fixture
def site(tmp_path: Path, template: Template) -> Iterator[Site]:
    """A copy of the database of the demo, for servers of one test."""
    with run_site(tmp_path / "site", template) as site:
        yield site


@pytest.fixture(scope="session")
def get_shared_server(
    tmp_path_factory: pytest.TempPathFactory, template: Template
) -> Iterator[Callable[[str], SharedServer]]:
    """Return a function that returns the shared server of a kind, which the first call starts."""
    started: dict[str, SharedServer] = {}
    with ExitStack() as stack:

        def get(kind: str) -> SharedServer:
            if kind not in started:
                started[kind] = SharedServer(tmp_path_factory.mktemp(kind), template, kind)
                stack.callback(started[kind].close)
            return started[kind]

        yield get


@pytest.fixture(params=["granian", "gunicorn"])
def shared_server(request: pytest.FixtureRequest, get_shared_server: Callable[[str], SharedServer]) -> SharedServer:
    """A server that runs already, one of each kind. A test leaves it as it was."""
    return get_shared_server(request.param)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for a module. With one for all modules, its event loop would keep Django from using the database."""
    with launch_chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the source of axe-core."""
    return install_axe(tmp_path_factory.mktemp("axe"))


@pytest.fixture(scope="session")
def desk_of_all_modules(tmp_path_factory: pytest.TempPathFactory, template: Template) -> Iterator[Desk]:
    with run_desk(tmp_path_factory.mktemp("desk") / "a checkout", template) as desk:
        yield desk


@pytest.fixture(scope="module")
def desk(desk_of_all_modules: Desk, browser: Browser) -> Desk:
    """A browser of the admin of a checkout that runs. A test changes rows of its own only."""
    desk_of_all_modules.browser = browser
    return desk_of_all_modules
