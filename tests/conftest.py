"""Fixtures of all tests. `gql` sends a query to /graphql with an API key of the actor."""

import gc
import logging
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Generator, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

import msgspec
import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoDbBlocker, Settings

import contentapi.urls  # noqa: F401 - registers the pages of the desk, over which tests iterate
from contentapi.core import redis
from contentapi.core.identity import ROLE_SCOPES, Actor, Role
from contentapi.db.statements import execute
from contentapi.events.partitions import prepare_partitions
from contentapi.media.folder import FolderStorage
from contentapi.monitoring.repeated import NOTHING, OUTAGES
from contentapi.rate_limits.account import COUNTERS
from tests.audit_lines import Lines
from tests.deployment.redis_server import RedisServer
from tests.factories import make_actor, make_user
from tests.graphql_requests import GraphQLResponse, PostToGraphQL, post_to_graphql
from tests.migrated_database import get_or_create_migrated_database
from tests.otlp_receiver import OtlpReceiver
from tests.patches import patch_for_all_tests
from tests.quality.process_coverage import measure_processes
from users import services
from users.models import ApiKey, User

SHARED_SERVERS = ("desk_of_all_modules", "demo_server", "get_shared_server")
LONGEST = "test_cases_pass_in_a_project_with_own_fields_and_an_own_type"  # of `make test`
MARKERS = ("servers", "thorough", "property")
# Folders whose tests use the database, almost all of them: they need no marker for it
WITH_DATABASE = {
    Path(__file__).parent / name
    for name in (
        *("behaviour", "blog", "orders", "own/cases/fields", "own/cases/types", "users", "users/oauth"),
        *(f"contentapi/{name}" for name in ("db/engine", "desk", "events", "health", "http", "rest")),
    )
}
# What a file with a test that has one of these markers contains
MARKED = re.compile(rf"mark\.({'|'.join(MARKERS)})\b|NEEDS_CHROMIUM|import .*\bpytestmark\b")
MARKED_AS_A_WHOLE = re.compile(
    r"^(pytestmark = \[?\s*(\*?NEEDS_CHROMIUM|pytest\.mark\.(servers|thorough)\b)|from .* import .*\bpytestmark\b)",
    re.MULTILINE,
)


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # until the tests are loaded
    measure_processes(config)
    if not hasattr(config, "workerinput"):  # the processes of pytest-xdist use folders of their controller
        create_root_of_temporary_folders(config)
    elif config.option.durations is None:
        send_what_the_controller_shows(config)


def create_root_of_temporary_folders(config: pytest.Config) -> None:
    """Create a folder for the temporary folders of this run, and remove it at the end unless a test failed.

    All runs of a user share pytest's default. Each of them makes it private when it begins, so that the account of the
    PostgreSQL servers of another run could no longer reach their data.
    """
    root = Path(tempfile.mkdtemp(prefix="tests-"))
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(root)

    def remove_unless_a_test_failed() -> None:
        if not any(path.is_dir() and not path.is_symlink() for path in root.glob("pytest-of-*/pytest-*")):
            shutil.rmtree(root)

    config.add_cleanup(remove_unless_a_test_failed)


def send_what_the_controller_shows(config: pytest.Config) -> None:
    """Let a process of pytest-xdist send no start of a test and no success of its fixtures: half of its messages."""
    (interactor,) = (plugin for plugin in config.pluginmanager.get_plugins() if hasattr(plugin, "sendevent"))
    send = interactor.sendevent

    def send_what_is_shown(name: str, **content: Any) -> None:
        report = content.get("data")
        if name != "logstart" and not (report and report["when"] != "call" and report["outcome"] == "passed"):
            send(name, **content)

    interactor.sendevent = send_what_is_shown


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip the files without a marked test if `-m` selects marked tests only: to import them takes half of the time.

    Without the marked tests, skip the files that are marked as a whole. Of a folder of such files, nothing is imported.
    """
    selected = config.option.markexpr
    if selected.startswith((*MARKERS, "not servers and not thorough")):
        paths = [collection_path] if collection_path.suffix == ".py" else collection_path.rglob("test_*.py")
        if all(is_skipped(path.read_text(), selected) for path in paths):
            return True
    return None  # as another plugin decides


def is_skipped(text: str, selected: str) -> bool:
    return bool(MARKED_AS_A_WHOLE.search(text)) if selected.startswith("not") else not MARKED.search(text)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let the tests of `WITH_DATABASE` use the database, unless they start servers, or have a marker of their own."""
    if item.path.parent in WITH_DATABASE and not any(map(item.get_closest_marker, ("servers", "django_db"))):
        item.add_marker("django_db")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the tests of a server be neighbours, so that few processes start it. Begin with the longest test."""
    marked = {item.path for item in items if any(map(item.get_closest_marker, MARKERS))}
    if skipped := [str(path) for path in marked if not MARKED.search(path.read_text())]:
        raise pytest.UsageError(f"`make test-servers` and `make thorough` find no marker in {', '.join(skipped)}.")
    items.sort(key=lambda item: [name in getattr(item, "fixturenames", ()) for name in SHARED_SERVERS])
    items.sort(key=lambda item: item.name != LONGEST)


def pytest_collection_finish() -> None:
    """Exclude what is loaded from garbage collection, as the servers do: visits of it take a tenth of the time."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Leave out of the report of a success what only a failure shows: processes send each other all reports."""
    report = yield
    if report.passed and "PYTEST_XDIST_WORKER" in os.environ:
        report.keywords, report.sections = {}, []
    return report


