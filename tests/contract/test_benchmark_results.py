"""The plan of a benchmark, its verdicts and its tables."""

import pytest

from benchmarks import requirements
from benchmarks.measure import Run
from benchmarks.medians import find_medians
from benchmarks.options import read_options
from benchmarks.plan import MAIN, SIDE_SERVERS, SIDE_WORKLOADS, Cell, Setting, Step
from benchmarks.report import report
from benchmarks.requirements import Verdict, graphql_peers
from benchmarks.servers import OURS, OURS_GUNICORN, PEERS_BY_NAME
from benchmarks.summary import summarise
from benchmarks.workloads import GROUPS

BROWSER = Setting(condition="browser")


def make_run(server: str, workload: str = "post", setting: Setting = MAIN, **values: float) -> Run:
    figures: dict[str, float] = {
        "per_second": 1000.0, "p50": 1.0, "p99": 2.0, "server_cpu": 0.1, "postgres_cpu": 0.1, "load_cpu": 0.01,
        "server_busy": 0.5, "load_busy": 0.5, "server_core": 0.5, "other_core": 0.5, "bytes": 2000.0, "memory": 100.0,
    }  # fmt: skip
    condition, transport, connections = setting
    return Run(
        server=server, workload=workload, condition=condition, transport=transport, connections=connections,
        round=int(values.pop("round", 0)), requests=5000, errors=int(values.pop("errors", 0)), odd=False,
        **figures | values,
    )  # fmt: skip


def group_by_cell(*runs: Run) -> dict[Cell, Run]:
    return {run.cell: run for run in runs}


def test_default_plan_measures_everything_in_the_main_setting() -> None:
    servers = tuple(PEERS_BY_NAME)

    plan = read_options([]).plan(servers)

    main = [step for step in plan if step.setting == MAIN]
    assert main == [Step(workload, MAIN, servers) for workload in GROUPS["default"]]
    assert {step.setting for step in plan} == {MAIN, *SIDE_WORKLOADS}
    assert {step.servers for step in plan if step.setting != MAIN} == {SIDE_SERVERS}


def test_default_plan_measures_other_settings_with_chosen_side_servers() -> None:
    plan = read_options(["--workloads", "post"]).plan([OURS, "yoga"])

    assert plan[0] == Step("post", MAIN, (OURS, "yoga"))
    assert {step.servers for step in plan[1:]} == {(OURS,)}
    assert len(plan) == 1 + len(SIDE_WORKLOADS)


def test_default_plan_without_side_servers_has_only_the_main_setting() -> None:
    assert read_options(["--workloads", "post"]).plan(["yoga"]) == [Step("post", MAIN, ("yoga",))]


