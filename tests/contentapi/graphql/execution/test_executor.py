"""An operation's executor, copied for each request: requests share nothing, and leave nothing behind."""

import gc
from collections.abc import Callable
from copy import copy
from typing import Any
from weakref import ref

import pytest

from contentapi.core.identity import ANONYMOUS, OPERATOR
from contentapi.graphql.documents import DOCUMENTS, get_operation
from contentapi.schema import SCHEMA
from tests.factories import make_author

OURS = ("graphql.", "contentapi.", "blog.", "users.", "orders.")


def left_to_the_collector(act: Callable[[], Any]) -> set[str]:
    """Return the types, of ours and graphql-core's, of what an act leaves behind and references do not let go of."""
    gc.collect()
    gc.disable()
    try:
        act()
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        names = {f"{type(each).__module__}.{type(each).__name__}" for each in gc.garbage}
        return {name for name in names if name.startswith(OURS)}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


@pytest.mark.django_db
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
    DOCUMENTS.clear()  # others' documents may be of schemas that nothing else holds
    variables = {"input": {"title": "Soup", "body": "Boil.", "authorId": str(make_author().pk)}}

    def execute() -> None:
        assert not get_operation(SCHEMA, text, None).execute(variables, {"actor": OPERATOR}).errors

    execute()  # the first time statements are made
    document = ref(get_operation(SCHEMA, text, None))

    assert not left_to_the_collector(execute)
    assert not left_to_the_collector(DOCUMENTS.clear)
    assert document() is None


@pytest.mark.django_db
def test_requests_share_no_errors() -> None:
    shared = get_operation(SCHEMA, "query ($n: Int) { posts(limit: $n) { id } }", None)

    failures = [shared.execute({"n": limit}, {"actor": ANONYMOUS}).errors for limit in (0, 1, 0)]

    assert [errors and len(errors) for errors in failures] == [1, None, 1]


def test_a_request_leaves_the_executor_as_it_is() -> None:
    shared = get_operation(SCHEMA, 'query ($b: Boolean!) { __type(name: "Post") { name kind @skip(if: $b) } }', None)
    executor = vars(shared.executor)
    before = {name: copy(value) if isinstance(value, dict | list | set) else value for name, value in executor.items()}

    answers = [shared.execute({"b": skipped}, {"actor": ANONYMOUS}).data for skipped in (True, False, True)]

    assert [sorted(data["__type"]) for data in answers if data] == [["name"], ["kind", "name"], ["name"]]
    assert executor == before
    assert not executor["_stream_usages"]
    assert not executor["collected_errors"].errors
