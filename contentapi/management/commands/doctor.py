"""Check a deployment from inside: run all system checks, and print what they find."""

import json
import sys
from collections import Counter
from typing import Any, NamedTuple

from django.conf import settings
from django.core.checks import ERROR, WARNING, CheckMessage, run_checks
from django.db import DEFAULT_DB_ALIAS

from contentapi.core.commands import JsonCommand
from contentapi.health.deployment import DEPLOYMENT_TAG

STATUSES = ("problem", "warning", "skipped", "ok")
TLS_MESSAGES = {"security.W004", "security.W008", "security.W010", "security.W012", "security.W016"}


class Finding(NamedTuple):
    """What a check finds. A problem must be solved; a warning is worth knowing."""

    check: str
    status: str  # one of `STATUSES`
    message: str
    remedy: str = ""


class Command(JsonCommand):
    help = (
        "Check this deployment: settings, database, migrations, worker, Redis, keys, disk. Print what is "
        "found and, for each problem, the remedy. Exit with 1 if there is a problem. Nothing is changed."
    )
    requires_system_checks = ()  # their errors are findings

    def handle(self, *, as_json: bool, **_: Any) -> None:
        findings = sorted(find_all(), key=lambda finding: (STATUSES.index(finding.status), finding.check))
        if as_json:
            tables = [finding._asdict() for finding in findings]
            self.stdout.write(json.dumps(tables, indent=2))
        else:
            self.stdout.write("\n".join(map(format_finding, findings)))
        counts = Counter(finding.status for finding in findings)
        self.info(f"Problems: {counts['problem']}. Warnings: {counts['warning']}.")
        if counts["problem"]:
            sys.exit(1)


def find_all() -> list[Finding]:
    """Return what Django's checks of the settings and ours of the deployment find.

    Only ours may use the database: some of Django's fail without one.
    """
    found = [
        *run_checks(include_deployment_checks=True),
        *run_checks(tags=[DEPLOYMENT_TAG], include_deployment_checks=True, databases=[DEFAULT_DB_ALIAS]),
    ]
    findings = [describe_message(message) for message in found if not message.is_silenced()]
    if all(finding.check != "settings" for finding in findings):
        message = "The environment variables are valid, and `check --deploy` finds nothing."
        findings.append(Finding("settings", "ok", message))
    return findings


def describe_message(message: CheckMessage) -> Finding:
    """Return the finding for a message. A warning about the settings is a problem, except during development."""
    tag, _, name = str(message.id).partition(".")
    text, remedy, least = join_lines(message.msg), join_lines(message.hint or ""), ERROR
    if tag != DEPLOYMENT_TAG:
        name, text, least = "settings", f"{text} ({message.id})", ERROR if settings.EMBEDDED else WARNING
        tls = "Serve by TLS, and set CONTENTAPI_HTTPS=on."
        remedy = remedy or (tls if message.id in TLS_MESSAGES else "See docs/settings.md.")
    quiet = "skipped" if remedy else "ok"
    status = "problem" if message.level >= least else "warning" if message.level >= WARNING else quiet
    return Finding(name.replace("_", " "), status, text, remedy)


def join_lines(text: object) -> str:
    return " ".join(str(text).split())


def format_finding(finding: Finding) -> str:
    remedy = f"\n{'':9}Remedy: {finding.remedy}" if finding.remedy else ""
    return f"{finding.status:8} {finding.check}: {finding.message}{remedy}"
