from collections import Counter

import pytest

from benchmarks.hostile.__main__ import is_required, plan
from benchmarks.hostile.attacks import ATTACKS
from benchmarks.hostile.report import Result, format_row
from benchmarks.hostile.victim import Figures

LOST = float("inf")


def make_result(times: list[float], *, is_required: bool = True) -> Result:
    without = Figures([0.002] * 100, Counter())
    during = Figures(times, Counter())
    return Result("granian", ATTACKS["body-16"], without, during, is_required, 0.1)


@pytest.mark.parametrize(
    ("times", "passed"),
    [
        ([0.1] * 1000, True),
        ([0.002] * 995 + [LOST] * 5, True),
        ([0.002] * 98 + [0.101] * 2, False),
        ([0.002] * 980 + [LOST] * 20, False),
    ],
)
def test_attack_passes_with_99_percent_answered_and_p99_within_the_limit(
    times: list[float],
    passed: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    assert make_result(times).passed is passed


def test_row_shows_the_figures_with_and_without_the_attack() -> None:
    row = format_row(make_result([0.003] * 97 + [LOST] * 3))

    assert row == ("| granian | 16 | stop in the body | 97.0 % | 3.0 | > 2,000 | 100.0 % | 2.0 | 2.0 | FAIL |")


def test_verdict_of_an_optional_attack_is_in_brackets() -> None:
    assert format_row(make_result([LOST] * 100, is_required=False)).endswith("| (FAIL) |")


def test_granian_must_withstand_every_attack_except_body_1000() -> None:
    exempt = [name for name, attack in ATTACKS.items() if not is_required("granian", attack)]

    assert exempt == ["body-1000"]


@pytest.mark.parametrize("server", ["granian-nginx", "gunicorn-nginx"])
def test_servers_behind_nginx_must_withstand_every_attack(server: str) -> None:
    assert all(is_required(server, attack) for attack in ATTACKS.values())


def test_attacks_that_are_equal_after_scaling_run_once() -> None:
    planned = [attack.name for _, attack in plan(["granian"], ["headers-16", "headers-100", "headers-1000"], 0.1)]

    assert planned == ["headers-16", "headers-1000"]
