"""Check a deployment from inside. The checks are in `contentapi.health`."""

import json
import sys
from typing import Any

from contentapi.core.commands import JsonCommand
from contentapi.health.doctor import examine, format_finding, summarise


class Command(JsonCommand):
    help = (
        "Check this deployment: settings, database, migrations, indexes, worker, Redis, keys, disk. Print what is "
        "found and, for each problem, the remedy. Exit with 1 if there is a problem. Nothing is changed."
    )
    requires_system_checks = ()  # their errors are findings

    def handle(self, *, as_json: bool, **_: Any) -> None:
        findings = []
        for finding in examine():
            findings.append(finding)
            if not as_json:
                self.stdout.write(format_finding(finding))
        if as_json:
            self.stdout.write(json.dumps([finding._asdict() for finding in findings], indent=2))
        self.info(summarise(findings))
        if any(finding.status == "problem" for finding in findings):
            sys.exit(1)