def test_chosen_settings_are_measured_with_all_servers_and_workloads() -> None:
    options = read_options(["--workloads", "post,typename", "--connections", "1,64", "--transports", "tcp"])

    plan = options.plan(["yoga", OURS])

    settings = [Setting("varied", "tcp", 1), Setting("varied", "tcp", 64)]
    assert plan == [Step(name, setting, ("yoga", OURS)) for name in ("post", "typename") for setting in settings]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--peers", "nobody"],
        ["--workloads", "posts"],
        ["--conditions", "identical"],
        ["--transports", "udp"],
        ["--connections", "0"],
        ["--peers", ""],
    ],
    ids=" ".join,
)
def test_unknown_name_on_the_command_line_is_rejected(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as error:
        read_options(arguments)

    assert error.value.code == 2


def test_pages_are_compared_with_graphql_servers_of_others() -> None:
    peers = graphql_peers()

    assert {"bun-jit", "node-jit", "mercurius", "strawberry"} < set(peers)
    assert not {OURS, OURS_GUNICORN, "floor-django", "floor-django-granian"} & set(peers)


@pytest.mark.parametrize(("rate", "is_met"), [(1900.0, True), (1899.0, False)])
def test_post_is_judged_by_the_better_mercurius(rate: float, is_met: bool) -> None:  # noqa: FBT001
    runs = (make_run("mercurius", per_second=500), make_run("mercurius-dataloader", per_second=2000))

    verdict = requirements.judge_post(group_by_cell(make_run(OURS, per_second=rate), *runs))

    assert verdict.is_met is is_met
    assert "mercurius-dataloader 2,000" in verdict.figures


@pytest.mark.parametrize(
    ("rate", "cpu", "is_met"),
    [
        (1200, 0.05, True),
        (1100, 0.05, False),  # yoga is as fast
        (1200, 0.08, False),  # bun-jit needs as little CPU
    ],
)
def test_page_is_judged_by_the_fastest_and_the_cheapest_peer(rate: float, cpu: float, is_met: bool) -> None:  # noqa: FBT001
    results = group_by_cell(
        make_run(OURS, "page10", per_second=rate, server_cpu=cpu),
        make_run("yoga", "page10", per_second=1100),
        make_run("bun-jit", "page10", server_cpu=0.08),
        make_run("floor-django", "page10", per_second=5000, server_cpu=0.01),
    )

    assert requirements.judge_page(results, "page10").is_met is is_met


@pytest.mark.parametrize(("cpu", "is_met"), [(0.35, True), (0.36, False)])
def test_page_is_judged_by_the_total_cpu_time_of_rust(cpu: float, is_met: bool) -> None:  # noqa: FBT001
    results = group_by_cell(make_run(OURS, "page10", server_cpu=0.1, postgres_cpu=cpu))

    assert requirements.judge_rust(results, "page10").is_met is is_met


@pytest.mark.parametrize(("rate", "is_met"), [(1001.0, True), (1000.0, False)])
def test_create_is_judged_by_apollo_yoga_and_postgraphile(rate: float, is_met: bool) -> None:  # noqa: FBT001
    peers = (make_run(name, "create") for name in ("apollo", "yoga", "postgraphile"))

    verdict = requirements.judge_create(group_by_cell(make_run(OURS, "create", per_second=rate), *peers))

    assert verdict.is_met is is_met


@pytest.mark.parametrize(("rate", "is_met"), [(900.0, True), (899.0, False)])
def test_browser_is_judged_by_varied(rate: float, is_met: bool) -> None:  # noqa: FBT001
    results = group_by_cell(make_run(OURS), make_run(OURS, setting=BROWSER, per_second=rate))

    assert requirements.judge_browser(results, "post").is_met is is_met


@pytest.mark.parametrize(("p99", "is_met"), [(3.0, True), (3.1, False)])
def test_tails_are_judged_in_every_setting(p99: float, is_met: bool) -> None:  # noqa: FBT001
    results = group_by_cell(
        make_run(OURS),
        make_run(OURS, setting=Setting(connections=256), p99=p99),
        make_run("yoga", p99=30.0),
    )

    assert requirements.judge_tails(results).is_met is is_met


def test_tail_without_a_completed_request_is_not_acceptable() -> None:
    assert requirements.judge_tails(group_by_cell(make_run(OURS, p50=0, p99=0))).is_met is False


@pytest.mark.parametrize(("server", "errors", "is_met"), [(OURS, 0, True), (OURS, 1, False), ("yoga", 1, True)])
def test_errors_of_ours_are_judged(server: str, errors: int, is_met: bool) -> None:  # noqa: FBT001
    results = group_by_cell(make_run(OURS, "page10"), make_run(server, errors=errors))

    assert requirements.judge_soundness(results).is_met is is_met


def test_requirement_without_measurements_is_not_measured() -> None:
    verdicts = requirements.judge(group_by_cell(make_run("yoga")))

    assert {verdict.word for verdict in verdicts} == {"not measured"}
    assert requirements.judge_create(group_by_cell(make_run(OURS, "create"), make_run("yoga", "create"))).is_met is None


def test_verdict_names_each_result() -> None:
    assert [Verdict("", "", is_met).word for is_met in (True, False, None)] == ["met", "**not met**", "not measured"]


def test_medians_keep_settings_apart_and_add_errors() -> None:
    runs = [
        make_run(OURS, per_second=rate, errors=1, round=number) for number, rate in enumerate((100.0, 300.0, 200.0))
    ]

    medians = find_medians([*runs, make_run(OURS, setting=BROWSER, per_second=50)])

    main = medians[Cell("post", MAIN, OURS)]
    assert (main.run.per_second, main.run.errors, main.spread) == (200.0, 3, 1.0)
    assert medians[Cell("post", BROWSER, OURS)].run.per_second == 50


def test_tables_show_every_measured_cell() -> None:
    runs = [
        make_run(OURS, per_second=8000), make_run("yoga", per_second=2345), make_run(OURS, "rows10"),
        make_run(OURS, setting=BROWSER, per_second=7777), make_run(OURS, "page10", per_second=4321, errors=5),
    ]  # fmt: skip

    full, short = report(runs, 5, ["A note."]), summarise(runs)

    for rate in (8000, 2345, 7777, 4321):
        assert f"{rate:,}" in full
        assert f",{rate}," in short
    assert "| no p99 of `ours` above 3 times p50 |" in full
    assert "* A note." in full
    assert "## Growth with the rows" in full
    assert [line.rsplit(",", 1)[1] for line in short.splitlines()[1:]].count("5") == 1
