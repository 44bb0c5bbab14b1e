"""Run other tests on a distributed database: a plugin of pytest, which `python -m tests.citus` loads.

Where a test writes or looks at what is different on a cluster, it does so as the product does there: rows that it
writes have their claims, environments that it replaces have the variable, and locks are those of all nodes. The keys of
tokens are in a folder, as on one PostgreSQL. Tests without a database are left out.
"""

import os
from functools import partial
from typing import Any

import pytest
from msgspec import structs

from tests.citus.databases import find_nodes

# Each process of pytest-xdist has a database of its own. Django reads the variable after this.
DATABASE = f"tests_{os.environ.get('PYTEST_XDIST_WORKER', 'gw0')}"
LIMITS = "?options=-c%20statement_timeout%3D120000"  # so that a test fails and does not hang
os.environ["DATABASE_URL"] = find_nodes()[0].build_url(DATABASE) + LIMITS

# The fixtures that create the database of the tests: they use the one of DATABASE_URL as it is.
CREATING = ("django_db_modify_db_settings", "django_db_setup")
# The sessions of the coordinator that wait for a lock on another node
WAITING_ELSEWHERE = " UNION SELECT mod(waiting_gpid, 10000000000)::int FROM citus_lock_waits"
WITH_DATABASE = {"db", "transactional_db", "template"}


def pytest_configure() -> None:
    from django.conf import settings

    from contentapi.conf import conf
    from tests import environment  # imports models, so Django must be set up

    settings.EMBEDDED = True
    settings.ENVIRONMENT = structs.replace(settings.ENVIRONMENT, database_url="", jwt_secret="")
    conf.clear()
    replaced = environment.set_environment
    environment.set_environment = partial(replaced, CONTENTAPI_DISTRIBUTED="citus")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    config.hook.pytest_deselected(items=[item for item in items if not uses_database(item)])
    items[:] = [item for item in items if uses_database(item)]


def uses_database(item: pytest.Item) -> bool:
    fixtures = set(getattr(item, "fixturenames", ()))
    return item.get_closest_marker("django_db") is not None or not WITH_DATABASE.isdisjoint(fixtures)


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef: Any, request: pytest.FixtureRequest) -> bool | None:
    if fixturedef.argname not in CREATING:
        return None
    fixturedef.cached_result = (None, fixturedef.cache_key(request), None)
    return True


def pytest_collection_finish() -> None:
    from django.db.models.signals import post_save

    from tests import conftest
    from tests.blog import racing
    from tests.citus.servers import start_servers_on_the_cluster

    vars(conftest)["empty_tables"] = empty_distributed_tables
    racing.READ_WAITING += WAITING_ELSEWHERE
    post_save.connect(claim_values)
    start_servers_on_the_cluster()


def claim_values(instance: Any, **_: Any) -> None:
    """Claim the slug or the file of a row that a test has written without a service."""
    from blog.models import OldSlug, Post, PostSource
    from blog.services import slugs, sources

    match instance:
        case Post(slug=str()):
            slugs.claim_slug(str(instance.slug), instance.pk)
        case OldSlug():
            slugs.claim_slug(instance.slug, instance.post_id)
        case PostSource():
            sources.claim_file(instance.source, instance.path, instance.post_id)


def empty_distributed_tables() -> None:
    """Delete all rows that a test with transactions has committed. Citus asks one distributed table in a statement."""
    from django.db import connection

    from contentapi.db.distribution import CLAIMS
    from contentapi.db.placement import list_shard_keys
    from contentapi.events.partitions import CREATE_LOG
    from tests.migrated_database import WRITTEN_BY_MIGRATE, list_tables

    elsewhere = {CLAIMS, *list_shard_keys()}
    local = sorted(set(list_tables()) - WRITTEN_BY_MIGRATE - elsewhere)
    questions = [" UNION ALL ".join(f"SELECT '{table}' WHERE EXISTS (SELECT FROM {table})" for table in local)]  # noqa: S608
    questions += [f"(SELECT '{table}' FROM {table} LIMIT 1)" for table in sorted(elsewhere)]  # noqa: S608
    with connection.cursor() as cursor:
        filled = []
        for question in questions:
            cursor.execute(question)
            filled += [table for (table,) in cursor.fetchall()]
        if filled:
            cursor.execute(f"TRUNCATE {', '.join(filled)} CASCADE")
        cursor.execute("DELETE FROM events_log")
        cursor.execute(CREATE_LOG)
