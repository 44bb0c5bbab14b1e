"""What is slow in tests or depends on time, patched once for all of them: each fixture takes time in each test."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any

import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.core.handlers.base import BaseHandler
from django.core.signals import setting_changed
from django.db.backends.base.base import BaseDatabaseWrapper
from django.template import Context, RequestContext, Template
from django.test import TestCase, TransactionTestCase
from psycopg.pq import TransactionStatus

from contentapi.conf import timeouts
from contentapi.core.limited_child import LimitedChild
from contentapi.events.webhooks import bodies, sender
from contentapi.rate_limits import account
from contentapi.rate_limits.counters import InProcessCounter
from tests.migrated_database import empty_tables

READ_BY_MIDDLEWARE = ("DEBUG", "MIDDLEWARE", "SECURE_", "STATIC", "WHITENOISE_")  # when it is loaded
START, CLOSE = LimitedChild.start, LimitedChild.close


@contextmanager
def patch_for_all_tests() -> Iterator[None]:
    # The cost of Argon2, which is slow by design, is at its minimum.
    Argon2PasswordHasher.time_cost, Argon2PasswordHasher.memory_cost, Argon2PasswordHasher.parallelism = 1, 8, 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _: empty_tables())
        patch.setattr(TestCase, "_should_check_constraints", check_constraints_once)
        slow_the_clock_of_rate_limits(patch)
        lift_time_limits(patch)
        share_middleware(patch)
        keep_contexts_of_pages(patch)
        with keep_children(patch):
            yield


def check_constraints_once(_: TestCase, connection: BaseDatabaseWrapper) -> bool:
    """Check the constraints that wait for the end of a transaction, and return that Django need not do it.

    Django sends three statements, also after a test that has used no database. The transaction ends with this one.
    """
    used = connection.connection
    if not connection.needs_rollback and used and used.info.transaction_status == TransactionStatus.INTRANS:
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    return False


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
    """Let a response have the context of its page alone: to copy that of each included template takes a tenth of it."""
    instrumented = vars(Template)["_render"]

    def render(template: Template, context: Context) -> Any:
        is_page = isinstance(context, RequestContext) and context.template is template
        return instrumented(template, context) if is_page else template.nodelist.render(context)

    patch.setattr(Template, "_render", render)


@contextmanager
def keep_children(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep an idle child process with limits for the next test that starts the same: a start takes 0.2 s.

    A child that is busy is closed, as without this, and so is one that has ended: its output can be read.
    """
    kept: dict[tuple[Any, ...], subprocess.Popen[bytes]] = {}

    def build_key(child: LimitedChild) -> tuple[Any, ...]:
        return tuple(child.command), child.memory, child.seconds

    def take_or_start(child: LimitedChild) -> subprocess.Popen[bytes]:
        child.child = kept.pop(build_key(child), None)
        if child.child is None or child.is_done(0):
            CLOSE(child)
            return START(child)
        return child.child

    def keep_or_close(child: LimitedChild) -> None:
        process = child.child
        if not process or child.is_busy or child.is_done(0) or kept.setdefault(build_key(child), process) != process:
            CLOSE(child)
        child.child = None

    patch.setattr(LimitedChild, "start", take_or_start)
    patch.setattr(LimitedChild, "close", keep_or_close)
    yield
    for process in kept.values():
        process.communicate()  # closes the pipes, which ends it
