"""What a projection answers is what graphql-core answers over model instances: on documents made up by hypothesis."""

import json
import re
from typing import Any

import msgspec
import pytest
from django.db import transaction
from graphql import GraphQLError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django import Settings

from contentapi.core.errors import ApiError
from contentapi.core.identity import Actor
from contentapi.graphql.documents import get_document
from contentapi.schema import SCHEMA
from tests.contentapi.projection import reference_executor
from tests.contentapi.projection.documents import Request, requests
from tests.contentapi.projection.execution import Executed, run
from tests.contentapi.projection.fixture_rows import ASKERS, AUTHORS, POSTS, WRITERS, fill
from tests.thoroughness import examples

pytestmark = pytest.mark.django_db

VALUES = re.compile(r"\d{10}|plain|quoted|DROP|blog_post;|example\.invalid")  # of rows, of arguments and of askers
ARGUMENT = re.compile(
    r"^Send first or last, not both|^(limit|first|last) must be from|^(after|before) must be a cursor"
)
SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


@pytest.fixture(autouse=True)
def no_limits(settings: Settings) -> None:
    """Let documents have any size: whether one is refused is not what is tried here."""
    sizes = ("aliases", "root_fields", "mutations", "directives", "depth", "comparisons")
    without = {f"contentapi_max_{size}": 10**9 for size in sizes}
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, **without)


def in_order(content: bytes | str) -> dict[str, str] | None:
    """Return the root fields of an answer, as texts that keep the order of all members and show what is there twice."""
    members = json.loads(content, object_pairs_hook=lambda pairs: {"object": pairs})["object"]
    data = dict(members)["data"]
    return data and {key: json.dumps(value) for key, value in data["object"]}


def told(error: GraphQLError) -> tuple[str, str]:
    cause = error.original_error
    return cause.code if isinstance(cause, ApiError) else "BAD_REQUEST", error.message


def same(request: Request, variables: dict[str, Any], actor: Actor) -> set[Any]:
    """Execute a request both ways, and hold the answers against each other. Returns the root fields that failed."""
    got = run(request.text, variables, actor=actor, operation_name=request.operation_name)
    got_failed = {error["path"][0] for error in got.errors}
    document = get_document(SCHEMA, request.text, request.operation_name).document
    rows = reference_executor.all_rows(actor, POSTS, got_failed)  # a mutation that fails has written nothing
    wanted = reference_executor.execute(document, rows, variables, request.operation_name)
    failed = {error.path[0] for error in wanted.errors or [] if error.path}

    wanted_data, got_data = in_order(json.dumps({"data": wanted.data})), in_order(got.content)
    if failed == got_failed:
        assert got_data == wanted_data
        assert list(got_data or ()) == list(wanted_data or ())
        got_told = {(error["extensions"]["code"], error["message"]) for error in got.errors}
        wanted_told = {told(error) for error in wanted.errors or []}
        # Of several wrong arguments below one field, either may find another one first.
        assert got_told == wanted_told or all(is_of_an_argument(error) for error in got_told | wanted_told)
    else:  # an argument is refused by a projection even where there is no row whose list it is for
        assert failed < got_failed
        assert all(is_of_an_argument((error["extensions"]["code"], error["message"])) for error in got.errors)
    one_statement_for_each_root_field(got, got_data, got_failed)
    return failed


def is_of_an_argument(error: tuple[str, str]) -> bool:
    return error[0] == "BAD_REQUEST" and ARGUMENT.search(error[1]) is not None


def one_statement_for_each_root_field(got: Executed, data: dict[str, str] | None, failed: set[str]) -> None:
    if data is not None and not any(error["extensions"]["code"] == "FORBIDDEN" for error in got.errors):
        answered = [key for key, text in data.items() if not text.startswith('"') and key not in failed]
        refused = [error for error in got.errors if "must be a cursor" in error["message"]]
        assert 0 <= len(got.reads) - len(answered) <= len(refused)  # whose comments a cursor is of, only rows tell
    assert not any(VALUES.search(sql) for sql, _ in got.reads)


@pytest.mark.property
@pytest.mark.parametrize("asker", ASKERS)
def test_a_query_is_answered_as_graphql_core_answers_it(asker: str) -> None:
    fill()

    @settings(max_examples=examples(240), deadline=None, suppress_health_check=SLOW_IS_FINE)
    @given(request=requests(), other=st.sampled_from([asker, *ASKERS]))
    def is_answered_the_same(request: Request, other: str) -> None:
        for variables, who in zip(request.both_variables, (asker, other), strict=True):
            same(request, variables, ASKERS[who])

    is_answered_the_same()


@pytest.mark.property
@pytest.mark.parametrize("asker", WRITERS)
def test_what_was_written_is_answered_as_graphql_core_answers_it(asker: str) -> None:
    fill()

    @settings(max_examples=examples(60), deadline=None, suppress_health_check=SLOW_IS_FINE)
    @given(request=requests(mutations=True))
    def is_answered_the_same(request: Request) -> None:
        for variables in request.both_variables:
            with transaction.atomic():
                same(request, variables, ASKERS[asker])
                transaction.set_rollback(True)

    is_answered_the_same()


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


@pytest.mark.parametrize("limit", [-(2**31), -1, 0, 101, 2**31 - 1])
@pytest.mark.parametrize("document", FAILURES)
def test_a_limit_that_is_refused_fails_the_root_field_that_graphql_core_fails(document: str, limit: int) -> None:
    fill()
    text = document.replace("POST", str(POSTS[0])).replace("AUTHOR", str(AUTHORS[0]))
    request = Request(text, None, ({}, {}), limit)

    failed = same(request, {"n": limit}, ASKERS["anonymous"])

    assert failed == FAILURES[document]
    assert same(request, {"n": 1}, ASKERS["anonymous"]) == set()


@pytest.mark.parametrize(
    "place", ["title @include(if: $on)", "author { id @skip(if: $on) }", "... @skip(if: $on) { id }"]
)
def test_a_switch_that_is_null_fails_where_graphql_core_says(place: str) -> None:
    fill()
    request = Request(f"query ($on: Boolean = true) {{ post(id: {POSTS[0]}) {{ id {place} }} }}", None, ({}, {}), 0)

    failed = [same(request, variables, ASKERS["anonymous"]) for variables in ({}, {"on": None}, {"on": False})]

    assert failed == [set(), {"post"}, set()]
