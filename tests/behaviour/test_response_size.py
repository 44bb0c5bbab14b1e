"""The largest response: refused on both transports, and a mutation whose result exceeds it is rolled back."""

import msgspec
import pytest
from pytest_django import Settings

from blog.models import Author, Post
from contentapi.core.identity import Actor, Role
from tests.conftest import GraphQL
from tests.factories import make_actor, make_author, make_comment, make_post
from tests.graphql_requests import build_error_entry
from tests.resources import send_request

MESSAGE = "The response's size in bytes is 1001 or more; at most 1000 is allowed (CONTENTAPI_MAX_RESPONSE)."
BODY = "x" * 400
CREATE = 'createPost(input: {{title: "{}", body: "{}"}}) {}'


@pytest.fixture
def response_limit_of_1000_bytes(settings: Settings) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_max_response=1000)


def make_writer() -> tuple[Actor, Author]:
    author = make_author()
    return make_actor(Role.AUTHOR, author=author), author


@pytest.mark.usefixtures("response_limit_of_1000_bytes")
@pytest.mark.parametrize(
    "query",
    [
        "{ posts { id body } }",
        "{ postsConnection { nodes: edges { node { body } } } }",
        "{ author(id: AUTHOR) { posts { body } } }",
        "{ author(id: AUTHOR) { name posts { author { name posts { body } } } } }",
        "{ a: posts(limit: 1) { body } b: posts(limit: 1) { body } c: posts(limit: 1) { body } }",
        "{ post(id: POST) { a: body b: body c: body } __typename }",
    ],
)
def test_query_with_a_too_large_response_is_refused(gql: GraphQL, query: str) -> None:
    author = make_author()
    post, *_ = [make_post(author=author, body=BODY) for _ in range(3)]

    response = gql(query.replace("AUTHOR", str(author.pk)).replace("POST", str(post.pk)))

    assert (response.status, response.body) == (
        400,
        {"errors": [build_error_entry(response, "LIMIT_EXCEEDED", 400, MESSAGE)]},
    )


def test_response_of_exactly_the_limit_is_sent(gql: GraphQL, settings: Settings) -> None:
    make_post(body=BODY)
    make_post(body="é\\")
    rows = gql("{ posts { body } }").data["posts"]
    size = len(msgspec.json.encode(rows))

    statuses = []
    for most in (size, size - 1):
        settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_max_response=most)
        statuses.append(gql("{ posts { body } }").status)

    assert statuses == [200, 400]


@pytest.mark.usefixtures("response_limit_of_1000_bytes")
@pytest.mark.parametrize(
    "selection",
    [
        "{ a: body b: body c: body }",  # read by the statement that inserts
        "{ author { posts { a: body b: body c: body } } }",  # read back
        "{ a: body b: body c: body author { posts { id } } }",
    ],
)
def test_mutation_with_a_too_large_result_is_rolled_back(gql: GraphQL, selection: str) -> None:
    actor, _ = make_writer()

    response = gql(f"mutation {{ {CREATE.format('One', BODY, selection)} }}", actor=actor)

    message = f"{MESSAGE} The mutation was rolled back."
    expected = build_error_entry(response, "LIMIT_EXCEEDED", 400, message) | {"path": ["createPost"]}
    [error] = response.body["errors"]
    assert (response.status, response.body["data"]) == (400, {"createPost": None})
    assert {key: value for key, value in error.items() if key != "locations"} == expected
    assert not Post.objects.exists()


@pytest.mark.usefixtures("response_limit_of_1000_bytes")
@pytest.mark.parametrize("path", ["/posts", "/posts?offset=0", "/authors/AUTHOR/posts", "/posts/POST/comments"])
def test_too_large_page_is_refused(path: str) -> None:
    author = make_author()
    post, *_ = [make_post(author=author, body=BODY) for _ in range(3)]
    for _ in range(3):
        make_comment(post, body=BODY)

    response = send_request("GET", path.replace("AUTHOR", str(author.pk)).replace("POST", str(post.pk)))

    assert response.error == (400, "LIMIT_EXCEEDED", MESSAGE)


@pytest.mark.usefixtures("response_limit_of_1000_bytes")
def test_single_resource_may_have_any_size() -> None:
    post = make_post(body=BODY * 3)

    assert send_request("GET", f"/posts/{post.pk}").body["body"] == BODY * 3
