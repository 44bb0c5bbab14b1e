"""The faults. Each function causes one and returns when its cause has ended; the server must recover by itself."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import psutil

from benchmarks.drill.stack import Stack
from benchmarks.drill.supervisor import Service

CHUNK = b"\0" * 65_536


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of `cause(stack, seconds)`.

    `breaks_server`: clients may lose their connections, because the server itself ends. `refuses`: requests may be
    refused meanwhile. `needs_root`: it needs the network or the file system of the drill.
    """

    title: str
    cause: Callable[[Stack, float], None]
    seconds: float = 0
    small_seconds: float = 0
    breaks_server: bool = False
    refuses: bool = True
    needs_root: bool = False


def kill_worker(stack: Stack, _: float) -> None:
    for process in stack.find_workers()[:1]:
        process.kill()


def kill_master(stack: Stack, _: float) -> None:
    kill_and_wait(stack.server)


def kill_postgres(stack: Stack, _: float) -> None:
    kill_and_wait(stack.primary.service)
    stack.primary.wait_until_ready()


def kill_and_wait(service: Service) -> None:
    before = service.restarts
    service.kill()
    while service.restarts == before:
        time.sleep(0.02)


def hang_postgres(stack: Stack, seconds: float) -> None:
    processes = [psutil.Process(stack.primary.service.pid), *stack.primary.service.children()]
    signal_all(processes, signal.SIGSTOP)
    try:
        time.sleep(seconds)
    finally:
        signal_all(processes, signal.SIGCONT)


def signal_all(processes: list[psutil.Process], number: int) -> None:
    for process in processes:
        with suppress(psutil.Error):
            process.send_signal(number)


def cut_network(stack: Stack, seconds: float) -> None:
    if stack.network is None:
        raise RuntimeError("This fault needs root.")
    stack.network.cut()
    try:
        time.sleep(seconds)
    finally:
        stack.network.join()


def fill_disk(stack: Stack, seconds: float) -> None:
    filler = stack.disk / "filler"
    deadline = time.monotonic() + seconds
    with filler.open("wb", buffering=0) as file:
        while time.monotonic() < deadline:
            try:
                file.write(CHUNK)
            except OSError:
                time.sleep(0.1)
    filler.unlink()
    stack.primary.wait_until_ready()


def kill_redis(stack: Stack, seconds: float) -> None:
    stack.redis.halt(signal.SIGKILL)
    time.sleep(seconds)
    stack.redis.resume()


def flush_redis(stack: Stack, _: float) -> None:
    import redis

    client = redis.Redis.from_url(stack.environment["REDIS_URL"])
    client.flushall()
    client.close()


def stop_background(stack: Stack, seconds: float) -> None:
    stack.background.halt()
    time.sleep(seconds)
    stack.background.resume()


def fail_over(stack: Stack, _: float) -> None:
    """Kill the primary for good, and promote a synchronous replica."""
    stack.primary.service.halt(signal.SIGKILL)
    stack.replica.query("SELECT pg_promote(true, 60)")
    stack.database = stack.replica


def prepare_replica(stack: Stack) -> None:
    """Start a replica, and make each commit wait for it."""
    stack.replica.copy_from(stack.primary)
    stack.replica.service.start()
    stack.replica.wait_until_ready()
    stack.primary.query("SELECT 1")
    with stack.primary.connect() as connection:
        connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        connection.execute("SELECT pg_reload_conf()")
    while stack.primary.query("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") != 1:
        time.sleep(0.1)


FAULTS = {
    "worker": Fault("kill -9 a worker", kill_worker, breaks_server=True),
    "master": Fault("kill -9 the master", kill_master, breaks_server=True),
    "postgres": Fault("kill -9 PostgreSQL", kill_postgres),
    "hang": Fault("SIGSTOP PostgreSQL", hang_postgres, seconds=20, small_seconds=5),
    "network": Fault("drop packets to PostgreSQL", cut_network, seconds=60, small_seconds=8, needs_root=True),
    "disk": Fault("fill the disk of PostgreSQL", fill_disk, seconds=20, small_seconds=8, needs_root=True),
    "redis": Fault("kill -9 Redis", kill_redis, seconds=10, small_seconds=3, refuses=False),
    "flush": Fault("flush Redis", flush_redis, refuses=False),
    "background": Fault("stop the background worker", stop_background, seconds=15, small_seconds=5, refuses=False),
    "failover": Fault("fail over to the replica", fail_over),
}
SMALL = ("worker", "postgres", "network")


def can_cause(fault: Fault) -> bool:
    return not fault.needs_root or os.geteuid() == 0
