"""The faults of a cluster under Patroni: what happens, how it is repaired, and what must be true meanwhile."""

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.scale.cluster import APIS, ETCDS, Cluster

LEASE = 20  # seconds, `ttl` in patroni.yaml
MEMBER_GONE, ETCD_GONE, STANDBY_GONE = 8, LEASE + 10, 12  # seconds without one member of etcd, all of them, a standby
WORKER_GONE = 8  # seconds
CUT_OFF = (APIS[0],)  # with the primary


@dataclass(frozen=True)
class Fault:
    """A fault. `begin` and `repair` get the cluster and the name of its primary at the beginning.

    `is_outage`: writes stop until a standby is promoted; then the load goes on for some seconds before the repair.
    `cut_off`: hosts with the API on the side of the old primary, whose clients are counted apart.
    """

    name: str
    begin: Callable[[Cluster, str], None]
    repair: Callable[[Cluster, str], None]
    is_outage: bool = True
    must_keep_primary: bool = False
    cut_off: tuple[str, ...] = ()


def kill(cluster: Cluster, primary: str) -> None:
    cluster.network.kill(primary)


def start_again(cluster: Cluster, primary: str) -> None:
    cluster.start_patroni(primary)


def silence(cluster: Cluster, primary: str) -> None:
    cluster.network.silence(primary)


def connect(cluster: Cluster, _: str) -> None:
    cluster.network.join()


def silence_standby(cluster: Cluster, _: str) -> None:
    """Commits wait for the synchronous standby until Patroni selects the other one."""
    cluster.network.silence(cluster.find("sync_standby"))
    time.sleep(STANDBY_GONE)


def suspend(cluster: Cluster, primary: str) -> None:
    cluster.signal_processes(primary, "postgres", signal.SIGSTOP)


def resume(cluster: Cluster, primary: str) -> None:
    cluster.signal_processes(primary, "postgres", signal.SIGCONT)


def hang(cluster: Cluster, primary: str) -> None:
    """Suspend Patroni: nobody makes the old primary read-only. A watchdog would reset its host."""
    cluster.signal_processes(primary, "patroni", signal.SIGSTOP)


def go_on(cluster: Cluster, primary: str) -> None:
    cluster.signal_processes(primary, "patroni", signal.SIGCONT)


def cut(cluster: Cluster, primary: str) -> None:
    cluster.network.cut([primary, *CUT_OFF])


def kill_etcd(cluster: Cluster, _: str) -> None:
    """Kill one member, and later all of them."""
    cluster.network.kill(ETCDS[0])
    time.sleep(MEMBER_GONE)
    for host in ETCDS:
        cluster.network.kill(host)
    time.sleep(ETCD_GONE)


def start_etcd(cluster: Cluster, _: str) -> None:
    """Start etcd again. For the length of a lease, replicas then keep to the primary that went on without it."""
    for host in ETCDS:
        cluster.start_etcd(host)
    time.sleep(LEASE)


def switch_over(cluster: Cluster, primary: str) -> None:
    """Without a candidate, which is the synchronous standby anyway: with one, Patroni lets the other replica wait."""
    cluster.control("switchover", "--leader", primary, "--force")


def stop(cluster: Cluster, primary: str) -> None:
    """Stop Patroni on the primary in an orderly way, as `systemctl stop patroni` does: it hands over the lease."""
    cluster.stop_patroni(primary)


def rebuild(cluster: Cluster, _: str) -> None:
    cluster.control("reinit", "contentapi", cluster.find("replica"), "--force", "--wait")


def upgrade(cluster: Cluster, primary: str) -> None:
    """Restart PostgreSQL on each host, as for a new minor version: the primary with its Patroni, which hands over."""
    for role in ("replica", "sync_standby"):
        restart(cluster, cluster.find(role))
    stop(cluster, primary)
    start_again(cluster, primary)


def restart(cluster: Cluster, host: str) -> None:
    cluster.control("restart", "contentapi", host, "--force")
    cluster.wait_until_whole()


def kill_worker(cluster: Cluster, _: str) -> None:
    """Kill the worker that has sent the last delivery. The other one relays the events, and later sends the rest."""
    sender = cluster.inbox.find_last_sender()
    cluster.kill_worker(next(host for host in APIS if cluster.network.get_client_address(host) == sender))
    time.sleep(WORKER_GONE)


def start_worker(cluster: Cluster, _: str) -> None:
    for host, worker in cluster.workers.items():
        if worker.poll() is not None:
            cluster.start_worker(host)


def do_nothing(_: Cluster, __: str) -> None:
    """There is nothing to repair."""


FAULTS = {
    fault.name: fault
    for fault in (
        Fault("kill", kill, start_again),
        Fault("silent", silence, connect),
        Fault("suspend", suspend, resume),
        Fault("hang", hang, go_on),
        Fault("cut", cut, connect, cut_off=CUT_OFF),
        Fault("standby", silence_standby, connect, is_outage=False, must_keep_primary=True),
        Fault("etcd", kill_etcd, start_etcd, is_outage=False, must_keep_primary=True),
        Fault("worker", kill_worker, start_worker, is_outage=False, must_keep_primary=True),
        Fault("stop", stop, start_again, is_outage=False),
        Fault("upgrade", upgrade, do_nothing, is_outage=False),
        Fault("switchover", switch_over, do_nothing, is_outage=False),
        Fault("rebuild", rebuild, do_nothing, is_outage=False, must_keep_primary=True),
    )
}
