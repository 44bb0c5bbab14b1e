"""Let a cluster of two workers grow under load, kill one of three workers, and count what clients lost."""

import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import psycopg

from benchmarks.citus.cluster import COORDINATOR, HOSTS, Cluster, wait_until
from benchmarks.citus.content import FIRST_POST, load
from benchmarks.scale.clients import CREATED, OK, Client, Exchange, Journal, Load

BEFORE, AFTER = 3.0, 3.0  # seconds of load before and after a change
GONE = 8.0  # seconds between the death of a worker and its return
WATCHED = 40  # posts that are read again and again while a worker is gone
LONGEST_WRITE = 3.0  # seconds
REFUSED = 503
RECOVERY = 90.0  # seconds in which Citus finishes what is prepared: `citus.recover_2pc_interval` and half of it


@dataclass
class Change:
    """What clients saw during a change of the cluster. Times are in seconds."""

    name: str
    seconds: float  # that the change took
    writes: int  # acknowledged
    own_reads: int
    missed: int
    lists: int  # anonymous reads of all shards
    failed_lists: int
    slowest_list: float
    refusals: int  # of writes
    longest_write: float  # until it was acknowledged, with all attempts
    lost: int = 0
    duplicated: int = 0
    notes: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)  # promises


def grow(cluster: Cluster, shards: int, number: int) -> Change:
    """Add a worker under load, and move shards to it."""
    with put_under_load(cluster, f"grow{number}") as load_:
        time.sleep(BEFORE)
        began = time.monotonic()
        cluster.add_worker()
        cluster.distribute(shards)
        moves = cluster.rebalance()
        seconds = time.monotonic() - began
        time.sleep(AFTER)
    change = evaluate(load_.name, load_.journal, seconds, cluster.count_posts(f"{load_.name} "))
    change.notes.append(f"{moves} moves, then shards {cluster.count_shards()}")
    if change.failed_lists or change.refusals:
        change.broken.append(f"{change.failed_lists} reads and {change.refusals} writes refused")
    if change.longest_write > LONGEST_WRITE:
        change.broken.append(f"a write took {change.longest_write:.1f} s")
    return change


