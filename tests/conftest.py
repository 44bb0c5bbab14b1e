"""Fixtures of all tests. `gql` sends a query to /graphql with an API key of the actor."""

import gc
import logging
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import msgspec
import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.core.handlers.base import BaseHandler
from django.core.signals import setting_changed
from django.db import connection
from django.template import Context, RequestContext, Template
from django.test import Client, TransactionTestCase
from django.utils import timezone
from pytest_django import DjangoDbBlocker, Settings

import contentapi.urls  # noqa: F401 - registers the pages of the desk, over which tests iterate
from contentapi.conf import timeouts
from contentapi.core import redis
from contentapi.core.identity import ROLE_SCOPES, Actor, Role
from contentapi.db.statements import execute
from contentapi.events.partitions import prepare_partitions
from contentapi.events.webhooks import bodies, sender
from contentapi.media.folder import FolderStorage
from contentapi.monitoring.repeated import NOTHING, OUTAGES
from contentapi.rate_limits import account
from contentapi.rate_limits.account import COUNTERS
from contentapi.rate_limits.counters import InProcessCounter
from tests.audit_lines import Lines
from tests.deployment.redis_server import RedisServer
from tests.factories import make_actor, make_user
from tests.graphql_requests import GraphQLResponse, PostToGraphQL, post_to_graphql
from tests.migrated_database import empty_tables, get_or_create_migrated_database
from tests.otlp_receiver import OtlpReceiver
from tests.quality.process_coverage import measure_processes
from users import services
from users.models import ApiKey, User

SHARED_SERVERS = ("desk_of_all_modules", "demo_server", "get_shared_server")
LONGEST = "test_cases_pass_in_a_project_with_own_fields_and_an_own_type"  # of `make test`
READ_BY_MIDDLEWARE = ("DEBUG", "MIDDLEWARE", "SECURE_", "STATIC", "WHITENOISE_")  # when it is loaded
MARKERS = ("servers", "thorough", "property")
# Folders whose tests use the database, almost all of them: they need no marker for it
WITH_DATABASE = {
    *("behaviour", "blog", "orders", "own/cases/fields", "own/cases/types", "users", "users/oauth"),
    *(f"contentapi/{name}" for name in ("db/engine", "desk", "events", "health", "http", "rest")),
}
# What a file with a test that has one of these markers contains
MARKED = re.compile(rf"mark\.({'|'.join(MARKERS)})\b|NEEDS_CHROMIUM|import .*\bpytestmark\b")


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # until the tests are loaded
    measure_processes(config)
    if not hasattr(config, "workerinput"):  # the processes of pytest-xdist use folders of their controller
        create_root_of_temporary_folders(config)


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


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip the files without a marked test if `-m` selects marked tests only: to import them takes half of the time."""
    if collection_path.suffix != ".py" or not config.option.markexpr.startswith(MARKERS):
        return None  # as another plugin decides
    return None if MARKED.search(collection_path.read_text()) else True


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let the tests of `WITH_DATABASE` use the database, unless they start servers, or have a marker of their own."""
    folder = item.path.parent.relative_to(Path(__file__).parent).as_posix()
    if folder in WITH_DATABASE and not any(map(item.get_closest_marker, ("servers", "django_db"))):
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
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()


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

    Commits do not wait for the disk. At the end, connections that no collection has closed yet are ended: PostgreSQL
    does not drop a database that is in use.
    """
    with django_db_blocker.unblock():
        prepare_partitions()
        execute(f"ALTER DATABASE {connection.settings_dict['NAME']} SET synchronous_commit = off")
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
    """Patch once for all tests: each fixture takes time in each test."""
    # The cost of Argon2, which is slow by design, is at its minimum.
    Argon2PasswordHasher.time_cost, Argon2PasswordHasher.memory_cost, Argon2PasswordHasher.parallelism = 1, 8, 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _: empty_tables())
        slow_the_clock_of_rate_limits(patch)
        lift_time_limits(patch)
        share_middleware(patch)
        keep_contexts_of_pages(patch)
        yield


def slow_the_clock_of_rate_limits(patch: pytest.MonkeyPatch) -> None:
    """Let a microsecond pass between two looks at the clock, so that no test depends on the speed of the machine."""
    times = count(1000.0, 1e-6)
    patch.setattr(account, "InProcessCounter", partial(InProcessCounter, clock=lambda: next(times)))


def lift_time_limits(patch: pytest.MonkeyPatch) -> None:
    """Lift the limits of checks and of the statements of webhooks, which a busy machine exceeds.

    A check that is late lets a missing table be a missing migration. The limits of statements remain on the connection,
    or until the end of the transaction of a test.
    """
    for limit in ("READINESS_LIMIT", "READINESS_DATABASE_LIMIT"):
        patch.setattr(timeouts, limit, 60)
    patch.setattr(sender, "LIMITS", "SET statement_timeout = 0")
    patch.setattr(bodies, "BODY_LIMIT", "SET LOCAL statement_timeout = 0")


def share_middleware(patch: pytest.MonkeyPatch) -> None:
    """Load the middleware once, and again after a change of a setting that it reads then: it takes 40 ms."""
    load = BaseHandler.load_middleware
    loaded: dict[str, Any] = {}

    def forget(setting: str, **_: Any) -> None:
        if setting.startswith(READ_BY_MIDDLEWARE):
            loaded.clear()

    setting_changed.connect(forget, weak=False)

    def load_once(handler: BaseHandler, *arguments: bool) -> None:
        if not loaded:
            load(handler, *arguments)
            loaded.update({name: value for name, value in vars(handler).items() if name.startswith("_")})
        vars(handler).update(loaded)

    patch.setattr(BaseHandler, "load_middleware", load_once)


def keep_contexts_of_pages(patch: pytest.MonkeyPatch) -> None:
    """Let a response have the contexts of its page, without those of widgets: to copy them takes a twentieth of it."""
    instrumented = vars(Template)["_render"]

    def render(template: Template, context: Context) -> Any:
        is_of_page = isinstance(context, RequestContext)
        return instrumented(template, context) if is_of_page else template.nodelist.render(context)

    patch.setattr(Template, "_render", render)


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
