from typing import Any

from contentapi.db.citus.base import execute_with_settings

SETTINGS = "SELECT set_config('pghistory.context_id', {}, true), set_config('pghistory.context_metadata', {}, true); {}"


def run(sql: str, params: Any) -> list[tuple[str, Any]]:
    executed: list[tuple[str, Any]] = []
    execute_with_settings(lambda text, values, *_: executed.append((text, values)), sql, params, False, {})
    return executed


def test_settings_in_front_of_a_statement_are_statements_of_their_own() -> None:
    executed = run(SETTINGS.format("%s", "%s", "UPDATE t SET a = %s"), ("1", "{}", 7))

    assert executed == [
        ("SET LOCAL pghistory.context_id = %s", ["1"]),
        ("SET LOCAL pghistory.context_metadata = %s", ["{}"]),
        ("UPDATE t SET a = %s", (7,)),
    ]


def test_named_parameters_stay_together() -> None:
    names = ("%(pghistory__context_id)s", "%(pghistory__context_metadata)s")
    values = {"pghistory__context_id": "1", "pghistory__context_metadata": "{}", "a": 7}

    executed = run(SETTINGS.format(*names, "UPDATE t SET a = %(a)s"), values)

    assert executed[1:] == [
        ("SET LOCAL pghistory.context_metadata = %s", ["{}"]),
        ("UPDATE t SET a = %(a)s", values),
    ]


def test_savepoint_needs_no_settings() -> None:
    assert run(SETTINGS.format("%s", "%s", "SAVEPOINT s1"), ("1", "{}")) == [("SAVEPOINT s1", ())]


def test_statement_without_settings_is_unchanged() -> None:
    assert run("UPDATE t SET a = %s", [7]) == [("UPDATE t SET a = %s", [7])]
