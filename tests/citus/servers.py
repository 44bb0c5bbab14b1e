"""Let the tests that start servers start them on a cluster: each has a copy of its demo there, and not a PostgreSQL."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path

import psycopg
import pytest

from tests.citus.databases import DemoCopy
from tests.citus.operators import build_environment
from tests.deployment.checkout import Checkout
from tests.deployment.hosts import Host
from tests.deployment.live_server import Site
from tests.deployment.template import Template

COPIES: dict[Path, DemoCopy] = {}  # by the folder of the other data of their servers


def start_servers_on_the_cluster() -> None:
    patch = pytest.MonkeyPatch()
    patch.setattr(Template, "copy", copy_demo_too(Template.copy))
    patch.setattr(Template, "copy_data", lambda *_: DemoCopy())
    patch.setattr(Site, "open", lambda _: None)
    patch.setattr(Site, "close", lambda site: drop_copy(site.var))
    patch.setattr(Site, "connect", lambda site: psycopg.connect(COPIES[site.var].build_url()))
    patch.setattr(Site, "environment", add_variables(Site.environment))
    patch.setattr(Checkout, "environment", add_variables(Checkout.environment))
    patch.setattr(Checkout, "kill_everything", drop_copy_too(Checkout.kill_everything))
    known = vars(Host)["environment"].fget
    patch.setattr(Host, "environment", property(lambda host: {**known(host), "CONTENTAPI_DISTRIBUTED": "citus"}))


def copy_demo_too(copy: Callable[[Template, Path], None]) -> Callable[[Template, Path], None]:
    @wraps(copy)
    def copy_both(template: Template, folder: Path) -> None:
        copy(template, folder)
        COPIES[folder] = DemoCopy()

    return copy_both


def drop_copy_too(kill: Callable[[Checkout], None]) -> Callable[[Checkout], None]:
    @wraps(kill)
    def kill_and_drop(checkout: Checkout) -> None:
        kill(checkout)
        drop_copy(checkout.folder / "var")

    return kill_and_drop


def drop_copy(folder: Path) -> None:
    if copy := COPIES.pop(folder, None):
        copy.remove()


def add_variables(build: Callable[..., dict[str, str]]) -> Callable[..., dict[str, str]]:
    """Let the processes of a folder use its copy. A folder without one has an embedded PostgreSQL."""

    @wraps(build)
    def build_with_copy(owner: Site | Checkout, **variables: str) -> dict[str, str]:
        copy = COPIES.get(folder := owner.folder / "var")
        own = {"CONTENTAPI_LOG_FORMAT": "text", "CONTENTAPI_BIND": "127.0.0.1"}  # as with the embedded PostgreSQL
        if "EMAIL_URL" in variables:  # the links in mails begin with it
            own["CONTENTAPI_PUBLIC_URL"] = f"http://localhost:{variables['PORT']}"
        added = {**own, **build_environment(copy.nodes[0], copy.name, folder)} if copy else {}
        return build(owner, **{**added, **variables})

    return build_with_copy
