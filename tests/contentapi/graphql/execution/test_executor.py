"""Each request has its own executor: requests share no state and leave nothing to the garbage collector."""

import gc
from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import ref

import pytest
from graphql import VariableValues

from contentapi.core.identity import ANONYMOUS, OPERATOR
from contentapi.graphql.documents import DOCUMENTS, get_operation, parse_within_limits
from contentapi.graphql.execution.executor import ProjectingExecutor
from contentapi.schema import SCHEMA
from tests.factories import make_author

OURS = ("graphql.", "contentapi.", "blog.", "users.", "orders.")


def count_collected_objects(action: Callable[[], Any]) -> set[str]:
    """Return the types of the objects, ours and graphql-core's, that an action leaves to the garbage collector."""
    gc.collect()
    gc.disable()
    try:
        action()
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        names = {f"{type(each).__module__}.{type(each).__name__}" for each in gc.garbage}
        return {name for name in names if name.startswith(OURS)}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


@pytest.mark.usefixtures("only_new_objects")
def test_parsed_document_leaves_nothing_to_the_garbage_collector() -> None:
    assert count_collected_objects(lambda: parse_within_limits("query ($id: ID!) { post(id: $id) { title } }")) == set()


@pytest.mark.django_db
@pytest.mark.usefixtures("only_new_objects")
@pytest.mark.parametrize(
    "text",
    [
        "{ __typename }",
        "{ posts { id author { name } comments { id @skip(if: false) } } }",
        "mutation ($input: CreatePostInput!) { createPost(input: $input) { id author { name } } }",
        "mutation ($input: CreatePostInput!) { createPost(input: $input) { id author { posts { id } } } }",
        "{ __schema { types { name fields { name } } } }",
    ],
)
def test_success_leaves_nothing_to_the_garbage_collector(text: str) -> None:
    DOCUMENTS.clear()  # documents of other tests may have the last reference to a schema
    variables = {"input": {"title": "Soup", "body": "Boil.", "authorId": str(make_author().pk)}}

    def execute() -> None:
        assert not get_operation(SCHEMA, text, None).execute(variables, {"actor": OPERATOR}).errors

    execute()  # the first execution compiles statements
    document = ref(get_operation(SCHEMA, text, None))

    assert not count_collected_objects(execute)
    assert not count_collected_objects(DOCUMENTS.clear)
    assert document() is None


@pytest.mark.django_db
def test_requests_share_no_errors() -> None:
    shared = get_operation(SCHEMA, "query ($n: Int) { posts(limit: $n) { id } }", None)

    failures = [shared.execute({"n": limit}, {"actor": ANONYMOUS}).errors for limit in (0, 1, 0)]

    assert [errors and len(errors) for errors in failures] == [1, None, 1]


def test_executors_of_two_requests_share_no_mutable_state() -> None:
    shared = get_operation(SCHEMA, 'query ($b: Boolean!) { __type(name: "Post") { name kind @skip(if: $b) } }', None)
    build = partial(ProjectingExecutor, shared.prepared, 0)
    executors = [build({"actor": ANONYMOUS}, VariableValues({}, {})) for _ in range(2)]
    for executor in executors:
        executor.initialise()
    first, second = map(vars, executors)

    responses = [shared.execute({"b": skipped}, {"actor": ANONYMOUS}).data for skipped in (True, False, True)]

    assert [sorted(data["__type"]) for data in responses if data] == [["name"], ["kind", "name"], ["name"]]
    of_the_document = {"fragments", "fragment_definitions"}
    mutable = {name for name, value in first.items() if isinstance(value, dict | list | set)} - of_the_document
    assert not [name for name in {*mutable, "collected_errors", "_stream_usages"} if first[name] is second[name]]
