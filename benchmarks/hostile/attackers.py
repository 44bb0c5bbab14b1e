"""`python -m benchmarks.hostile.attackers NAME PORT CLIENTS SECONDS`: run one attack in its own process.

Prints one line when the clients are in place. At the end or at SIGTERM, prints the observations of the clients as JSON.
"""

import asyncio
import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from benchmarks.hostile.attacks import ATTACKS, PAUSE, Attack, Client
from benchmarks.hostile.places import raise_open_files_limit
from benchmarks.places import ROOT

LONGEST_OVERRUN = 60  # seconds after the last request of the victim, when the attack ends without SIGTERM
TIME_TO_BEGIN = 30  # seconds after which the attack counts as begun, even if some clients are not in place


class Attackers:
    """An attack that runs in another process."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.seen: dict[str, int] = {}  # known at the end


@contextmanager
def start_attack(attack: Attack, port: int, seconds: float) -> Iterator[Attackers]:
    """Attack the server at a port while the block runs."""
    words = [attack.name, str(port), str(attack.clients), str(seconds + LONGEST_OVERRUN)]
    command = [sys.executable, "-m", "benchmarks.hostile.attackers", *words]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        attackers = Attackers(process)
        try:
            if process.stdout is None or not process.stdout.readline():
                raise RuntimeError(f"{attack.name} does not begin")
            yield attackers
        finally:
            process.terminate()
            output, _ = process.communicate()
    attackers.seen = json.loads(output)


def main() -> None:
    name, port, clients, seconds = sys.argv[1:]
    raise_open_files_limit()
    attack = ATTACKS[name]._replace(clients=int(clients))
    print(json.dumps(asyncio.run(carry_out(attack, int(port), float(seconds)))), flush=True)


async def carry_out(attack: Attack, port: int, seconds: float) -> Counter[str]:
    seen: Counter[str] = Counter()
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    attackers = asyncio.create_task((arrive_steadily if attack.each_second else arrive_together)(attack, port, seen))
    with suppress(TimeoutError):
        await asyncio.wait_for(ended.wait(), seconds)
    attackers.cancel()
    with suppress(asyncio.CancelledError):
        await attackers
    return seen


async def arrive_together(attack: Attack, port: int, seen: Counter[str]) -> None:
    clients = [Client(number, port, seen) for number in range(attack.clients)]
    async with asyncio.TaskGroup() as group:
        for client in clients:
            group.create_task(repeat_attack(attack, client))
        waits = [asyncio.ensure_future(client.placed.wait()) for client in clients]
        await asyncio.wait(waits, timeout=TIME_TO_BEGIN)
        announce()


async def arrive_steadily(attack: Attack, port: int, seen: Counter[str]) -> None:
    announce()
    async with asyncio.TaskGroup() as group:
        for number in range(10**6):
            group.create_task(attack_once(attack, Client(number, port, seen)))
            await asyncio.sleep(1 / attack.clients)


async def repeat_attack(attack: Attack, client: Client) -> None:
    while True:
        await attack_once(attack, client)
        await asyncio.sleep(PAUSE)


async def attack_once(attack: Attack, client: Client) -> None:
    try:
        await attack.behaviour(client)
    except (OSError, EOFError) as error:
        client.seen[type(error).__name__] += 1


def announce() -> None:
    print("in place", flush=True)


if __name__ == "__main__":
    main()
