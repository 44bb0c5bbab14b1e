"""The check of migrations: operations that it accepts, and operations that it refuses with a rule."""

from functools import cache
from typing import Any

import pytest
from django.contrib.postgres.operations import AddConstraintNotValid, AddIndexConcurrently, ValidateConstraint
from django.db import models
from django.db.migrations import (
    AddConstraint,
    AddField,
    AddIndex,
    AlterField,
    CreateModel,
    DeleteModel,
    Migration,
    RemoveField,
    RemoveIndex,
    RenameField,
    RenameModel,
    RunPython,
    RunSQL,
    SeparateDatabaseAndState,
)
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from tests.quality.migrations import Finding, find_in_migration, find_problems

pytestmark = [pytest.mark.thorough, pytest.mark.django_db]
OUTSIDE_OF_A_TRANSACTION = pytest.mark.django_db(transaction=True)  # CREATE INDEX CONCURRENTLY requires it

INDEX = models.Index(fields=["created_at"], name="test_index")
CHECK = models.CheckConstraint(condition=~models.Q(title=""), name="test_check")
UNIQUE = models.UniqueConstraint(fields=["title"], name="test_unique")
AUTHOR = models.ForeignKey("users.User", models.CASCADE, null=True, related_name="+")


def find(*operations: Operation, is_atomic: bool = True, **attributes: Any) -> list[str]:
    """Return the rules that a new migration of `blog` breaks."""
    migration = build_migration(*operations, is_atomic=is_atomic, **attributes)
    return [each.rule for each in find_in_migration(migration, load_state().clone())]


@cache
def load_state() -> ProjectState:
    """Return the models after all migrations. Their classes are made once, here: clones of the state copy them."""
    state = MigrationLoader(None).project_state()
    assert state.apps.get_models()
    return state


def build_migration(*operations: Operation, is_atomic: bool = True, **more: Any) -> Migration:
    attributes = {"operations": list(operations), "atomic": is_atomic, **more}
    migration: Migration = type("Migration", (Migration,), attributes)("9999_test", "blog")
    return migration


def add(field: "models.Field[Any, Any]") -> AddField:
    return AddField("post", "subtitle", field)


@pytest.mark.parametrize(
    "operations",
    [
        [add(models.TextField(null=True))],
        [add(models.CharField(max_length=80, default="", db_default=""))],
        [AddConstraintNotValid("post", CHECK)],
        [CreateModel("Note", [("id", models.BigAutoField(primary_key=True)), ("post", AUTHOR)])],
        [
            CreateModel("Note", [("id", models.BigAutoField(primary_key=True)), ("title", models.TextField())]),
            AddField("note", "author", models.ForeignKey("users.User", models.CASCADE)),
            AddIndex("note", models.Index(fields=["title"], name="test_note")),
            AddConstraint("note", UNIQUE),
        ],
        [SeparateDatabaseAndState(state_operations=[RemoveField("post", "title")])],
    ],
    ids=["null", "db-default", "not-valid", "new-table", "parts-of-a-new-table", "state-first"],
)
def test_migration_that_expands_is_accepted(operations: list[Operation]) -> None:
    assert find(*operations) == []


@OUTSIDE_OF_A_TRANSACTION
def test_concurrent_index_is_accepted_outside_of_a_transaction() -> None:
    assert find(AddIndexConcurrently("post", INDEX), is_atomic=False) == []


def test_second_initial_migration_completes_the_tables_of_the_first() -> None:
    key = models.ForeignKey("users.User", models.CASCADE, null=True)

    assert find(AddIndex("post", INDEX), add(key), initial=True) == []


def test_constraint_is_validated_in_a_migration_after_its_own() -> None:
    migration = build_migration(ValidateConstraint("post", "test_check"))
    state = load_state().clone()
    AddConstraintNotValid("post", CHECK).state_forwards("blog", state)

    assert list(find_in_migration(migration, state)) == []
    assert find(AddConstraintNotValid("post", CHECK), ValidateConstraint("post", "test_check"))


@pytest.mark.parametrize(
    ("operation", "rule"),
    [
        (AddIndex("post", INDEX), "require-concurrent-index-creation"),
        (RemoveIndex("comment", "blog_comment_newest"), "require-concurrent-index-deletion"),
        (AddConstraint("post", CHECK), "constraint-missing-not-valid"),
        (AddConstraint("post", UNIQUE), "disallowed-unique-constraint"),
        (add(models.CharField(max_length=80, default="")), "ban-drop-default"),
        (add(models.ForeignKey("users.User", models.CASCADE, null=True)), "adding-foreign-key-constraint"),
        (AlterField("post", "title", models.TextField()), "changing-column-type"),
        (AlterField("comment", "state_changed_by", models.BigIntegerField(default=0)), "adding-not-nullable-field"),
        (RenameField("post", "title", "heading"), "renaming-column"),
        (RenameModel("Comment", "Remark"), "renaming-table"),
        (RemoveField("post", "title"), "ban-drop-column"),
        (DeleteModel("PostSource"), "ban-drop-table"),
        (RunPython(RunPython.noop), "needs-a-reason"),
        (RunSQL("SELECT 1"), "needs-a-reason"),
        (RunSQL("ALTER TABLE blog_post ALTER COLUMN title SET NOT NULL"), "adding-not-nullable-field"),
        (SeparateDatabaseAndState([RunSQL("SELECT 1")]), "needs-a-reason"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_migration_that_locks_or_breaks_is_refused(operation: Operation, rule: str) -> None:
    assert rule in find(operation)


@OUTSIDE_OF_A_TRANSACTION
def test_not_atomic_migration_with_other_operations_is_refused() -> None:
    assert find(AddIndexConcurrently("post", INDEX), add(models.TextField(null=True)), is_atomic=False) == [
        "not-atomic"
    ]


def test_accepted_migration_needs_a_problem_and_a_reason() -> None:
    finding = Finding("renaming-column", "It breaks.", "ALTER TABLE")
    found = {"a.0001": [finding], "a.0002": [finding], "a.0003": [finding], "a.0004": []}

    problems = list(find_problems(found, {"a.0002": "small", "a.0003": " ", "a.0004": "small", "a.0005": "small"}))

    assert [problem.split(": ")[0] for problem in problems] == ["a.0001", "a.0003", "a.0004", "a.0005"]
    assert problems[0] == "a.0001: It breaks. [renaming-column]\n    ALTER TABLE"
