"""The feed over REST and GraphQL."""

from typing import Any

import pytest
from django.test import Client

from blog.models import Post
from contentapi.core.identity import Role, Scope
from contentapi.events import feed
from contentapi.events.feed import read_log
from orders.models import Order
from tests.blog.post_copies import save
from tests.blog.preview_requests import get_json, make_link, read_title
from tests.blog.preview_requests import query as query_with_token
from tests.conftest import GraphQL, make_api_key
from tests.event_log import relay
from tests.factories import make_actor, make_author, make_comment, make_image, make_order, make_post, make_user

PAGE = """
query ($first: Int, $after: String, $types: [String!], $subject: ID) {
  events(first: $first, after: $after, types: $types, subject: $subject) {
    nextCursor
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    edges { cursor node { __typename position type subject was now actorId
      ... on AuthorEvent { author { name } } ... on OrderEvent { order { status } } } }
  }
}
"""


PREVIEWED = """query ($id: ID!) { events(subject: $id, types: ["post.*"]) {
  edges { node { ... on PostEvent { post { title } } } } } }"""


def get_events(client: Client, query: str = "", **headers: str) -> dict[str, Any]:
    response = client.get(f"/events{query}", headers=headers)
    assert response.status_code == 200, response.text
    page: dict[str, Any] = response.json()
    return page


def test_page_of_rest_has_the_events_and_the_cursor_to_go_on(client: Client) -> None:
    authors = [make_author() for _ in range(3)]
    relay()

    page = get_events(client, "?limit=2")
    rest = get_events(client, f"?after={page['next_cursor']}&limit=2")
    end = get_events(client, f"?after={rest['next_cursor']}")

    assert [event["data"]["name"] for event in page["data"] + rest["data"]] == [author.name for author in authors]
    assert page["next_cursor"] == read_log().format_cursor(int(page["data"][-1]["position"]))
    assert end == {"data": [], "next_cursor": rest["next_cursor"]}


def test_types_are_separated_by_commas_or_repeated(client: Client) -> None:
    make_comment(make_post())
    relay()

    for query in ("?type=post.*,comment.created", "?type=post.*&type=comment.created"):
        assert [event["type"] for event in get_events(client, query)["data"]] == ["post.created", "comment.created"]


def test_data_is_the_representation_of_each_kind(client: Client) -> None:
    admin = make_actor(Role.ADMIN)
    key = make_api_key(admin)
    post, image, user, order = make_post(), make_image(), make_user(), make_order()
    comment = make_comment(post)
    Order.objects.filter(pk=order.pk).update(status="paid")
    relay()
    paths = {
        f"/posts/{post.pk}": "post",
        f"/posts/{post.pk}/comments/{comment.pk}": "comment",
        f"/authors/{post.author.pk}": "author",
        f"/images/{image.pk}": "image",
        f"/orders/{order.pk}": "order",
        f"/users/{user.pk}": "user",
    }

    for path, kind in paths.items():
        subject = path.rpartition("/")[2]
        found = get_events(client, f"?type={kind}.*&subject={subject}", X_API_Key=key)["data"][-1]
        assert found["data"] == client.get(path, headers={"X-API-Key": key}).json()
    versioned = client.get(f"/v1/events?subject={order.pk}", headers={"X-API-Key": key}).json()
    assert versioned["data"][0]["data"]["_links"]["self"] == {"href": f"/v1/orders/{order.pk}"}


def test_author_without_a_visible_email_has_none(client: Client) -> None:
    make_author(email="secret@example.invalid")
    relay()

    assert "email" not in get_events(client)["data"][0]["data"]


def test_preview_changes_no_feed_unless_it_is_of_the_site() -> None:
    post = make_post(title="Public")
    save(post, title="Not yet")
    relay()

    for mode, title in {"latest": "Public", "site": "Not yet"}.items():
        token = make_link(post, mode=mode).token
        found = query_with_token(token, PREVIEWED, id=str(post.pk))

        assert read_title(token, post) == "Not yet"
        assert get_json(token, f"/events?subject={post.pk}")["data"][0]["data"]["title"] == title
        assert found.data["events"]["edges"][0]["node"]["post"]["title"] == title


