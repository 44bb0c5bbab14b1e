"""The command line of `python -m benchmarks`."""

import argparse
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from benchmarks.conditions import CONDITIONS
from benchmarks.plan import Step, combine_settings, make_default_plan, make_plan
from benchmarks.postgres import TRANSPORTS
from benchmarks.servers import PEERS_BY_NAME, find_peer
from benchmarks.workloads import ALL, GROUPS

MEMORY = "memory"
DESCRIPTION = (
    "Start the servers, compare their responses, measure them in turn, print tables. See benchmarks/README.md."
)


@dataclass(frozen=True)
class Options:
    peers: list[str]
    workloads: list[str]
    conditions: list[str] | None
    transports: list[str] | None
    connections: list[int] | None
    rounds: int
    seconds: int
    check_only: bool

    @property
    def for_memory(self) -> bool:
        return self.workloads == [MEMORY]

    def plan(self, servers: Sequence[str]) -> list[Step]:
        """Return the steps to measure, with the chosen servers that run on this machine."""
        if self.for_memory:
            return []
        if self.conditions or self.transports or self.connections:
            settings = combine_settings(self.conditions, self.transports, self.connections)
            return make_plan(servers, self.workloads, settings)
        return make_default_plan(servers, self.workloads)


def read_options(arguments: Sequence[str] | None = None) -> Options:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=DESCRIPTION)
    groups = ", ".join([*GROUPS, MEMORY])
    add = parser.add_argument
    add(
        "--peers",
        type=parse_peers,
        default=list(PEERS_BY_NAME),
        help="comma-separated; default: all; ours@06a75a9 is this server at a commit",
    )
    add("--workloads", type=parse_workloads, default=["default"], help=f"groups ({groups}), or: {', '.join(ALL)}")
    add("--conditions", type=make_names_parser(CONDITIONS), help=f"of {', '.join(CONDITIONS)}")
    add("--transports", type=make_names_parser(TRANSPORTS), help=f"to PostgreSQL, of {', '.join(TRANSPORTS)}")
    add("--connections", type=parse_numbers, help="of the load generator, such as 1,16,64")
    add("--rounds", type=parse_positive, default=3, help="default: 3")
    add("--seconds", type=parse_positive, default=5, help="of each measured run; default: 5")
    add("--check-only", action="store_true", help="compare the responses and measure nothing")
    found = vars(parser.parse_args(arguments))
    if found["workloads"] == ["default"]:
        found["workloads"] = list(GROUPS["default"])
    return Options(**found)


def parse_peers(text: str) -> list[str]:
    return make_names_parser([*PEERS_BY_NAME, *filter(find_peer, text.split(","))])(text)


def parse_workloads(text: str) -> list[str]:
    if text == MEMORY:
        return [MEMORY]
    known = make_names_parser([*GROUPS, *ALL])(text)
    return list(dict.fromkeys(name for word in known for name in GROUPS.get(word, (word,))))


def make_names_parser(known: Collection[str]) -> Callable[[str], list[str]]:
    def names(text: str) -> list[str]:
        found = [word for word in text.split(",") if word]
        if unknown := [word for word in found if word not in known]:
            raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}; known: {', '.join(known)}")
        if not found:
            raise argparse.ArgumentTypeError("at least one name is required")
        return found

    return names


def parse_numbers(text: str) -> list[int]:
    return [parse_positive(word) for word in text.split(",") if word]


def parse_positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number
