"""The parameter `fields`: a response with the fields that a client selects, as the same selection in GraphQL."""

from functools import partial
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from graphql import get_named_type, is_composite_type
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st
from pytest_django import Settings

from blog.models import Author, Post, PostStatus
from contentapi.core.identity import Actor, Role
from contentapi.rate_limits.account import COUNTERS
from contentapi.rest.representations import Representation
from contentapi.schema import SCHEMA
from tests.conftest import make_api_key
from tests.environment import set_environment
from tests.factories import make_actor, make_author, make_comment, make_image, make_order, make_post, make_user
from tests.graphql_requests import post_to_graphql
from tests.resources import RestResponse, send_request
from tests.thoroughness import scale_examples
from tests.webhook_rows import make_attempt, make_delivery, make_webhook

DEEPEST = 4


def read(path: str, fields: str, actor: Actor | None = None, **headers: Any) -> RestResponse:
    joint = "&" if "?" in path else "?"
    return send_request("GET", f"{path}{joint}fields={quote(fields, safe='')}", actor=actor, **headers)


def make_posts() -> tuple[Post, Author]:
    """Make a post with a comment, a draft of the same author, and a post of another."""
    author = make_author(name="Jo", email="jo@example.invalid")
    post = make_post(author=author, title="A", tags=["x"])
    make_comment(post, author=author, body="Hi")
    make_post(author=author, status=PostStatus.DRAFT)
    make_post(title="B")
    return post, author


def test_pages_have_the_fields_of_objects_within_and_the_next_one_too() -> None:
    make_posts()
    fields = "title,comments.body,comments.author.name,author.name"
    item = {"title": "A", "comments": [{"body": "Hi", "author": {"name": "Jo"}}], "author": {"name": "Jo"}}

    first = read("/posts?limit=1", fields)
    link = first.headers["Link"]

    assert read("/posts?limit=1&offset=1", fields).body == {"data": [item], "total": 2, "offset": 1, "limit": 1}
    assert first.body["next_cursor"] == send_request("GET", "/posts?limit=1").body["next_cursor"]
    assert send_request("GET", link[link.index("/posts") : link.index(">")]).body["data"] == [item]


@pytest.mark.parametrize("role", [None, Role.ADMIN])
def test_object_without_a_path_has_the_fields_of_its_representation(role: Role | None) -> None:
    post, author = make_posts()
    actor = make_actor(role) if role else None

    found = read(f"/posts/{post.pk}", "author.bio,author,comments,id,id", actor).body

    assert found["author"] == send_request("GET", f"/authors/{author.pk}", actor=actor).body
    assert ("email" in found["author"]) is (role is Role.ADMIN)
    [comment] = send_request("GET", f"/posts/{post.pk}/comments").body["data"]
    assert {**found["comments"][0], "author": comment["author"]} == comment
    assert list(found) == ["author", "comments", "id"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("titel", 'fields has "titel", which is no field of Post. Did you mean "title"?'),
        ("author.nme", 'fields has "nme", which is no field of Author. Did you mean "name"?'),
        ("title.id", 'fields has "id" below a String, which has no fields.'),
        ("cover", "fields must have a path below cover, such as cover.image."),
        ("commentsConnection.edges", "fields must have a path below edges, such as edges.cursor."),
        ("x" * 40_000, "The query's length in bytes is 40000; at most 32768 is allowed (CONTENTAPI_MAX_QUERY_LENGTH)."),
        ("author.posts." * 5 + "author", "The query's depth is 13; at most 12 is allowed (CONTENTAPI_MAX_DEPTH)."),
        (
            "comments.author.posts.comments",
            "The query's cost is 201201; at most 25000 is allowed (CONTENTAPI_MAX_COST).",
        ),
    ],
)
def test_fields_that_cannot_be_selected_are_400(fields: str, message: str) -> None:
    post, _ = make_posts()

    for path in (f"/posts/{post.pk}", "/posts?limit=1"):
        status, code, error = read(path, fields).error
        assert (status, error) == (400, message)
        assert code == ("LIMIT_EXCEEDED" if "The query's" in message else "BAD_REQUEST")


