"""Several threads that do the same at once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from django.db import connection


def run_in_threads(work: Callable[[], object], number: int) -> None:
    """Call a function in several threads, and wait for them. Raises the error of one that fails."""

    def call() -> None:
        try:
            work()
        finally:
            connection.close()

    with ThreadPoolExecutor(number) as threads:
        for thread in [threads.submit(call) for _ in range(number)]:
            thread.result()
