"""Refuse migrations that lock a large table or break the previous release. `python -m tests.quality.migrations`.

squawk judges the SQL of each migration: all tables that the migration does not create itself count as large, but for an
initial one, with which Django completes tables that other initial ones have created. Code and SQL written by hand, and
migrations that a failure leaves half applied, are refused too. pyproject.toml accepts a migration with a reason.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contentapi.settings")

import django
from django.apps import apps
from django.db import connection
from django.db.migrations import Migration, RunPython, RunSQL, SeparateDatabaseAndState
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from tests.quality.configuration import ROOT, read_table

SQUAWK = Path(sys.executable).with_name("squawk")
OLDEST_POSTGRESQL = "14.0"
# Rules that concern neither locks nor the previous release. `migrate` itself limits the time of waiting for a lock.
STYLE = (
    "ban-char-field", "identifier-too-long", "prefer-bigint-over-int", "prefer-bigint-over-smallint", "prefer-identity",
    "prefer-robust-stmts", "prefer-text-field", "prefer-timestamptz", "require-lock-timeout",
    "require-statement-timeout", "transaction-nesting",
)  # fmt: skip
CREATION = re.compile(r'CREATE TABLE "(\w+)" ')
CHANGE = re.compile(r'(?:ALTER TABLE|CREATE INDEX "\w+" ON) "(\w+)"')
CONCURRENT = ("AddIndexConcurrently", "RemoveIndexConcurrently")


class Finding(NamedTuple):
    """A problem of a migration: the name of the rule, the explanation, and the statement or the operation."""

    rule: str
    message: str
    subject: str


def main() -> int:
    django.setup()
    accepted = read_table("contentapi", "migrations")["accepted"]
    found = find_all({config.label for config in apps.get_app_configs() if is_own(config.path)})
    problems = list(find_problems(found, accepted))
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"Checked {len(found)} migrations; problems that are not accepted: {len(problems)}.")
    return 1 if problems else 0


def is_own(path: str) -> bool:
    """Return whether an app belongs to this project, and not to a package in the virtual environment."""
    return Path(path).parent == ROOT


def find_all(labels: set[str]) -> dict[str, list[Finding]]:
    """Return the findings of each migration of the apps, by names like `blog.0001_initial`."""
    loader = MigrationLoader(connection, replace_migrations=False)  # squashed ones, and those that they replace
    names = sorted(key for key in loader.disk_migrations if key[0] in labels)
    return {
        f"{app}.{name}": list(
            find_in_migration(loader.disk_migrations[app, name], loader.project_state((app, name), at_end=False))
        )
        for app, name in names
    }


def find_problems(found: Mapping[str, list[Finding]], accepted: Mapping[str, str]) -> Iterator[str]:
    """Yield a message for each finding of a migration that is not accepted, and for each needless acceptance."""
    for name, findings in found.items():
        if name not in accepted:
            yield from (f"{name}: {each.message} [{each.rule}]\n    {each.subject}" for each in findings)
    for name, reason in accepted.items():
        if not found.get(name):
            yield f"{name}: pyproject.toml accepts this migration, which does not exist or has no problem."
        elif not reason.strip():
            yield f"{name}: pyproject.toml accepts this migration without a reason."


def find_in_migration(migration: Migration, state: ProjectState) -> Iterator[Finding]:
    """Yield the findings of a migration. `state` has the models before it."""
    yield from find_in_operations(migration)
    labels = [key for key in state.models if key[0] == migration.app_label and migration.initial]
    new = {state.apps.get_model(*label)._meta.db_table for label in labels}
    try:
        sql = build_sql(migration, state)
    except ValueError as error:  # Django reads the names of some constraints from a migrated database
        yield Finding("unknown-sql", f"The SQL cannot be determined: {error}", migration.name)
    else:
        yield from run_squawk(sql, new, is_atomic=migration.atomic)


def build_sql(migration: Migration, state: ProjectState) -> str:
    """Return the statements of a migration, as `sqlmigrate` prints them, without BEGIN and COMMIT."""
    with connection.schema_editor(collect_sql=True, atomic=False) as editor:
        migration.apply(state, editor, collect_sql=True)
    return "\n".join(editor.collected_sql)


def run_squawk(sql: str, new: Collection[str] = (), *, is_atomic: bool) -> Iterator[Finding]:
    """Yield the findings in the statements. `new` are tables that have no rows, beside those that they create."""
    command = [str(SQUAWK), "--reporter", "json", "--pg-version", OLDEST_POSTGRESQL, "--exclude", ",".join(STYLE)]
    command += ["--assume-in-transaction"] if is_atomic else ["--no-assume-in-transaction"]
    done = subprocess.run(command, input=sql, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not done.stdout.strip():
        raise RuntimeError(f"squawk failed: {done.stderr or done.stdout}")
    lines = sql.splitlines()
    for each in json.loads(done.stdout):
        if not changes_new_table(lines[each["line"]], {*new, *CREATION.findall(sql)}):
            yield Finding(each["rule_name"], each["message"], lines[each["line"]])


def changes_new_table(statement: str, new: Collection[str]) -> bool:
    """Return whether a statement alters or indexes a new table. squawk knows this in some rules."""
    found = CHANGE.match(statement)
    return found is not None and found[1] in new


def find_in_operations(migration: Migration) -> Iterator[Finding]:
    """Yield what squawk cannot see: code, SQL written by hand, and migrations that a failure leaves half applied."""
    for operation in flatten(migration.operations):
        if isinstance(operation, RunPython | RunSQL):
            message = "Code and SQL written by hand need a reason why they lock nothing for long and break nothing."
            yield Finding("needs-a-reason", message, operation.describe())
        elif not migration.atomic and type(operation).__name__ not in CONCURRENT:
            message = "A failure leaves this migration half applied: put only concurrent operations into it."
            yield Finding("not-atomic", message, operation.describe())


def flatten(operations: Sequence[Operation]) -> Iterator[Operation]:
    for operation in operations:
        if isinstance(operation, SeparateDatabaseAndState):
            yield from flatten(operation.database_operations)
        else:
            yield operation


if __name__ == "__main__":
    sys.exit(main())
