"""Attack the server in every way of `attacks.ATTACKS`, and time the requests of another client during each attack.

Prints one row for each attack. Data, logs and the configuration of nginx are in var/hostile, which can be deleted.
"""

import argparse
import os
import signal
import subprocess
import sys
from contextlib import ExitStack, nullcontext

from benchmarks.hostile.attackers import start_attack
from benchmarks.hostile.attacks import ATTACKS, KEY, Attack
from benchmarks.hostile.places import WORK, raise_open_files_limit, server_environment
from benchmarks.hostile.report import Result, format_row, format_table
from benchmarks.hostile.servers import SERVERS, start_server
from benchmarks.hostile.victim import Victim
from benchmarks.places import ROOT
from contentapi.db.embedded.server import EmbeddedServer
from tests.deployment.proxies import find_nginx

NEEDS_A_PROXY = "body-1000"  # more clients than threads: only a server that buffers requests withstands it
WARM_UP = 2  # seconds


def main() -> None:
    options = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that started processes are stopped
    raise_open_files_limit()
    key = os.environ[KEY] = prepare_data()  # the attackers inherit it
    if options.prepare_only:
        return
    results = []
    with ExitStack() as stack:
        ports = {name: stack.enter_context(start_server(name)) for name in options.servers if options.share}
        for server, attack in plan(options.servers, options.attacks, options.scale):
            with nullcontext(ports[server]) if options.share else start_server(server) as port:
                result = measure(server, attack, Victim(port, key), options.seconds, options.max_p99 / 1000)
            results.append(result)
            print(format_row(result), flush=True)
    print(f"\n{format_table(results)}")
    failed = [result for result in results if result.is_required and not result.passed]
    if failed and not options.report_only:
        sys.exit(f"The server failed {len(failed)} of {len(results)} attacks.")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hostile", description=__doc__)
    parser.add_argument(
        "--servers",
        type=lambda text: choose(text, SERVERS),
        default=["granian", "granian-nginx", "gunicorn-nginx"],
        help=f"of {', '.join(SERVERS)}; default: all but gunicorn, which needs a proxy",
    )
    parser.add_argument(
        "--attacks",
        type=lambda text: choose(text, ATTACKS),
        help=f"of {', '.join(ATTACKS)}; default: all, and on granian-nginx only {NEEDS_A_PROXY}",
    )
    parser.add_argument("--seconds", type=float, default=12, help="without and with each attack; default: 12")
    parser.add_argument(
        "--scale", type=float, default=1, help="factor of the attackers' number, down to 16; default: 1"
    )
    parser.add_argument("--max-p99", type=float, default=100, help="milliseconds; default: 100")
    parser.add_argument("--prepare-only", action="store_true", help="load the data that every run uses, and end")
    parser.add_argument("--share", action="store_true", help="attack one server, instead of a new one each time")
    parser.add_argument("--report-only", action="store_true", help="exit with 0 even if the server fails an attack")
    return parser.parse_args()


def choose(text: str, known: "tuple[str, ...] | dict[str, Attack]") -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in known]
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}; known: {', '.join(known)}")
    return names


def prepare_data() -> str:
    """Load the data, keep PostgreSQL running until this process ends, and return the victim's API key."""
    WORK.mkdir(parents=True, exist_ok=True)
    EmbeddedServer(WORK / "postgres").acquire()
    environment = server_environment() | {"DJANGO_SETTINGS_MODULE": "contentapi.settings"}
    subprocess.run([sys.executable, "-m", "benchmarks.hostile.rows"], cwd=ROOT, env=environment, check=True)
    return (WORK / "demo_api_key").read_text()


def plan(servers: list[str], attacks: list[str] | None, scale: float) -> list[tuple[str, Attack]]:
    """Return the pairs of server and attack. Attacks that are equal after scaling are included once."""
    planned = []
    for server in servers:
        if server.endswith("nginx") and not find_nginx():
            print(f"{server} is skipped: nginx is not installed (Debian: apt-get install nginx)", flush=True)
            continue
        seen = set()
        for name in attacks or ([NEEDS_A_PROXY] if server == "granian-nginx" else ATTACKS):
            attack = ATTACKS[name].scale(scale)
            if (attack.behaviour, attack.clients) not in seen:
                seen.add((attack.behaviour, attack.clients))
                planned.append((server, attack))
    return planned


def measure(server: str, attack: Attack, victim: Victim, seconds: float, largest_p99: float) -> Result:
    """Time the victim's requests without and with the attack."""
    victim.measure(WARM_UP)
    without = victim.measure(seconds)
    with start_attack(attack, victim.port, seconds) as attackers:
        during = victim.measure(seconds)
    print(f"{server}, {attack.name}: the attackers saw {attackers.seen}", flush=True)
    return Result(server, attack, without, during, is_required(server, attack), largest_p99)


def is_required(server: str, attack: Attack) -> bool:
    """Return whether a deployment must withstand this attack. gunicorn alone is not required to."""
    return server.endswith("nginx") or (server == "granian" and attack.name != NEEDS_A_PROXY)


if __name__ == "__main__":
    main()
