"""docs/monitoring.md, deploy/ and the metrics of the code name the same metrics."""

import re
from pathlib import Path

from contentapi.monitoring.metrics import METRICS

ROOT = Path(__file__).resolve().parents[2]


def test_document_lists_the_metrics_of_the_code() -> None:
    text = (ROOT / "docs" / "monitoring.md").read_text()
    table = text.partition("<!-- metrics -->")[2].partition("<!-- /metrics -->")[0]

    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*?) \| (.*) \|$", table, re.MULTILINE)

    assert rows == [
        (name, metric.kind, ", ".join(f"`{label}`" for label in metric.labels), metric.description)
        for name, metric in METRICS.items()
    ]
