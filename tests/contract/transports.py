"""The actions of the permission table as requests of each transport.

A transport is a table of actions. A new transport needs a table and an entry in TRANSPORTS.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

from django.test import Client

from tests.contract.input_documents import copy_document, input_document, link_document, object_document
from tests.contract.service_actions import Result
from tests.contract.types import collect
from tests.contract.worlds import CHANGED, LATER, World
from tests.webhook_rows import WEBHOOK

# GraphQL. An action is a document, its variables, and a value that only a successful response contains.


def create_document(world: World, **values: Any) -> tuple[str, dict[str, Any], None]:
    author_id = {} if world.is_own else {"authorId": str(world.target.author.pk)}
    document = "mutation ($input: CreatePostInput!) { createPost(input: $input) { id } }"
    return document, {"input": {"title": "New", "body": "", **author_id, **values}}, None


def change_document(world: World, status: str = "published", **values: Any) -> tuple[str, dict[str, Any], None]:
    document = "mutation ($input: UpdatePostInput!) { updatePost(input: $input) { id } }"
    return document, {"input": {"id": world.post_id(status), **values}}, None


def schedule_document(world: World) -> tuple[str, dict[str, Any], None]:
    document = "mutation ($input: SchedulePostInput!) { schedulePost(input: $input) { id } }"
    return document, {"input": {"id": world.post_id("draft"), "publishAt": LATER.isoformat()}}, None


def id_document(mutation: str, id_: str, selection: str = "{ id }") -> tuple[str, dict[str, Any], None]:
    return f"mutation ($id: ID!) {{ {mutation}(id: $id) {selection} }}", {"id": id_}, None


def comment_document(world: World, status: str) -> tuple[str, dict[str, Any], None]:
    document = "mutation ($input: AddCommentInput!) { addComment(input: $input) { id } }"
    return document, {"input": {"postId": world.post_id(status), "body": "Well said."}}, None


def read_document(world: World, status: str) -> tuple[str, dict[str, Any], None]:
    return "query ($id: ID!) { post(id: $id) { id } }", {"id": world.post_id(status)}, None


def list_document(world: World, status: str) -> tuple[str, dict[str, Any], str]:
    return f"{{ posts(status: {status}) {{ id }} }}", {}, world.post_id(status)


def author_document(
    world: World, selection: str, expected_value: str | None = None
) -> tuple[str, dict[str, Any], str | None]:
    return (
        f"query ($id: ID!) {{ author(id: $id) {{ {selection} }} }}",
        {"id": str(world.target.author.pk)},
        expected_value,
    )


EVENTS = "query ($id: ID!) { events(subject: $id) { edges { node { subject } } } }"
GRAPHQL: dict[str, Callable[[World], tuple[str, dict[str, Any], str | None]]] = {
    "read a published post": lambda world: read_document(world, "published"),
    "list published posts": lambda world: list_document(world, "published"),
    "read an author": lambda world: author_document(world, "name"),
    "read a comment": lambda world: object_document("comment", world.comment_id("published")),
    "read a draft": lambda world: read_document(world, "draft"),
    "read a scheduled post": lambda world: read_document(world, "scheduled"),
    "read an archived post": lambda world: read_document(world, "archived"),
    "read the events of a draft": lambda world: (EVENTS, {"id": world.post_id("draft")}, world.post_id("draft")),
    "list drafts": lambda world: list_document(world, "draft"),
    "list an author's drafts": lambda world: author_document(world, "posts { id }", world.post_id("draft")),
    "create a post": create_document,
    "create a published post": lambda world: create_document(world, status="published"),
    "create a scheduled post": lambda world: create_document(world, status="scheduled", publishAt=LATER.isoformat()),
    "update a published post": lambda world: change_document(world, "published", title="New"),
    "update a draft": lambda world: change_document(world, "draft", title="New"),
    "change the author of a post": lambda world: change_document(world, authorId=str(world.other_author.pk)),
    "set the co-authors of a post": lambda world: change_document(world, coauthorIds=[str(world.other_author.pk)]),
    "create a post with co-authors": lambda world: create_document(world, coauthorIds=[str(world.other_author.pk)]),
    "read a working copy": lambda world: (
        "query ($id: ID!) { post(id: $id) { workingCopy { title } } }",
        {"id": world.post_id("published")},
        CHANGED,
    ),
    "save a working copy": lambda world: copy_document(world, "save", "workingCopy { title }", title="New"),
    "schedule a working copy": lambda world: copy_document(
        world, "save", "workingCopy { title }", publishAt=LATER.isoformat()
    ),
    "publish a working copy": lambda world: copy_document(world, "publish", "post { id }"),
    "publish the working copy of a draft": lambda world: copy_document(world, "publish", "post { id }", status="draft"),
    "discard a working copy": lambda world: copy_document(world, "discard", "post { id }"),
    "create a preview link": link_document,
    "create a preview link of the site": lambda world: link_document(world, mode="site"),
    "revoke a preview link": lambda world: input_document(
        "revokePreviewLink", "revokedPreviewLinkId", id=str(world.target.link.pk)
    ),
    "publish a draft": lambda world: id_document("publishPost", world.post_id("draft")),
    "publish a published post": lambda world: id_document("publishPost", world.post_id("published")),
    "schedule a draft": schedule_document,
    "unschedule a post": lambda world: id_document("unpublishPost", world.post_id("scheduled")),
    "unpublish a post": lambda world: id_document("unpublishPost", world.post_id("published")),
    "archive a published post": lambda world: id_document("archivePost", world.post_id("published")),
    "archive a draft": lambda world: id_document("archivePost", world.post_id("draft")),
    "take a post out of the archive": lambda world: id_document("unpublishPost", world.post_id("archived")),
    "delete a published post": lambda world: id_document("deletePost", world.post_id("published"), ""),
    "delete a draft": lambda world: id_document("deletePost", world.post_id("draft"), ""),
    "comment on a published post": lambda world: comment_document(world, "published"),
    "comment on a draft": lambda world: comment_document(world, "draft"),
    "delete a comment": lambda world: id_document("deleteComment", world.comment_id("published"), ""),
    "delete a comment on a draft": lambda world: id_document("deleteComment", world.comment_id("draft"), ""),
    "read an author's email": lambda world: author_document(world, "email", world.target.author.email),
    "create a webhook": lambda _: input_document("createWebhook", "webhook { id }", **WEBHOOK),
    **collect("GRAPHQL"),
}


def do_on_graphql(client: Client, world: World, action: str) -> Result:
    document, variables, expected_value = GRAPHQL[action](world)
    response = send(client, world, "POST", "/graphql", {"query": document, "variables": variables})
    if "errors" in response.json():
        [error] = response.json()["errors"]
        assert response.status_code == error["extensions"]["status"]
        return Result(str(response.status_code), (error["extensions"]["code"], error["message"]))
    assert response.status_code == 200
    [found] = response.json()["data"].values()
    shown = found is not None if expected_value is None else expected_value in iterate_leaves(found)
    return Result("ok" if shown else "404")


def send(client: Client, world: World, method: str, path: str, body: "Body") -> Any:
    headers = {"X-API-Key": world.api_key} if world.api_key else {}
    content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    content_type = "" if body is None else "image/png" if isinstance(body, bytes) else "application/json"
    return client.generic(method, path, content, content_type=content_type, headers=headers)


def iterate_leaves(value: Any) -> Iterator[Any]:
    for below in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from iterate_leaves(below)
    if not isinstance(value, dict | list):
        yield value


# REST. An action is a method, a path, a body, and a value that only a successful response contains.

Body = dict[str, Any] | bytes | None
RestRequest = tuple[str, str, Body, Any]


def build_request(method: str, path: str, body: Body = None, expected_value: Any = None) -> RestRequest:
    return method, path, body, expected_value


def build_post_request(
    world: World, method: str, status: str, body: dict[str, Any] | None = None, below: str = ""
) -> RestRequest:
    return build_request(method, f"/posts/{world.post_id(status)}{below}", body)


def build_comment_request(world: World, method: str, status: str) -> RestRequest:
    return build_request(method, f"/posts/{world.comments[status].post_id}/comments/{world.comment_id(status)}")


def build_creation(world: World, **values: Any) -> RestRequest:
    author_id = {} if world.is_own else {"authorId": str(world.target.author.pk)}
    return build_request("POST", "/posts", {"title": "New", "body": "", **author_id, **values})


COPY, LINKS = "/working-copy", "/preview-links"
SCHEDULED = {"status": "scheduled", "publishAt": LATER.isoformat()}
REST: dict[str, Callable[[World], RestRequest]] = {
    "read a published post": lambda world: build_post_request(world, "GET", "published"),
    "list published posts": lambda world: build_request(
        "GET", "/posts?status=published", expected_value=world.post_id("published")
    ),
    "read an author": lambda world: build_request("GET", f"/authors/{world.target.author.pk}"),
    "read a comment": lambda world: build_comment_request(world, "GET", "published"),
    "read a draft": lambda world: build_post_request(world, "GET", "draft"),
    "read a scheduled post": lambda world: build_post_request(world, "GET", "scheduled"),
    "read an archived post": lambda world: build_post_request(world, "GET", "archived"),
    "read the events of a draft": lambda world: build_request(
        "GET", f"/events?subject={world.post_id('draft')}", expected_value=world.post_id("draft")
    ),
    "list drafts": lambda world: build_request("GET", "/posts?status=draft", expected_value=world.post_id("draft")),
    "list an author's drafts": lambda world: build_request(
        "GET", f"/authors/{world.target.author.pk}/posts", expected_value=world.post_id("draft")
    ),
    "create a post": build_creation,
    "create a published post": lambda world: build_creation(world, status="published"),
    "create a scheduled post": lambda world: build_creation(world, **SCHEDULED),
    "update a published post": lambda world: build_post_request(world, "PATCH", "published", {"title": "New"}),
    "update a draft": lambda world: build_post_request(world, "PATCH", "draft", {"title": "New"}),
    "change the author of a post": lambda world: build_post_request(
        world, "PATCH", "published", {"authorId": str(world.other_author.pk)}
    ),
    "set the co-authors of a post": lambda world: build_post_request(
        world, "PATCH", "published", {"coauthorIds": [str(world.other_author.pk)]}
    ),
    "create a post with co-authors": lambda world: build_creation(world, coauthorIds=[str(world.other_author.pk)]),
    "read a working copy": lambda world: build_post_request(world, "GET", "published", below=COPY),
    "save a working copy": lambda world: build_post_request(world, "PUT", "published", {"title": "New"}, COPY),
    "schedule a working copy": lambda world: build_post_request(
        world, "PUT", "published", {"publishAt": LATER.isoformat()}, COPY
    ),
    "publish a working copy": lambda world: build_post_request(world, "POST", "published", below=f"{COPY}/publish"),
    "publish the working copy of a draft": lambda world: build_post_request(
        world, "POST", "draft", below=f"{COPY}/publish"
    ),
    "discard a working copy": lambda world: build_post_request(world, "DELETE", "published", below=COPY),
    "create a preview link": lambda world: build_post_request(world, "POST", "published", {}, LINKS),
    "create a preview link of the site": lambda world: build_post_request(
        world, "POST", "published", {"mode": "site"}, LINKS
    ),
    "revoke a preview link": lambda world: build_request("DELETE", f"/preview-links/{world.target.link.pk}"),
    "publish a draft": lambda world: build_post_request(world, "PATCH", "draft", {"status": "published"}),
    "publish a published post": lambda world: build_post_request(world, "PATCH", "published", {"status": "published"}),
    "schedule a draft": lambda world: build_post_request(world, "PATCH", "draft", SCHEDULED),
    "unschedule a post": lambda world: build_post_request(world, "PATCH", "scheduled", {"status": "draft"}),
    "unpublish a post": lambda world: build_post_request(world, "PATCH", "published", {"status": "draft"}),
    "archive a published post": lambda world: build_post_request(world, "PATCH", "published", {"status": "archived"}),
    "archive a draft": lambda world: build_post_request(world, "PATCH", "draft", {"status": "archived"}),
    "take a post out of the archive": lambda world: build_post_request(world, "PATCH", "archived", {"status": "draft"}),
    "delete a published post": lambda world: build_post_request(world, "DELETE", "published"),
    "delete a draft": lambda world: build_post_request(world, "DELETE", "draft"),
    "comment on a published post": lambda world: build_post_request(
        world, "POST", "published", {"body": "Hear!"}, "/comments"
    ),
    "comment on a draft": lambda world: build_post_request(world, "POST", "draft", {"body": "Hear!"}, "/comments"),
    "delete a comment": lambda world: build_comment_request(world, "DELETE", "published"),
    "delete a comment on a draft": lambda world: build_comment_request(world, "DELETE", "draft"),
    "read an author's email": lambda world: build_request(
        "GET", f"/authors/{world.target.author.pk}", expected_value=world.target.author.email
    ),
    "create a webhook": lambda _: build_request("POST", "/webhooks", WEBHOOK),
    **collect("REST"),
}
# POST /posts/{id}/publish, which must have the same outcome as PATCH.
REST_ACTIONS: dict[str, Callable[[World], RestRequest]] = {
    "publish a draft": lambda world: build_post_request(world, "POST", "draft", below="/publish"),
    "publish a published post": lambda world: build_post_request(world, "POST", "published", below="/publish"),
}


def do_on_rest(client: Client, world: World, action: str) -> Result:
    return get_rest_result(client, world, REST[action](world))


def do_on_rest_actions(client: Client, world: World, action: str) -> Result:
    return get_rest_result(client, world, REST_ACTIONS[action](world))


def get_rest_result(client: Client, world: World, action: RestRequest) -> Result:
    method, path, body, expected_value = action
    response = send(client, world, method, path, body)
    if response.status_code >= 400:
        assert list(response.json()) == ["error"]
        return Result(str(response.status_code), (response["X-Error-Code"], response.json()["error"]))
    shown = expected_value is None or str(expected_value) in map(str, iterate_leaves(response.json()))
    return Result("ok" if shown else "404")


Transport = Callable[[Client, World, str], Result]
TRANSPORTS: dict[str, tuple[Transport, set[str]]] = {
    "graphql": (do_on_graphql, set(GRAPHQL)),
    "rest": (do_on_rest, set(REST)),
    "rest, by action": (do_on_rest_actions, set(REST_ACTIONS)),
}
