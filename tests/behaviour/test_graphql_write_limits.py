"""The rate limit of writes: what counts as one, and mutations beyond it."""

from pytest_django import Settings

from blog.models import Post as BlogPost
from contentapi.core.identity import Role
from tests.behaviour.rate_limits import HELLO, WRITE, read_remaining_units, set_limits
from tests.conftest import make_api_key
from tests.factories import make_actor, make_author
from tests.graphql_requests import PostToGraphQL


def test_mutation_counts_against_the_write_limit_and_a_query_does_not(post: PostToGraphQL, settings: Settings) -> None:
    set_limits(settings, writes="2/minute")
    key = make_api_key(make_actor(Role.AUTHOR, author=make_author()))

    responses = [post({"query": WRITE}, X_API_Key=key) for _ in range(3)]
    read = post(HELLO, X_API_Key=key)

    assert [response.status for response in responses] == [200, 200, 429]
    assert [read_remaining_units(response) for response in responses] == [
        {"authenticated": 2999, "writes": 1},
        {"authenticated": 2998, "writes": 0},
        {"authenticated": 2997, "writes": 0},  # the request was read, to know that it is a write
    ]
    assert '"writes" of 2/minute (CONTENTAPI_RATE_WRITES)' in responses[2].body["errors"][0]["message"]
    assert (read.status, read_remaining_units(read)) == (200, {"authenticated": 2996})


def test_each_mutation_of_a_request_counts_as_one_write(post: PostToGraphQL) -> None:
    key = make_api_key(make_actor(Role.AUTHOR, author=make_author()))
    ten = " ".join(f'a{number}: createPost(input: {{title: "t", body: "b"}}) {{ id }}' for number in range(10))

    responses = [post({"query": f"mutation {{ {fields} }}"}, X_API_Key=key) for fields in (ten, "__typename")]

    assert read_remaining_units(responses[0]) == {"authenticated": 2999, "writes": 590}
    assert read_remaining_units(responses[1]) == {"authenticated": 2998}


def test_mutations_beyond_the_write_limit_are_refused_together(post: PostToGraphQL, settings: Settings) -> None:
    set_limits(settings, writes="5/minute")
    key = make_api_key(make_actor(Role.AUTHOR, author=make_author()))
    three = " ".join(f'a{number}: createPost(input: {{title: "t", body: "b"}}) {{ id }}' for number in range(3))

    responses = [post({"query": f"mutation {{ {three} }}"}, X_API_Key=key) for _ in range(2)]
    again = post({"query": WRITE}, X_API_Key=key)

    assert [response.status for response in responses] == [200, 429]
    assert responses[1].headers["Retry-After"] == "60"
    assert BlogPost.objects.count() == 4
    assert read_remaining_units(again)["writes"] == 1


def test_selected_operation_decides_whether_it_is_a_write(post: PostToGraphQL) -> None:
    key = make_api_key(make_actor(Role.AUTHOR, author=make_author()))
    document = f"query Read {{ __typename }} {WRITE.replace('mutation', 'mutation Write')}"

    responses = [
        post({"query": document, "operationName": name}, X_API_Key=key) for name in ("Read", "Write", "Nothing", None)
    ]

    assert [set(read_remaining_units(response)) for response in responses] == [
        {"authenticated"},
        {"authenticated", "writes"},
        {"authenticated"},
        {"authenticated"},
    ]
