"""The choice of a replica for a read. `tests/e2e/test_replicas.py` has real replicas."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError

from contentapi.core import replicas


def make_servers(*usable: bool) -> Any:
    return SimpleNamespace(
        replicas=[SimpleNamespace(alias=f"replica{number}", is_usable=each) for number, each in enumerate(usable)]
    )


@pytest.mark.parametrize(
    ("usable", "chosen"),
    [
        ((True, True, True), ["replica0", "replica1", "replica2", "replica0", "replica1", "replica2"]),
        ((True, False, True), ["replica0", "replica2", "replica2", "replica0", "replica0", "replica2"]),
        ((False, False, False), [None] * 6),
    ],
)
def test_usable_replicas_take_turns(
    monkeypatch: pytest.MonkeyPatch, usable: tuple[bool, ...], chosen: list[str | None]
) -> None:
    monkeypatch.setattr(replicas, "SERVERS", make_servers(*usable))

    assert [replicas.choose(number) for number in range(6)] == chosen


def test_connection_to_a_replica_is_checked_before_its_read(monkeypatch: pytest.MonkeyPatch) -> None:
    checked = []
    wrappers = {
        alias: SimpleNamespace(close_if_unusable_or_obsolete=lambda alias=alias: checked.append(alias))
        for alias in ("default", "replica0", "replica1")
    }
    monkeypatch.setattr(replicas, "SERVERS", make_servers(False, True))
    monkeypatch.setattr(replicas, "has_replicas", lambda: True)
    monkeypatch.setattr(replicas, "get_connection", wrappers.__getitem__)

    assert replicas.read(None, lambda: replicas.ROUTE.alias) == "replica1"
    assert (checked, replicas.ROUTE.alias) == (["replica1"], None)


def test_read_of_the_primary_is_no_reason_to_leave_a_replica_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def read() -> None:
        aliases.append(replicas.ROUTE.alias)
        replicas.set_route(None)
        aliases.append(replicas.ROUTE.alias)
        raise OperationalError

    aliases: list[str | None] = []
    monkeypatch.setattr(replicas, "SERVERS", make_servers(True))
    monkeypatch.setattr(replicas, "has_replicas", lambda: True)
    monkeypatch.setattr(replicas, "set_route", lambda alias: setattr(replicas.ROUTE, "alias", alias))

    with pytest.raises(OperationalError):
        replicas.read(None, read)

    assert aliases == ["replica0", None]
