"""Projections and graphql-core, which resolves field by field, return the same data for generated documents."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from django.db import transaction
from graphql import GraphQLError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contentapi.core.errors import ApiError
from contentapi.core.identity import Actor
from contentapi.graphql.documents import get_document
from contentapi.schema import SCHEMA
from tests.contentapi.projection import reference_executor, reference_rows
from tests.contentapi.projection.documents import Request, requests
from tests.contentapi.projection.execution import Executed, run
from tests.contentapi.projection.fixture_rows import ACTORS, AUTHORS, POSTS, WRITERS, fill
from tests.thoroughness import scale_examples

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_limits")]

VALUES = re.compile(r"\d{10}|plain|quoted|DROP|blog_post;|example\.invalid")  # of rows, arguments and actors
SEARCH_OF_SLUGS = re.compile(r"\s*WITH RECURSIVE probe")
MAY_BE_INVISIBLE = re.compile(r"\bviewer\b|\b(user|order)\(")
ARGUMENT = re.compile(
    r"^Send first or last, not both|^(limit|first|last) must be from|^(after|before) must be a cursor"
)
SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def in_order(content: bytes | str) -> dict[str, str] | None:
    """Return the root fields of a response as texts, which keep the order of all members and show duplicates."""
    members = json.loads(content, object_pairs_hook=lambda pairs: {"object": pairs})["object"]
    data = dict(members)["data"]
    return data and {key: json.dumps(value) for key, value in data["object"]}


def code_and_message(error: GraphQLError) -> tuple[str, str]:
    cause = error.original_error
    return cause.code if isinstance(cause, ApiError) else "BAD_REQUEST", error.message


def compare(
    request: Request, variables: dict[str, Any], actor: Actor, known: reference_rows.World | None = None
) -> set[Any]:
    """Execute a request both ways and compare the responses. Returns the root fields that failed.

    A query may have the rows `known`, which saves reading them again.
    """
    got = run(request.text, variables, actor=actor, operation_name=request.operation_name)
    assert all("path" in error for error in got.errors), f"{got.errors} {request.text}"
    got_failed = {error["path"][0] for error in got.errors}
    document = get_document(SCHEMA, request.text, request.operation_name).document
    # A mutation that failed has written nothing.
    rows = replace(known, actor=actor) if known else reference_rows.all_rows(actor, POSTS, got_failed)
    wanted = reference_executor.execute(document, rows, variables, request.operation_name)
    failed = {error.path[0] for error in wanted.errors or [] if error.path}

    wanted_data, got_data = in_order(json.dumps({"data": wanted.data})), in_order(got.content)
    if got_data is None and wanted_data is not None:
        # A projection rejects a wrong argument even if there is no row to which it applies, and then fails the whole
        # field. With graphql-core, the items of `nodes` are null.
        assert all(is_of_an_argument((error["extensions"]["code"], error["message"])) for error in got.errors)
    elif failed == got_failed:
        # A wrong argument below a nullable field is an error of the root field. With graphql-core, the rest has data.
        whole = {str(key) for key in failed if got_data and got_data[str(key)] == "null"}
        assert got_data == (wanted_data and wanted_data | dict.fromkeys(whole, "null"))
        assert list(got_data or ()) == list(wanted_data or ())
        got_errors = {(error["extensions"]["code"], error["message"]) for error in got.errors}
        wanted_errors = {code_and_message(error) for error in wanted.errors or []}
        # If a field has several wrong arguments, the executors may report different ones.
        assert all(is_of_an_argument(error) for error in got_errors ^ wanted_errors)
    else:  # a projection rejects a wrong argument even if there is no row to which it applies
        assert failed < got_failed
        more = [error for error in got.errors if error["path"][0] not in failed]
        assert all(is_of_an_argument((error["extensions"]["code"], error["message"])) for error in more)
    assert_one_statement_per_root_field(request.text, got, got_data, got_failed)
    return failed


def is_of_an_argument(error: tuple[str, str]) -> bool:
    return error[0] == "BAD_REQUEST" and ARGUMENT.search(error[1]) is not None


def assert_one_statement_per_root_field(
    text: str, got: Executed, data: dict[str, str] | None, failed: set[str]
) -> None:
    if data is not None and not any(error["extensions"]["code"] == "FORBIDDEN" for error in got.errors):
        answered = [key for key, text in data.items() if not text.startswith('"') and key not in failed]
        # If the actor may see no row of these fields, they are null without a statement.
        invisible = [key for key in answered if data[key] == "null"] if MAY_BE_INVISIBLE.search(text) else []
        refused = [error for error in got.errors if "must be a cursor" in error["message"]]
        # A cursor of another row's connection is found in the result. A creation whose slug is taken is repeated.
        repeated = [sql for sql, _ in got.statements if SEARCH_OF_SLUGS.match(sql)]
        assert -len(invisible) <= len(got.reads) - len(answered) <= len(refused) + len(repeated)
    assert not any(VALUES.search(sql) for sql, _ in got.reads)


@pytest.mark.property
@pytest.mark.parametrize("actor_name", ACTORS)
def test_query_returns_the_same_as_with_graphql_core(actor_name: str) -> None:
    fill()
    known = reference_rows.all_rows(ACTORS[actor_name], POSTS)

    @settings(max_examples=scale_examples(120), deadline=None, suppress_health_check=SLOW_IS_FINE)
    @given(request=requests(), other=st.sampled_from([actor_name, *ACTORS]))
    def returns_the_same(request: Request, other: str) -> None:
        for variables, who in zip(request.both_variables, (actor_name, other), strict=True):
            compare(request, variables, ACTORS[who], known)

    returns_the_same()


@pytest.mark.property
@pytest.mark.parametrize("actor_name", WRITERS)
def test_mutation_returns_the_same_as_with_graphql_core(actor_name: str) -> None:
    fill()

    @settings(max_examples=scale_examples(60), deadline=None, suppress_health_check=SLOW_IS_FINE)
    @given(request=requests(mutations=True))
    def returns_the_same(request: Request) -> None:
        for variables in request.both_variables:
            with transaction.atomic():
                compare(request, variables, ACTORS[actor_name])
                transaction.set_rollback(True)

    returns_the_same()


FAILURES = {
    "query ($n: Int) { posts(limit: $n) { id } }": {"posts"},
    "query ($n: Int) { posts { comments(limit: $n) { id } } }": {"posts"},
    "query ($n: Int) { other: posts { id } posts { title comments { author { posts(limit: $n) { id } } } } }": {
        "posts"
    },
    "query ($n: Int) { post(id: POST) { id ... { a: comments(limit: $n) { id } b: comments { id } } } }": {"post"},
    "query ($n: Int) { a: post(id: POST) { id } post(id: POST) { author { posts(limit: $n) { id } } } }": {"post"},
    "query ($n: Int) { author(id: AUTHOR) { name posts { comments(limit: $n) { id } } } }": {"author"},
    "query ($n: Int) { author(id: AUTHOR) { posts(limit: $n) { comments(limit: $n) { id } } } post(id: 1) { id } }": {
        "author"
    },
}


@pytest.mark.parametrize("document", FAILURES)
def test_wrong_limit_fails_the_same_root_field_as_with_graphql_core(document: str) -> None:
    fill()
    actor = ACTORS["anonymous"]
    known = reference_rows.all_rows(actor, POSTS)
    text = document.replace("POST", str(POSTS[0])).replace("AUTHOR", str(AUTHORS[0]))

    for limit in (-(2**31), -1, 0, 101, 2**31 - 1):
        assert compare(Request(text, None, ({}, {}), limit), {"n": limit}, actor, known) == FAILURES[document], limit
    assert compare(Request(text, None, ({}, {}), 1), {"n": 1}, actor, known) == set()


@pytest.mark.parametrize(
    "place", ["title @include(if: $on)", "author { id @skip(if: $on) }", "... @skip(if: $on) { id }"]
)
def test_null_condition_of_a_directive_fails_as_with_graphql_core(place: str) -> None:
    fill()
    request = Request(f"query ($on: Boolean = true) {{ post(id: {POSTS[0]}) {{ id {place} }} }}", None, ({}, {}), 0)

    failed = [compare(request, variables, ACTORS["anonymous"]) for variables in ({}, {"on": None}, {"on": False})]

    assert failed == [set(), {"post"}, set()]
