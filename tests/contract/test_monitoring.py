"""docs/monitoring.md, deploy/ and the metrics of the code name the same metrics."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from contentapi.monitoring.metrics import METRICS
from tests.deployment.processes import run_program

ROOT = Path(__file__).resolve().parents[2]


def test_document_lists_the_metrics_of_the_code() -> None:
    text = (ROOT / "docs" / "monitoring.md").read_text()
    table = text.partition("<!-- metrics -->")[2].partition("<!-- /metrics -->")[0]

    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*?) \| (.*) \|$", table, re.MULTILINE)

    assert rows == [
        (name, metric.kind, ", ".join(f"`{label}`" for label in metric.labels), metric.description)
        for name, metric in METRICS.items()
    ]


SUFFIX = re.compile(r"_(bucket|count|sum)$")
PROMETHEUS = ROOT / "deploy" / "prometheus"


def read_panels() -> list[dict[str, Any]]:
    dashboard = json.loads((ROOT / "deploy" / "grafana" / "dashboard.json").read_text())
    return list(dashboard["panels"])


def find_metrics(text: str) -> set[str]:
    names = set(re.findall(r"contentapi_\w+", text))
    return {name if name in METRICS else SUFFIX.sub("", name) for name in names}


def test_dashboard_shows_every_metric_and_no_other() -> None:
    expressions = " ".join(target["expr"] for panel in read_panels() for target in panel["targets"])

    assert find_metrics(expressions) == METRICS.keys() - {
        "contentapi_open_files",
        "contentapi_threads",
        "contentapi_cache_items",
    }


def test_alerts_use_metrics_that_exist() -> None:
    assert find_metrics((PROMETHEUS / "alerts.yml").read_text()) <= METRICS.keys()


def test_document_explains_every_alert() -> None:
    alerts = re.findall(r"alert: (\w+)", (PROMETHEUS / "alerts.yml").read_text())

    explained = re.findall(
        r"^\| `(\w+)` \|", (ROOT / "docs" / "monitoring.md").read_text().partition("### Alerts")[2], re.MULTILINE
    )

    assert explained[: len(alerts)] == alerts


@pytest.mark.servers
@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
@pytest.mark.parametrize(
    "arguments",
    [("check", "config", "prometheus.yml"), ("check", "rules", "alerts.yml"), ("test", "rules", "alerts_test.yml")],
    ids=" ".join,
)
def test_promtool_accepts_the_files(arguments: tuple[str, ...]) -> None:
    done = run_program("promtool", *arguments, cwd=PROMETHEUS)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.servers
@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_promtool_parses_every_query_of_the_dashboard(tmp_path: Path) -> None:
    expressions = [target["expr"] for panel in read_panels() for target in panel["targets"]]
    rules = [
        {"record": f"panel:{number}", "expr": expression.replace("$__rate_interval", "5m")}
        for number, expression in enumerate(expressions)
    ]
    path = tmp_path / "rules.json"  # JSON is YAML
    path.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))

    done = run_program("promtool", "check", "rules", path)

    assert done.returncode == 0, done.stdout + done.stderr