class GraphQL(Protocol):
    def __call__(self, query: str, *, actor: Actor | None = None, **variables: Any) -> GraphQLResponse: ...


def make_api_key(actor: Actor) -> str:
    """Write an API key of an actor and return it. The service allows a user 20 keys; a test may send more requests."""
    assert actor.user_id is not None
    assert actor.role is not None
    prefix = services.make_prefix()
    key = f"{prefix}_{secrets.token_hex(32)}"
    ApiKey.objects.create(
        user_id=actor.user_id,
        name="test",
        prefix=prefix,
        digest=services.hash_api_key(key),
        scopes=sorted(actor.scopes or ROLE_SCOPES[actor.role]),
        expires_at=timezone.now() + timedelta(days=1),
    )
    return key


@pytest.fixture
def admin_user(db: None) -> User:  # noqa: ARG001
    """Return the user who is logged in in the `admin_client` of pytest-django."""
    return make_user(Role.ADMIN, name="Ada")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None,  # noqa: ARG001
    django_db_blocker: DjangoDbBlocker,
) -> None:
    """Let Django copy the database of this process from one that is migrated already."""
    with django_db_blocker.unblock():
        connection.settings_dict["TEST"]["TEMPLATE"] = get_or_create_migrated_database()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:  # noqa: ARG001
    """Make the partitions of the log and of deliveries once. A test would make the same 24, and roll them back.

    Commits do not wait for the disk, and a deadlock does not last a second. At the end, connections that no collection
    has closed yet are ended: PostgreSQL does not drop a database that is in use.
    """
    with django_db_blocker.unblock():
        prepare_partitions()
        for setting in ("synchronous_commit = off", "deadlock_timeout = 50"):  # ms
            execute(f"ALTER DATABASE {connection.settings_dict['NAME']} SET {setting}")
        connection.close()  # the next one has the setting
    yield
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        connection.close()  # Django closes the one of its start, and a test of slots may have installed another one


@pytest.fixture(autouse=True)
def forget_earlier_tests() -> None:
    """Begin each test with unused rate limits, because all tests send requests from one address.

    End the outages of the one before: the line that counts their last requests would be logged later.
    """
    COUNTERS.clear()
    if OUTAGES.timer:
        OUTAGES.timer.cancel()
    OUTAGES.timer, OUTAGES.state = None, NOTHING


@pytest.fixture(scope="session", autouse=True)
def patch_what_is_slow_or_depends_on_time(django_test_environment: None) -> Iterator[None]:  # noqa: ARG001
    with patch_for_all_tests():
        yield


@pytest.fixture
def redis_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RedisServer]:
    monkeypatch.setattr(redis, "REDIS_TIMEOUT", 30)  # the machine may be busy
    server = RedisServer(tmp_path)
    yield server
    server.kill()


@pytest.fixture
def receiver() -> Iterator[OtlpReceiver]:
    receiver = OtlpReceiver()
    yield receiver
    receiver.close()


@pytest.fixture
def media(tmp_path: Path, settings: Settings) -> FolderStorage:
    """A folder of its own for the files of images."""
    folder = tmp_path / "media"
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_media=str(folder))
    return FolderStorage(folder)


@pytest.fixture
def post(db: None) -> PostToGraphQL:  # noqa: ARG001
    return post_to_graphql


@pytest.fixture
def key(db: None) -> str:  # noqa: ARG001
    """Return the API key of an admin."""
    return make_api_key(make_actor(Role.ADMIN))


@pytest.fixture
def gql(db: None, client: Client) -> GraphQL:  # noqa: ARG001
    def execute(query: str, *, actor: Actor | None = None, **variables: Any) -> GraphQLResponse:
        headers = {} if actor is None else {"X-API-Key": make_api_key(actor)}
        body = {"query": query, "variables": variables}
        return GraphQLResponse(client.post("/graphql", body, content_type="application/json", headers=headers))

    return execute


@pytest.fixture
def lines() -> Iterator[Lines]:
    handler, logger = Lines(), logging.getLogger("contentapi.audit")
    logger.addHandler(handler)
    yield handler
    logger.removeHandler(handler)
