"""Runs functions concurrently in real threads, with a guaranteed conflict on a lock."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Event
from typing import TypeVar

from django.db import connection, transaction

from blog.models import Post
from contentapi.db.statements import fetch_column

T = TypeVar("T")
READ_WAITING = "SELECT pid FROM pg_locks WHERE NOT granted"


def race(take_lock: Callable[[], object], *actions: Callable[[], T]) -> list[T]:
    """Run the actions concurrently and return their results.

    `take_lock` takes a lock, which is released when all actions wait for it.
    """
    pids = SimpleQueue[int]()

    def run(action: Callable[[], T]) -> T:
        try:
            pids.put(get_backend())
            return action()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(actions)) as pool:
        with transaction.atomic():
            take_lock()
            runs = [pool.submit(run, action) for action in actions]
            backends = [pids.get(timeout=30) for _ in actions]
            while count_waiting_backends(backends) < len(actions) and not any(run.done() for run in runs):
                pass
        return [run.result() for run in runs]


@contextmanager
def locked(post: Post) -> Iterator[None]:
    """Keep a post locked by another connection."""
    is_locked, is_done = Event(), Event()

    def hold() -> None:
        with transaction.atomic():
            Post.objects.select_for_update().get(pk=post.pk)
            is_locked.set()
            is_done.wait(60)
        connection.close()

    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(hold)
        try:
            assert is_locked.wait(60)
            yield
        finally:
            is_done.set()
    held.result()


def get_backend() -> int:
    """Return the process id of the connection of this thread."""
    return int(fetch_column("SELECT pg_backend_pid()")[0])


def count_waiting_backends(backends: list[int]) -> int:
    sql = f"SELECT count(DISTINCT pid) FROM ({READ_WAITING}) AS waits WHERE pid = ANY(%s)"  # noqa: S608
    return int(fetch_column(sql, [backends])[0])