@pytest.mark.parametrize("fields", ["titel", "cover"])
def test_errors_suggest_no_name_of_a_hidden_schema(fields: str, settings: Settings) -> None:
    set_environment(settings, CONTENTAPI_INTROSPECTION="off")

    _, _, message = read("/posts", fields).error

    assert message in ('fields has "titel", which is no field of Post.', "fields must have a path below cover.")


@pytest.mark.parametrize(
    "fields",
    ["", ",", "id,,title", "id,", ".id", "author.", "id title", "email?", "id\0", "\ud800", "__typename", "ïd"],
)
def test_fields_that_are_no_names_are_400(fields: str) -> None:
    text = quote(fields.encode("utf-8", "surrogatepass"))

    assert send_request("GET", f"/posts?fields={text}").error[:2] == (400, "BAD_REQUEST")
    assert send_request("GET", "/posts/0?fields=id&fields=id").error[:2] == (400, "BAD_REQUEST")


def test_limit_of_a_page_multiplies_the_cost() -> None:
    fields = "title,comments.body,comments.author.name"

    assert read("/posts?limit=100", f"{fields},coauthors.posts.id").error[2].startswith("The query's cost is 31100;")
    assert ";r=278;" in read("/posts?limit=100", fields).headers["RateLimit"]  # after one of 1 and one of 21


def test_write_answers_with_the_fields_and_refuses_wrong_ones() -> None:
    send = partial(send_request, X_API_Key=make_api_key(make_actor(Role.AUTHOR)))
    new = {"title": "T", "body": "B"}

    created = send("POST", "/posts?fields=title,version", new)
    path, tag = created.headers["Location"], created.headers["ETag"]
    changed = send("PATCH", f"{path}?fields=status", {"title": "U"}, If_Match=tag)
    published, replayed, other = (
        send("POST", f"{path}/publish?fields={fields}", Idempotency_Key="k") for fields in ("title", "title", "id")
    )

    assert (created.body, changed.body) == ({"title": "T", "version": "1"}, {"status": "draft"})
    assert published.body == replayed.body == {"title": "U"}
    assert replayed.headers["Idempotent-Replayed"] == "true"
    assert (other.status, send("POST", "/posts?fields=titel", new).status, Post.objects.count()) == (422, 400, 1)


def test_write_whose_response_is_too_large_is_undone(settings: Any) -> None:
    author = make_actor(Role.AUTHOR)
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_max_response=1000)
    new = {"title": "T", "body": "B" * 2000}

    assert send_request("POST", "/posts?fields=body", new, actor=author).error[:2] == (400, "LIMIT_EXCEEDED")
    assert not Post.objects.exists()
    assert send_request("POST", "/posts?fields=id", new, actor=author).status == 201


