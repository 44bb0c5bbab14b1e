"""Break a cluster under load, and count what its clients lost."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from benchmarks.scale.clients import CREATED, OK, Exchange, Journal, Load
from benchmarks.scale.cluster import APIS, PORT, Cluster
from benchmarks.scale.content import count_posts, count_unfounded_events, find_events, wait_until_sent
from benchmarks.scale.faults import Fault
from benchmarks.scale.webhooks import Announcements, judge, subtract

BEFORE, AFTER = 3, 3  # seconds of load before a fault, and after the writes have returned and after the repair
PHASES = 5  # seconds between two renewals of the lease, `loop_wait` in patroni.yaml: each round begins a second later
FIGURES_AGE = 1.5  # seconds after which the metrics of a worker have everything before
RETURN_LIMIT = 90  # seconds in which writes return


@dataclass
class Outage:
    """What the clients of one fault saw. Times are in seconds after the fault.

    Requests to hosts that are cut off along with the old primary count for `writes_apart` and `refusals_apart` alone,
    from the fault on.
    """

    fault: str
    writes: int  # acknowledged
    own_reads: int
    missed: int
    reads: int
    failed_reads: int
    slowest_read: float
    pause: float  # the longest time without an acknowledged write
    first_write: float  # the end of this pause
    refusals: int
    last_refusal: float
    writes_apart: int  # acknowledged between the end of the pause and the repair
    refusals_apart: int
    lost: int = 0
    duplicated: int = 0
    relayed: tuple[int, ...] = ()  # events that the worker of each host moved to the log
    announcements: Announcements | None = None
    broken: list[str] = field(default_factory=list)  # promises
    titles: str = ""  # the beginning of the titles of its posts
    acknowledged_at: dict[str, float] = field(default_factory=dict, repr=False)  # by the ids of posts


def cause_outage(cluster: Cluster, fault: Fault, number: int) -> Outage:
    """Carry out a fault under load. Returns when the cluster is whole again. Raises `RuntimeError` if it never is."""
    primary, name = cluster.find("leader"), f"{fault.name}{number}"
    hosts = [cluster.network.get_client_address(host) for host in APIS]
    apart = {cluster.network.get_client_address(host) for host in fault.cut_off}
    time.sleep(FIGURES_AGE)
    relayed, copies = cluster.count_relayed(), cluster.count_copies(primary)
    wait_until_sent(cluster)  # the lease of a worker that the fault before has killed lasts a minute
    load = Load(hosts, PORT, cluster.key, name, is_sticky=bool(apart))
    load.start()
    try:
        time.sleep(BEFORE + number % PHASES)
        began = time.monotonic()
        fault.begin(cluster, primary)
        if fault.is_outage:
            wait_for_writes(cluster, primary, load.journal, apart)
        time.sleep(AFTER)
        repaired = time.monotonic()
        fault.repair(cluster, primary)
        cluster.wait_until_whole()
        time.sleep(AFTER)
    finally:
        journal = load.stop()
    outage = evaluate(journal, fault.name, began, repaired, apart)
    found = count_posts(cluster, f"{name} ")
    outage.lost = sum(title not in found for title in journal.acknowledged)
    outage.duplicated = sum(count > 1 for count in found.values())
    outage.titles, outage.acknowledged_at = name, journal.acknowledged_at
    time.sleep(FIGURES_AGE)
    outage.relayed = subtract(cluster.count_relayed(), relayed)
    outage.broken = list(list_broken_promises(outage, fault, has_moved=cluster.find("leader") != primary))
    if cluster.count_copies(primary) > copies:
        outage.broken.append("the old primary copied all data")
    return outage


def judge_announcements(cluster: Cluster, outages: Sequence[Outage]) -> list[str]:
    """Wait until everything is sent, and compare it with the posts of each fault. Returns what is wrong beyond them."""
    wait_until_sent(cluster)
    hosts = [cluster.network.get_client_address(host) for host in APIS]
    for outage in outages:
        events = find_events(cluster, f"{outage.titles} ")
        outage.announcements = judge(events, cluster.inbox.deliveries, outage.acknowledged_at, hosts)
        outage.broken += outage.announcements.list_broken_promises()
    ended = [f"the worker on {host} has ended" for host, worker in cluster.workers.items() if worker.poll() is not None]
    unfounded = count_unfounded_events(cluster)
    return ended + ([f"{unfounded} events of posts that do not exist"] if unfounded else [])


def wait_for_writes(cluster: Cluster, primary: str, journal: Journal, apart: set[str]) -> None:
    """Wait until another host is the primary, and then until a host that is not cut off acknowledges a new write."""
    deadline, moved_at = time.monotonic() + RETURN_LIMIT, float("inf")
    while time.monotonic() < deadline:
        time.sleep(0.2)
        if moved_at == float("inf"):
            if any(each.is_leader and each.name != primary for each in cluster.list_members()):
                moved_at = time.monotonic()
            continue
        with journal.lock:
            writes = [each for each in journal.writes if each.start > moved_at and each.host not in apart]
        if any(each.status == CREATED for each in writes):
            return


def evaluate(journal: Journal, name: str, began: float, repaired: float, apart: set[str]) -> Outage:
    def is_apart(exchange: Exchange) -> bool:
        return exchange.host in apart and exchange.end > began

    writes = [each for each in journal.writes if not is_apart(each)]
    reads = [each for each in journal.reads if not is_apart(each)]
    others = [each for each in (*journal.writes, *journal.reads) if is_apart(each)]
    refusals = [each.end - began for each in writes if each.status != CREATED and each.end > began]
    pause, first_write = find_longest_pause([each.end - began for each in writes if each.status == CREATED])
    return Outage(
        name,
        writes=len(journal.acknowledged),
        own_reads=journal.own_reads,
        missed=journal.missed,
        reads=len(reads),
        failed_reads=sum(each.status != OK for each in reads),
        slowest_read=max(each.end - each.start for each in reads),
        pause=pause,
        first_write=first_write,
        refusals=len(refusals),
        last_refusal=max(refusals, default=0.0),
        writes_apart=sum(each.status == CREATED and began + first_write < each.end < repaired for each in others),
        refusals_apart=sum(each.status not in (OK, CREATED) for each in others),
    )


def find_longest_pause(times: Sequence[float]) -> tuple[float, float]:
    """Return length and end of the longest time without an event after 0. Without any event, both are infinite."""
    after = [0.0, *sorted(time for time in times if time > 0)]
    return max(((end - start, end) for start, end in pairwise(after)), default=(float("inf"), float("inf")))


def list_broken_promises(outage: Outage, fault: Fault, *, has_moved: bool) -> Iterator[str]:
    if outage.lost or outage.duplicated or outage.missed:
        yield f"{outage.lost} writes lost, {outage.duplicated} duplicated, {outage.missed} own writes missed"
    if outage.failed_reads:
        yield f"{outage.failed_reads} anonymous reads failed"
    if outage.writes_apart:
        yield f"{outage.writes_apart} writes acknowledged beside the old primary"
    if outage.pause == float("inf"):
        yield "no write succeeded after the fault"
    if fault.must_keep_primary and has_moved:
        yield "another host became the primary"
    if fault.must_keep_primary and outage.refusals:
        yield f"{outage.refusals} writes refused"
    if fault.is_outage and not has_moved:
        yield "no other host became the primary"
