"""The permission table: each cell on the services, and on each transport one cell of each outcome of an action."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import pytest
from django.conf import settings
from django.test import Client

from contentapi.core.identity import ALL_SCOPES, Scope
from tests.conftest import make_api_key
from tests.contract.own_types import OWN_SCOPES
from tests.contract.permission_table import ADMIN_ROWS, ROWS, TABLE
from tests.contract.permissions import (
    ANONYMOUS_CALLER,
    CALLERS,
    COAUTHORED,
    ON_OWN_POSTS,
    OTHERS,
    OWN,
    REPLACE_FILE,
    Outcome,
    Row,
)
from tests.contract.service_actions import SERVICES, Result, do_on_services
from tests.contract.transports import GRAPHQL, REST, TRANSPORTS
from tests.contract.worlds import World, make_worlds, read_all_rows, roll_back

AUTHENTICATION = settings.BASE_DIR / "docs/authentication.md"
NO_SERVICE = "list an author's drafts"  # a projection lists them
NOT_ON_TRANSPORTS = ("create an order", OTHERS)  # an order is the caller's own
ON_TRANSPORTS = [row for row in ROWS if (row.action, row.whose) != NOT_ON_TRANSPORTS]
# By action and outcome: a transport has none of the rules
CELLS_OF_TRANSPORTS = {
    (row.action, outcome): (row, caller) for row in ON_TRANSPORTS for caller, outcome in row.choose_cells().items()
}

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media")]


def list_cells(row: Row, caller: str) -> Iterator[tuple[str, frozenset[Scope], Outcome]]:
    """Return the cell of a row for a caller with the needed scopes only; with all, if the action is not allowed.

    The first allowed caller also lacks one scope after the other; `test_policy.py` has all callers.
    """
    if caller not in row.outcomes:
        return
    is_allowed = row.outcomes[caller] == "ok" and caller != ANONYMOUS_CALLER
    yield f"{caller}: {row}", frozenset(row.without) if is_allowed else ALL_SCOPES, row.outcomes[caller]
    if is_allowed and caller in row.choose_cells():
        for scope, outcome in row.without.items():
            yield f"{caller} without {scope}: {row}", ALL_SCOPES - {scope}, outcome


def check_action(action: Callable[[], Result], world: World, row: Row, outcome: Outcome) -> Result:
    """Do an action, compare its outcome and whether it changed rows, and roll it back."""
    with roll_back():
        result = action()
        rows = read_all_rows()
    assert result.outcome == outcome
    assert (rows != world.rows) is row.changes_rows(outcome)
    return result


def list_actions(client: Client, world: World, action: str) -> dict[str, Callable[[], Result]]:
    """Return the action on the service or, without one, on the transports."""
    if action != NO_SERVICE:
        return {"service": partial(do_on_services, world, action)}
    if not world.actor.is_anonymous:
        world = replace(world, api_key=make_api_key(world.actor))
    return {name: partial(TRANSPORTS[name][0], client, world, action) for name in ("graphql", "rest")}


@pytest.mark.parametrize("caller", CALLERS)
def test_acts_on_the_services_have_the_outcomes_of_the_table(
    client: Client, subtests: pytest.Subtests, caller: str
) -> None:
    worlds = make_worlds(caller)

    for row in ROWS:
        for name, scopes, outcome in list_cells(row, caller):
            world = worlds[row.whose].limit_scopes(scopes)
            for place, do in list_actions(client, world, row.action).items():
                with subtests.test(f"{place}: {name}"):
                    check_action(do, world, row, outcome)


@pytest.mark.parametrize("caller", CALLERS)
def test_transports_have_the_outcomes_of_the_table_and_equal_messages(
    client: Client, subtests: pytest.Subtests, caller: str
) -> None:
    worlds = make_worlds(caller)

    for (action, outcome), (row, who) in CELLS_OF_TRANSPORTS.items():
        if who != caller:
            continue
        world, results = worlds[row.whose], {}
        for transport, (do, actions) in TRANSPORTS.items():
            if action in actions:
                with subtests.test(f"{transport}: {caller}: {row}"):
                    results[transport] = check_action(partial(do, client, world, action), world, row, outcome)
        with subtests.test(f"messages: {caller}: {row}"):
            assert len({result.error for result in results.values() if result.error}) <= 1, results


def test_every_action_is_tested_on_every_transport_that_has_it() -> None:
    actions = {row.action for row in ROWS}

    assert set(SERVICES) == actions - {NO_SERVICE}
    assert set(REST) == actions
    assert set(GRAPHQL) == actions - {REPLACE_FILE}


def test_every_row_has_an_outcome_for_every_caller() -> None:
    missing = {str(row): set(CALLERS) - set(row.outcomes) for row in [*ROWS, *ADMIN_ROWS]}

    owns_nothing = {str(row) for row in [*ROWS, *ADMIN_ROWS] if row.whose != OTHERS}
    assert {row: callers for row, callers in missing.items() if callers and row not in owns_nothing} == {}
    assert all(callers <= {ANONYMOUS_CALLER} for callers in missing.values()), missing


def test_every_scope_is_required_by_an_action() -> None:
    required = {scope for row in ROWS for scope in row.without}

    assert required - OWN_SCOPES == ALL_SCOPES - OWN_SCOPES  # `recipes:read` permits nothing if all recipes are public


# The owners of the rows that each text in a cell of the table permits.
CELL_WORDS: dict[str, set[str]] = {
    "": set(),
    "yes": {OWN, OTHERS, COAUTHORED},
    "yes, as oneself": {OWN, OTHERS},
    "own": {OWN},
    "own, and co-authored": {OWN, COAUTHORED},
    "own, and on own posts": {OWN, ON_OWN_POSTS},
    "self": {OWN},
    "self only": {OWN},
    "all": {OWN, OTHERS, ON_OWN_POSTS, COAUTHORED},
}


def test_data_equals_the_table_of_the_documentation() -> None:
    table = parse_table(AUTHENTICATION.read_text())
    hidden_to_readers = {"comment on a draft"}  # the table speaks of visible posts

    assert set(table) == set(TABLE)
    for name, rows in TABLE.items():
        for row in rows:
            for caller, outcome in row.outcomes.items():
                if row.action not in hidden_to_readers:
                    allowed = row.whose in CELL_WORDS[table[name][caller]]
                    assert (outcome == "ok") is allowed, f"{caller}: {row}"


def parse_table(document: str) -> dict[str, dict[str, str]]:
    """Return the words in the permission table of a document: by action, by caller."""
    _, _, below = document.partition("| Action | " + " | ".join(CALLERS) + " |\n")
    lines = re.match(r"(?:\|.*\n)+", below)
    assert lines
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[0].splitlines()[1:]]
    return {action: dict(zip(CALLERS, cells, strict=True)) for action, *cells in rows}
