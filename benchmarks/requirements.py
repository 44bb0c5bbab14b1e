"""The requirements on this server, and whether one run of the benchmark meets them.

Each requirement is judged by the medians of one run, in the main setting unless it names another. The figures of Rust
are quoted from a measurement on the same kind of machine.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from benchmarks.conditions import BROWSER
from benchmarks.measure import Run
from benchmarks.plan import MAIN, Cell, Setting
from benchmarks.servers import BASELINE, OURS, PEERS_BY_NAME

Results = Mapping[Cell, Run]  # the medians of each cell

LEVEL = 0.95  # of the requests per second of the other server
MERCURIUS = ("mercurius", "mercurius-dataloader")
CREATE_PEERS = ("apollo", "yoga", "postgraphile")
RUST_CPU = {"page10": 0.395, "page100": 2.80}  # ms of server and PostgreSQL together, quoted
RUST_FACTOR = 1.15
BROWSER_SHARE = 0.90  # of the requests per second of `varied`
BROWSER_WORKLOADS = ("post", "create", "page10")
CPU_LIMITS = {  # CPU of server and PostgreSQL, as a part of that of another server
    ("post", BASELINE): 0.75,
    ("create", BASELINE): 0.70,
    ("post", "mercurius-dataloader"): 0.95,
    ("page10", "mercurius-dataloader"): 0.50,
    ("create", "mercurius-dataloader"): 2.50,
}
TAIL = 3.0  # p99 divided by p50


class Verdict(NamedTuple):
    requirement: str
    figures: str
    is_met: bool | None  # None: this run lacks a measurement that it needs

    @property
    def word(self) -> str:
        return {True: "met", False: "**not met**", None: "not measured"}[self.is_met]


def judge(results: Results) -> list[Verdict]:
    """Return a verdict on every requirement."""
    return [
        judge_post(results),
        *(judge_page(results, workload) for workload in ("page10", "page100")),
        *(judge_rust(results, workload) for workload in RUST_CPU),
        judge_create(results),
        *(judge_cpu(results, *cell) for cell in CPU_LIMITS),
        *(judge_browser(results, workload) for workload in BROWSER_WORKLOADS),
        judge_tails(results),
        judge_soundness(results),
    ]


def judge_post(results: Results) -> Verdict:
    requirement = "`post`: requests/s level with the better Mercurius (at most 5 % below) or ahead"
    ours, others = find(results, "post", OURS), find_all(results, "post", MERCURIUS)
    if not ours or not others:
        return not_measured(requirement)
    best = max(others, key=lambda run: run.per_second)
    figures = f"{ours.per_second:,.0f}; {best.server} {best.per_second:,.0f} ({ours.per_second / best.per_second:.2f})"
    return Verdict(requirement, figures, ours.per_second >= LEVEL * best.per_second)


def judge_page(results: Results, workload: str) -> Verdict:
    requirement = f"`{workload}`: ahead of every peer in requests/s and in CPU of server and PostgreSQL"
    ours, others = find(results, workload, OURS), find_all(results, workload, graphql_peers())
    if not ours or not others:
        return not_measured(requirement)
    fastest = max(others, key=lambda run: run.per_second)
    cheapest = min(others, key=lambda run: run.total_cpu)
    figures = (
        f"{ours.per_second:,.0f}/s, {ours.total_cpu:.3f} ms; fastest {fastest.server} {fastest.per_second:,.0f}/s;"
        f" cheapest {cheapest.server} {cheapest.total_cpu:.3f} ms; {len(others)} of {len(graphql_peers())} peers"
    )
    is_met = ours.per_second > fastest.per_second and ours.total_cpu < cheapest.total_cpu
    return Verdict(requirement, figures, is_met)


def judge_rust(results: Results, workload: str) -> Verdict:
    limit = RUST_FACTOR * RUST_CPU[workload]
    requirement = (
        f"`{workload}`: CPU within {RUST_FACTOR} times Rust's {RUST_CPU[workload]} ms (quoted): {limit:.3f} ms"
    )
    ours = find(results, workload, OURS)
    if not ours:
        return not_measured(requirement)
    figures = f"{ours.total_cpu:.3f} ms ({ours.total_cpu / RUST_CPU[workload]:.2f} times)"
    return Verdict(requirement, figures, ours.total_cpu <= limit)


def judge_create(results: Results) -> Verdict:
    requirement = "`create`: requests/s ahead of Apollo, Yoga and PostGraphile"
    ours, others = find(results, "create", OURS), find_all(results, "create", CREATE_PEERS)
    if not ours or len(others) < len(CREATE_PEERS):
        return not_measured(requirement)
    compared = ", ".join(f"{run.server} {run.per_second:,.0f}" for run in others)
    is_met = all(ours.per_second > run.per_second for run in others)
    return Verdict(requirement, f"{ours.per_second:,.0f}; {compared}", is_met)


def judge_cpu(results: Results, workload: str, server: str) -> Verdict:
    limit = CPU_LIMITS[workload, server]
    requirement = f"`{workload}`: CPU of server and PostgreSQL at most {limit:.2f} of that of `{server}`"
    ours, other = find(results, workload, OURS), find(results, workload, server)
    if not ours or not other:
        return not_measured(requirement)
    part = ours.total_cpu / other.total_cpu
    return Verdict(requirement, f"{ours.total_cpu:.3f} ms; {other.total_cpu:.3f} ms ({part:.2f})", part <= limit)


def judge_browser(results: Results, workload: str) -> Verdict:
    requirement = f"`{workload}`: requests/s of `browser` at most 10 % below `varied`"
    varied, browser = find(results, workload, OURS), find(results, workload, OURS, Setting(condition=BROWSER))
    if not varied or not browser:
        return not_measured(requirement)
    share = browser.per_second / varied.per_second
    figures = f"{browser.per_second:,.0f}; varied {varied.per_second:,.0f} ({share:.2f})"
    return Verdict(requirement, figures, share >= BROWSER_SHARE)


def judge_tails(results: Results) -> Verdict:
    """Judge every workload and setting of the run."""
    requirement = f"no p99 of `{OURS}` above {TAIL:.0f} times p50"
    ours = [run for cell, run in results.items() if cell.server == OURS]
    if not ours:
        return not_measured(requirement)
    above = [run for run in ours if run.tail > TAIL]
    worst = max(ours, key=lambda run: run.tail)
    figures = f"{len(ours)} cells; worst {worst.tail:.1f} times ({worst.workload}, {worst.cell.setting})"
    if above:
        figures += "; above: " + "; ".join(f"{run.workload}, {run.cell.setting}: {run.tail:.1f}" for run in above)
    return Verdict(requirement, figures, not above)


def judge_soundness(results: Results) -> Verdict:
    """Judge whether the other figures are valid: no errors, and responses of the checked size."""
    requirement = f"`{OURS}`: every request got a response with status 200 and the size that was checked"
    ours = [run for cell, run in results.items() if cell.server == OURS]
    if not ours:
        return not_measured(requirement)
    wrong = [run for run in ours if run.errors or run.odd or not run.requests]
    figures = "; ".join(f"{run.workload}, {run.cell.setting}: {run.errors} errors" for run in wrong)
    return Verdict(requirement, figures or f"{len(ours)} cells", not wrong)


def graphql_peers() -> list[str]:
    return [peer.name for peer in PEERS_BY_NAME.values() if not peer.is_ours and not peer.is_floor]


def find(results: Results, workload: str, server: str, setting: Setting = MAIN) -> Run | None:
    return results.get(Cell(workload, setting, server))


def find_all(results: Results, workload: str, servers: Iterable[str]) -> list[Run]:
    found = (find(results, workload, server) for server in servers)
    return [run for run in found if run]


def not_measured(requirement: str) -> Verdict:
    return Verdict(requirement, "", None)


def table(results: Results) -> Iterator[str]:
    """Yield the lines of a Markdown table of all verdicts."""
    yield "| Requirement | Figures of this run | |"
    yield "|---|---|---|"
    for verdict in judge(results):
        yield f"| {verdict.requirement} | {verdict.figures} | {verdict.word} |"