def test_object_that_the_caller_may_not_see_any_more_is_null(client: Client) -> None:
    pk = make_post().pk
    relay()
    Post.objects.filter(pk=pk).delete()
    relay()

    page = get_events(client, f"?subject={pk}")["data"]

    assert [(event["type"], event["data"]) for event in page] == [("post.created", None), ("post.deleted", None)]


MALFORMED = ["type=post.eaten", "type=" + "post.*," * 50 + "post.*", "subject=%00", "limit=0", "limit=101", "offset=0"]


def test_refusal_of_rest_has_its_status_and_code(client: Client) -> None:
    malformed = dict.fromkeys(["after=1", "after=now&after=now", *MALFORMED], (400, "BAD_REQUEST"))
    for query, expected in {"after=other-1": (410, "EVENTS_EXPIRED"), **malformed}.items():
        response = client.get(f"/events?{query}")

        assert (response.status_code, response["X-Error-Code"]) == expected, query


def test_page_of_graphql_has_the_types_of_the_events(gql: GraphQL) -> None:
    admin = make_actor(Role.ADMIN)
    order = make_order(user_id=admin.user_id)
    author = make_author()
    relay()

    page = gql(PAGE, actor=admin, types=["order.*", "author.created"]).data["events"]

    nodes = [edge["node"] for edge in page["edges"]]
    assert [(node["__typename"], node["subject"]) for node in nodes] == [
        ("OrderEvent", str(order.pk)),
        ("AuthorEvent", str(author.pk)),
    ]
    assert nodes[0]["order"] == {"status": "pending"}
    assert nodes[1]["author"] == {"name": author.name}
    assert [edge["cursor"] for edge in page["edges"]] == [read_log().format_cursor(int(n["position"])) for n in nodes]


def test_pages_of_graphql_follow_each_other(gql: GraphQL, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "WINDOW", 3)
    authors = [make_author() for _ in range(5)]
    relay()
    found, infos, cursor = [], [], None

    for _ in range(3):
        page = gql(PAGE, first=2, after=cursor).data["events"]
        found += [edge["node"]["author"]["name"] for edge in page["edges"]]
        infos.append((page["pageInfo"]["hasPreviousPage"], page["pageInfo"]["hasNextPage"]))
        assert page["pageInfo"]["endCursor"] == page["nextCursor"]
        cursor = page["nextCursor"]

    assert found == [author.name for author in authors]
    assert infos == [(False, True), (True, True), (True, False)]


def test_empty_page_of_graphql_has_a_cursor_to_go_on(gql: GraphQL, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "WINDOW", 2)
    make_order()  # two events that an anonymous caller does not see
    make_author()
    relay()

    page = gql(PAGE).data["events"]
    rest = gql(PAGE, after=page["pageInfo"]["endCursor"]).data["events"]

    assert page["edges"] == []
    assert page["nextCursor"] == page["pageInfo"]["endCursor"] == read_log().format_cursor(read_log().position - 1)
    assert [page["pageInfo"]["hasNextPage"], rest["pageInfo"]["hasNextPage"]] == [True, False]
    assert len(rest["edges"]) == 1


def test_expired_cursor_of_graphql_is_410(gql: GraphQL) -> None:
    response = gql(PAGE, after="other-1")

    assert (response.status, response.codes) == (410, ["EVENTS_EXPIRED"])


def test_actor_is_shown_to_themselves_and_to_admins(gql: GraphQL) -> None:
    reader, admin = make_actor(Role.READER), make_actor(Role.ADMIN)
    without = make_actor(Role.ADMIN, scopes={Scope.EVENTS_READ})
    post = make_post(changed_by=reader.user_id)
    relay()

    shown = [
        gql(PAGE, actor=actor, subject=str(post.pk)).data["events"]["edges"][0]["node"]["actorId"]
        for actor in (None, reader, admin, without)
    ]

    assert shown == [None, str(reader.user_id), str(reader.user_id), None]
