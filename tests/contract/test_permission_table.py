"""The whole permission table, for each act and caller, on every transport."""

import re
from typing import Any

import pytest
from django.conf import settings

from blog.models import Author, Comment, Post
from contentapi.core.identity import ALL_SCOPES, ROLE_SCOPES, Role, Scope
from orders.models import Order
from tests.conftest import GraphQL
from tests.contract.permissions import (
    CALLERS,
    CHANGE_NOTHING,
    COMMENT,
    CREATE_USER,
    DELETE_COMMENT,
    DELETE_USER,
    EMAIL,
    ON_OWN_POSTS,
    ORDERS,
    OTHERS,
    OWN,
    READ_HIDDEN,
    READ_PUBLIC,
    READ_USERS,
    ROWS,
    WRITE_POSTS,
    Outcome,
    Row,
    World,
    make_world,
)
from tests.contract.transports import GRAPHQL, REST, SERVICES, TRANSPORTS, do_on_services, send_rest_request
from users.models import User

AUTHENTICATION = settings.BASE_DIR / "docs/authentication.md"

pytestmark = pytest.mark.django_db

NOT_ON = {(transport, "create an order", OTHERS) for transport in ("graphql", "rest")}  # an order is the caller's own
CELLS = [
    pytest.param(transport, row, caller, outcome, id=f"{transport}: {caller}: {row}")
    for transport, (_, acts) in TRANSPORTS.items()
    for row in ROWS
    if row.act in acts and (transport, row.act, row.whose) not in NOT_ON
    for caller, outcome in row.cells
]
LACKING = [
    pytest.param(transport, row, caller, scope, outcome, id=f"{transport}: {caller} without {scope}: {row}")
    for transport, (_, acts) in TRANSPORTS.items()
    for row in ROWS
    if row.act in acts and (transport, row.act, row.whose) not in NOT_ON
    for caller, allowed in row.cells
    if allowed == "ok"
    for scope, outcome in row.without.items()
]


def read_all_rows() -> list[Any]:
    return [list(model._default_manager.order_by("pk").values()) for model in (User, Author, Post, Comment, Order)]


def do_act(gql: GraphQL, transport: str, world: World, row: Row) -> Outcome:
    """Do an act and return its outcome. A refused act and a read change nothing; any other act changes rows."""
    before = read_all_rows()
    outcome = TRANSPORTS[transport][0](gql, world, row.act)
    reads = row.act.startswith(("read", "list"))
    assert (read_all_rows() == before) is (outcome != "ok" or reads or row.act in CHANGE_NOTHING)
    return outcome


@pytest.mark.parametrize(("transport", "row", "caller", "outcome"), CELLS)
def test_act_has_the_outcome_of_the_table(
    gql: GraphQL, transport: str, row: Row, caller: str, outcome: Outcome
) -> None:
    world = make_world(caller, row.whose)

    assert do_act(gql, transport, world, row) == outcome


@pytest.mark.parametrize(("transport", "row", "caller", "scope", "outcome"), LACKING)
def test_act_without_its_scope_is_refused(
    gql: GraphQL, transport: str, row: Row, caller: str, scope: Scope, outcome: Outcome
) -> None:
    world = make_world(caller, row.whose, ROLE_SCOPES[Role(caller)] - {scope})

    assert do_act(gql, transport, world, row) == outcome


@pytest.mark.parametrize("row", [row for row in ROWS if row.act in SERVICES], ids=str)
def test_scopes_of_an_act_are_sufficient(gql: GraphQL, row: Row) -> None:
    for caller in [caller for caller, outcome in row.cells if outcome == "ok" and caller != "anonymous"]:
        world = make_world(caller, row.whose, frozenset(row.without))

        assert do_on_services(gql, world, row.act) == "ok"


def test_every_act_is_tested_on_every_transport_that_has_it() -> None:
    acts = {row.act for row in ROWS}

    assert set(SERVICES) == acts - {"list an author's drafts"}  # nobody but a projection lists them yet
    assert set(GRAPHQL) == set(REST) == acts


def list_refused_callers(row: Row) -> list[str]:
    return [caller for caller, outcome in row.cells if outcome != "ok"]


BOTH = [
    pytest.param(row, caller, id=f"{caller}: {row}")
    for row in ROWS
    if ("graphql", row.act, row.whose) not in NOT_ON
    for caller in list_refused_callers(row)
]


@pytest.mark.parametrize(("row", "caller"), BOTH)
def test_refusal_is_the_same_on_both_transports(gql: GraphQL, row: Row, caller: str) -> None:
    world = make_world(caller, row.whose)
    document, variables, _ = GRAPHQL[row.act](world)

    by_graphql = gql(document, actor=None if world.actor.is_anonymous else world.actor, **variables)
    by_rest = send_rest_request(world, REST[row.act](world))

    if "errors" in by_graphql.body:
        [error] = by_graphql.body["errors"]
        assert (by_rest.status_code, by_rest["X-Error-Code"]) == (by_graphql.status, error["extensions"]["code"])
        assert by_rest.json() == {"error": error["message"]}
    else:
        assert by_rest.status_code in (404, 200)  # null, or a list without it


def test_every_scope_is_required_by_an_act() -> None:
    assert {scope for row in ROWS for scope in row.without} == ALL_SCOPES


# The owners of the rows that each text in a cell of the table permits.
CELL_WORDS: dict[str, set[str]] = {
    "": set(),
    "yes": {OWN, OTHERS},
    "yes, as oneself": {OWN, OTHERS},
    "own": {OWN},
    "own, and on own posts": {OWN, ON_OWN_POSTS},
    "self": {OWN},
    "self only": {OWN},
    "all": {OWN, OTHERS, ON_OWN_POSTS},
}


def test_data_equals_the_table_of_the_documentation() -> None:
    table = parse_table(AUTHENTICATION.read_text())
    hidden_to_readers = {"comment on a draft"}  # the table speaks of visible posts

    assert list(table) == list(dict.fromkeys(row.of for row in ROWS))
    assert list(table) == [
        READ_PUBLIC, READ_HIDDEN, WRITE_POSTS, COMMENT, DELETE_COMMENT, EMAIL, ORDERS, READ_USERS, CREATE_USER,
        DELETE_USER,
    ]  # fmt: skip
    for row in ROWS:
        for caller, outcome in row.cells:
            if row.act not in hidden_to_readers:
                allowed = row.whose in CELL_WORDS[table[row.of][caller]]
                assert (outcome == "ok") is allowed, f"{caller}: {row}"


def parse_table(document: str) -> dict[str, dict[str, str]]:
    """Return the words in the permission table of a document: by act, by caller."""
    _, _, below = document.partition("| Act | " + " | ".join(CALLERS) + " |\n")
    lines = re.match(r"(?:\|.*\n)+", below)
    assert lines
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[0].splitlines()[1:]]
    return {act: dict(zip(CALLERS, cells, strict=True)) for act, *cells in rows}
