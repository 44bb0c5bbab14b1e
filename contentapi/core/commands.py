"""Base classes of the management commands: results on stdout, messages on stderr, errors in one line."""

import json
import os
import re
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from contentapi.conf.checks import START_TAG
from contentapi.core.errors import ApiError
from contentapi.core.identity import ROLE_SCOPES, Role, Scope


class OperatorCommand(BaseCommand):
    """A command that calls a service. An `ApiError` ends it with its message and exit status 1."""

    requires_system_checks: list[str] | tuple[str, ...] = [START_TAG]  # all checks take longer than most commands

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except ApiError as error:
            raise CommandError(error.message) from None

    def info(self, message: str) -> None:
        self.stderr.write(message, str)


class JsonCommand(OperatorCommand):
    """A command with the option --json, which prints its result as JSON."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", dest="as_json", help="print the result as JSON")

    def print_object(self, result: Mapping[str, Any], message: str, *, as_json: bool) -> None:
        """Print the result on stdout with --json, otherwise a message on stderr."""
        if as_json:
            self.stdout.write(json.dumps(result))
        else:
            self.info(message)


class ListCommand(JsonCommand):
    """A command that prints rows: an aligned table or, with --json, an array of objects."""

    def print_rows(self, rows: Iterable[Mapping[str, Any]], columns: Sequence[str], *, as_json: bool) -> None:
        """Print rows. `columns` are the keys that the table shows: the heading of `createdAt` is CREATED AT."""
        text = json.dumps([*rows], indent=2) if as_json else format_table(rows, columns)
        try:
            self.stdout.write(text)
            self.stdout.flush()
        except BrokenPipeError:  # the reader, such as `head`, has ended
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class CredentialCommand(OperatorCommand):
    """A command that creates a credential for a user and prints it."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", metavar="EMAIL", help="the user's email")
        add_scopes(parser, f"all scopes of the user's role. One of: {', '.join(Scope)}")

    def print_credential(self, kind: str, credential: str, role: Role, scopes: list[Scope]) -> None:
        """Print the credential, and a note if the role does not allow one of the scopes."""
        unusable = ", ".join(sorted(set(scopes) - ROLE_SCOPES[role]))
        if unusable:
            self.info(f"Note: the role {role} does not allow {unusable}; the {kind} cannot use it.")
        self.stdout.write(credential)


def add_scopes(parser: ArgumentParser, default: str) -> None:
    """Add the option --scope."""
    parser.add_argument(
        "--scope",
        action="append",
        default=[],
        dest="scopes",
        choices=[scope.value for scope in Scope],
        metavar="SCOPE",
        help=f"can be repeated; default: {default}",
    )


def format_table(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """Return the rows as lines below headings."""
    headings = [re.sub("(?=[A-Z])", " ", name).upper() for name in columns]
    lines = [headings, *([format_cell(row[name]) for name in columns] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def format_time(time: datetime | None) -> str | None:
    """Return the time in UTC in the format of ISO 8601, to the second."""
    return None if time is None else time.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def format_cell(value: object) -> str:
    """Return a value in a table, escaped for a terminal: a name can neither begin a line nor hide one."""
    if value is None or value == "":
        return "-"
    if isinstance(value, list):
        value = " ".join(map(str, value))
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in str(value))