def kill_worker(cluster: Cluster, posts: int, number: int) -> Change:
    """Kill a worker while it has a prepared transaction, if it gets one soon, and start it again."""
    name = [each for each in cluster.nodes if each != COORDINATOR][number % 2]
    step = max(posts // WATCHED, 1)
    ids = [FIRST_POST + number for number in range(0, posts, step)]
    watch = Watch(cluster.port, {number: cluster.find_worker("blog_post", str(number)) == name for number in ids})
    with put_under_load(cluster, f"kill{number}") as load_:
        watch.start()
        time.sleep(BEFORE)
        wait_for_prepared_transaction(cluster, name)
        cluster.nodes[name].kill()
        watch.begin()
        began = time.monotonic()
        time.sleep(GONE)
        watch.end()
        cluster.nodes[name].start()
        watch.wait_until_all_respond()
        seconds = time.monotonic() - began - GONE
        prepared = cluster.count_prepared()
        time.sleep(AFTER)
        watch.stop()
    change = evaluate(load_.name, load_.journal, seconds, cluster.count_posts(f"{load_.name} "))
    recovered = wait_until(lambda: cluster.count_prepared() == 0, RECOVERY)
    change.notes.append(f"{prepared} prepared transactions were left, and finished after {recovered:.0f} s")
    change.notes += watch.describe()
    change.broken += watch.list_broken_promises()
    return change


@contextmanager
def put_under_load(cluster: Cluster, name: str) -> Iterator[Load]:
    """Let writers and readers use both hosts during a block. At its end, all of their responses have arrived."""
    load_ = Load(HOSTS, cluster.port, cluster.key, name, is_sticky=False)
    load_.start()
    try:
        yield load_
    finally:
        load_.stop()


def evaluate(name: str, journal: Journal, seconds: float, found: Mapping[str, int]) -> Change:
    """Compare what clients saw with the posts that exist: `found` has their numbers by title."""
    change = Change(
        name,
        seconds,
        writes=len(journal.acknowledged),
        own_reads=journal.own_reads,
        missed=journal.missed,
        lists=len(journal.reads),
        failed_lists=sum(each.status != OK for each in journal.reads),
        slowest_list=max(each.end - each.start for each in journal.reads),
        refusals=sum(each.status != CREATED for each in journal.writes),
        longest_write=max(journal.waits),
    )
    change.lost = sum(title not in found for title in journal.acknowledged)
    change.duplicated = sum(count > 1 for count in found.values())
    if change.lost or change.duplicated or change.missed:
        change.broken.append(f"{change.lost} lost, {change.duplicated} duplicated, {change.missed} own writes missed")
    unexpected = {each.status for each in (*journal.writes, *journal.reads)} - {OK, CREATED, REFUSED}
    if unexpected:
        change.broken.append(f"responses with status {sorted(unexpected)}")
    if any(each.status == REFUSED and not each.retry_after for each in (*journal.writes, *journal.reads)):
        change.broken.append("a refusal without Retry-After")
    return change


def wait_for_prepared_transaction(cluster: Cluster, name: str, patience: float = 5.0) -> None:
    """Wait until a worker has prepared a transaction that is not committed yet."""
    deadline = time.monotonic() + patience
    with psycopg.connect(cluster.nodes[name].build_url(), autocommit=True) as connection:
        while time.monotonic() < deadline:
            if connection.execute("SELECT 1 FROM pg_prepared_xacts").fetchone():
                return


class Watch:
    """A client that reads single posts in turn, those of the worker that is gone and those of the others."""

    def __init__(self, port: int, of_gone: dict[int, bool]) -> None:
        """Take the ids of posts, and whether each is of the worker that will be gone."""
        self.client, self.of_gone = Client(port, {}), of_gone
        self.during: tuple[float, float] = (0.0, 0.0)  # when the worker was gone
        self.seen: list[tuple[bool, Exchange]] = []  # whether the post is of the worker that is gone
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.read, daemon=True)

    def start(self) -> None:
        self.thread.start()

    def read(self) -> None:
        turn = 0
        while not self.stopping.is_set():
            for number, is_of_gone in self.of_gone.items():
                turn += 1
                exchange, _ = self.client.request(HOSTS[turn % 2], "GET", f"/posts/{number}")
                self.seen.append((is_of_gone, exchange))
            self.stopping.wait(0.05)

    def begin(self) -> None:
        self.during = (time.monotonic(), float("inf"))

    def end(self) -> None:
        self.during = (self.during[0], time.monotonic())

    def wait_until_all_respond(self) -> None:
        """Wait until every post was read once more, the last ones without a refusal."""
        size = len(self.of_gone)

        def has_recovered() -> bool:
            last = [exchange for _, exchange in self.seen[-size:]]
            return last[0].start > self.during[1] and all(exchange.status == OK for exchange in last)

        wait_until(has_recovered)

    def stop(self) -> None:
        self.stopping.set()
        self.thread.join()

    def list_meanwhile(self, *, of_gone: bool) -> list[Exchange]:
        start, end = self.during
        return [each for is_of_gone, each in self.seen if is_of_gone == of_gone and start < each.start < each.end < end]

    def describe(self) -> Iterator[str]:
        for of_gone, which in ((True, "the worker that was gone"), (False, "the others")):
            seen = self.list_meanwhile(of_gone=of_gone)
            statuses = {
                status: sum(each.status == status for each in seen) for status in {each.status for each in seen}
            }
            slowest = max((each.end - each.start for each in seen), default=0.0)
            yield f"reads of posts of {which}: {statuses}, the slowest took {slowest:.1f} s"

    def list_broken_promises(self) -> Iterator[str]:
        gone, others = self.list_meanwhile(of_gone=True), self.list_meanwhile(of_gone=False)
        if not gone or not others:
            yield "no read of a post of each kind"
        if any(each.status != REFUSED or not each.retry_after for each in gone):
            yield "a post of a worker that was gone got another response than 503 with Retry-After"
        if any(each.status != OK for each in others):
            yield "a read of a post of another worker failed"


def run_changes(names: list[str], rounds: int, posts: int, shards: int) -> list[Change]:
    """Carry out changes under load on a new cluster of two workers, and return what the clients saw."""
    cluster, changes = Cluster(), []
    try:
        cluster.create_content_database()
        load(cluster.coordinator, posts)
        cluster.become_coordinator()
        for _ in range(2):
            cluster.add_worker()
        cluster.distribute(shards)
        cluster.start_hosts()
        for number in range(rounds):
            for name in names:
                change = grow(cluster, shards, number) if name == "grow" else kill_worker(cluster, posts, number)
                changes.append(change)
                print(change, file=sys.stderr, flush=True)
    finally:
        cluster.close()
    return changes