def test_object_that_is_too_large_is_refused_before_it_is_shown(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = make_post(body="B" * 2000)
    set_environment(settings, CONTENTAPI_MAX_RESPONSE="1024")
    shown: list[bytes] = []

    def show(_: Representation, text: bytes) -> bytes:
        shown.append(text)
        return text

    monkeypatch.setattr(Representation, "show", show)

    assert read(f"/posts/{post.pk}", "body").error[:2] == (400, "LIMIT_EXCEEDED")
    assert not shown
    assert read(f"/posts/{post.pk}", "id").status == 200
    assert len(shown) == 1


def test_tag_depends_on_the_fields() -> None:
    path = f"/posts/{make_post().pk}"
    title = read(path, "title").headers["ETag"]

    assert [read(path, fields, If_None_Match=title).status for fields in ("title", "tags")] == [304, 200]


def test_orders_and_users_keep_their_numbers_and_links() -> None:
    admin, order = make_actor(Role.ADMIN), make_order()
    links = send_request("GET", f"/v1/orders/{order.pk}", actor=admin).body["_links"]

    assert read(f"/v1/orders/{order.pk}", "version,_links", actor=admin).body == {"version": "1", "_links": links}
    assert read(f"/v1/orders/{order.pk}", "links,id", actor=admin).body == {"_links": links, "id": order.pk}
    assert read("/orders", "id", actor=admin).body == {"data": [{"id": order.pk}], "next_cursor": None}
    assert read(f"/users/{order.user_id}", "id,author.id", actor=admin).body == {"id": order.user_id, "author": None}
    assert read(f"/orders/{order.pk}", "x").status == 401


def test_old_slug_leads_to_the_same_fields() -> None:
    author = make_actor(Role.AUTHOR)
    new = {"title": "T", "body": "B", "status": "published"}
    path = send_request("POST", "/posts", new, actor=author).headers["Location"]
    send_request("PATCH", path, {"slug": "new"}, actor=author)

    assert read("/posts/by-slug/t", "title").headers["Location"] == "/posts/by-slug/new?fields=title"


# --- Any fields -----------------------------------------------------------------------------------------


@st.composite
def draw_selection(draw: st.DrawFn, kind: Any, depth: int = 1) -> dict[str, Any]:
    """Draw fields of a type, each with the selection below it."""
    composite = {name for name, field in kind.fields.items() if is_composite_type(get_named_type(field.type))}
    names = sorted(kind.fields.keys() if depth < DEEPEST else kind.fields.keys() - composite)
    chosen = draw(st.lists(st.sampled_from(names or sorted(kind.fields)), min_size=1, max_size=3, unique=True))
    return {
        name: draw(draw_selection(get_named_type(kind.fields[name].type), depth + 1)) if name in composite else {}
        for name in chosen
    }


def list_paths(selection: dict[str, Any], above: str = "") -> list[str]:
    return [
        path for name, below in selection.items() for path in list_paths(below, f"{above}{name}.") or [above + name]
    ]


def write_graphql(selection: dict[str, Any]) -> str:
    return (
        "{ " + " ".join(f"{name} {write_graphql(below) if below else ''}" for name, below in selection.items()) + " }"
    )


def make_places() -> dict[str, tuple[str, str, str]]:
    """Return, by type, the path of an object, that of its collection, and the root field of the same object."""
    post, author = make_posts()
    comment, image = post.comments.get(), make_image(status="ready", width=80, height=60, thumbhash="aGFzaA==")
    Post.objects.filter(pk=post.pk).update(cover_id=image.pk, cover_alt="A")
    delivery = make_delivery(make_webhook(make_user(Role.ADMIN)))
    make_attempt(delivery)
    comments, webhook = f"/posts/{post.pk}/comments", f"/webhooks/{delivery.webhook_id}"
    return {
        "Post": (f"/posts/{post.pk}", "/posts", f"post(id: {post.pk})"),
        "Author": (f"/authors/{author.pk}", "/authors", f"author(id: {author.pk})"),
        "Comment": (f"{comments}/{comment.pk}", comments, f"node(id: {comment.pk})"),
        "Image": (f"/images/{image.pk}", "/images", f"image(id: {image.pk})"),
        "Webhook": (webhook, "/webhooks", f"webhook(id: {delivery.webhook_id})"),
        "WebhookDelivery": (
            f"{webhook}/deliveries/{delivery.pk}",
            f"{webhook}/deliveries",
            f"webhookDelivery(id: {delivery.pk})",
        ),
    }


@pytest.mark.property
def test_fields_are_those_of_the_same_selection_in_graphql() -> None:
    places = make_places()
    keys: dict[Role | None, dict[str, Any]] = {
        role: {"X_API_Key": make_api_key(make_actor(role))} for role in (Role.AUTHOR, Role.ADMIN)
    }

    @limits(max_examples=scale_examples(2000), deadline=None)
    @given(data=st.data(), kind=st.sampled_from([*places]), role=st.sampled_from([None, *keys]))
    def are_the_same(data: st.DataObject, kind: str, role: Role | None) -> None:
        COUNTERS.clear()
        selection, (path, collection, root) = data.draw(draw_selection(SCHEMA.type_map[kind])), places[kind]
        key, fields = keys.get(role, {}), ",".join(list_paths(selection))

        shown = read(path, fields, **key)
        listed = read(f"{collection}?limit=1", fields, **key)
        found = post_to_graphql({"query": f"{{ it: {root} {{ ... on {kind} {write_graphql(selection)} }} }}"}, **key)

        if shown.status == 200:
            assert shown.body == found.data["it"]
            assert listed.status != 200 or list(listed.body["data"][0]) == list(shown.body)
        elif shown.status == 404:
            assert found.data == {"it": None}
        else:
            assert found.codes == [shown.error[1]]
            assert shown.error[2] == found.body["errors"][0]["message"] or shown.status == 401

    are_the_same()
