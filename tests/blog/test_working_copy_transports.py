"""Working copies by REST and GraphQL: representations, entity tags, and who sees them."""

from typing import Any

from blog.models import Post, WorkingCopy
from contentapi.core.identity import Actor, Role, Scope
from contentapi.core.text import convert_to_camel
from tests.blog.own_posts import make_own_post
from tests.conftest import GraphQL
from tests.content import EMPTY, SELECTION
from tests.factories import get_user, make_actor, make_author, make_post, make_working_copy
from tests.resources import RestResponse, send_request

COPY = f"workingCopy {{ {SELECTION} coverId coverAlt publishAt baseVersion version updatedAt updatedBy }}"
SAVE = f"mutation ($input: SaveWorkingCopyInput!) {{ saveWorkingCopy(input: $input) {{ {COPY} }} }}"
PUBLISH = """
mutation ($input: PublishWorkingCopyInput!) {
  publishWorkingCopy(input: $input) { post { title version workingCopy { title } } }
}
"""
DISCARD = """
mutation ($input: DiscardWorkingCopyInput!) {
  discardWorkingCopy(input: $input) { post { title version workingCopy { title } } }
}
"""
READ = f"query ($id: ID!) {{ post(id: $id) {{ title {COPY} }} }}"


def send(
    method: str, post: Post, actor: Actor | None, body: Any = None, below: str = "", **headers: str
) -> RestResponse:
    return send_request(method, f"/posts/{post.pk}/working-copy{below}", body, actor=actor, **headers)


def test_put_creates_then_changes_the_working_copy_that_get_returns() -> None:
    actor, post = make_own_post(title="Tides", body="High.", slug="harbour", tags=["sea"], description="Of tides.")

    first = send("PUT", post, actor, {"title": "Ebb"})
    second = send("PUT", post, actor, {"publishAt": "2100-01-01T00:00:00Z"}, If_Match=first.headers["ETag"])

    assert (first.status, first.headers["Location"]) == (201, f"/posts/{post.pk}/working-copy")
    assert second.status == 200
    read = send("GET", post, actor)
    assert (read.content, read.headers["ETag"]) == (second.content, second.headers["ETag"])
    assert read.body == {
        **{convert_to_camel(name): value for name, value in EMPTY.items()},
        "title": "Ebb",
        "slug": "harbour",
        "excerpt": "",
        "description": "Of tides.",
        "body": "High.",
        "tags": ["sea"],
        "publishAt": "2100-01-01T00:00:00+00:00",
        "baseVersion": "1",
        "updatedAt": read.body["updatedAt"],
        "updatedBy": get_user(actor).name,
    }
    assert send("GET", post, actor, If_None_Match=read.headers["ETag"]).status == 304
    assert send_request("GET", f"/posts/{post.pk}").body["title"] == "Tides"


def test_summaries_are_those_of_the_copy_and_empty_without_any() -> None:
    actor, post = make_own_post(excerpt="Short.", description="Of tides.", body="High.")
    copy = make_working_copy(post, excerpt=None)
    assert [send("GET", post, actor).body[name] for name in ("excerpt", "description")] == ["", "Of tides."]
    del copy.content["excerpt"]
    copy.save()
    assert send("GET", post, actor).body["excerpt"] == "Short."

    saved = send("PUT", post, actor, {"excerpt": "Ebb.", "description": None}).body

    assert (saved["excerpt"], saved["description"]) == ("Ebb.", "")
    assert send("POST", post, actor, below="/publish").body["excerpt"] == "Ebb."


def test_outdated_tag_is_409_and_the_present_one_publishes() -> None:
    actor, post = make_own_post()
    old = send("PUT", post, actor, {"title": "Ebb"}).headers["ETag"]
    present = send("PUT", post, actor, {"title": "Flood"}).headers["ETag"]

    for method, body, below in (("PUT", {}, ""), ("DELETE", None, ""), ("POST", None, "/publish")):
        assert send(method, post, actor, body, below, If_Match=old).error[:2] == (409, "CONFLICT")
    published = send("POST", post, actor, None, "/publish", If_Match=present)

    assert (published.status, published.body["title"], published.headers["ETag"][:3]) == (200, "Flood", '"2-')
    assert send("GET", post, actor).error == (404, "NOT_FOUND", "There is no working copy with this id.")


def test_mutations_save_publish_and_discard(gql: GraphQL) -> None:
    actor, post = make_own_post(title="Tides", tags=["sea"])
    given = {"postId": post.pk, "title": "Ebb", "tags": ["ebb"]}

    copy = gql(SAVE, actor=actor, input=given).data["saveWorkingCopy"]["workingCopy"]

    assert (copy["title"], copy["tags"], copy["baseVersion"]) == ("Ebb", ["ebb"], "1")
    assert gql(READ, actor=actor, id=post.pk).data["post"] == {"title": "Tides", "workingCopy": copy}
    expected = {"postId": post.pk, "expectedVersion": copy["version"]}
    published = gql(PUBLISH, actor=actor, input=expected).data["publishWorkingCopy"]
    assert published == {"post": {"title": "Ebb", "version": "2", "workingCopy": None}}
    gql(SAVE, actor=actor, input=given)
    discarded = gql(DISCARD, actor=actor, input={"postId": post.pk}).data["discardWorkingCopy"]
    assert discarded == {"post": {"title": "Ebb", "version": "2", "workingCopy": None}}


def test_later_save_without_a_value_keeps_it_and_with_null_removes_it(gql: GraphQL) -> None:
    actor, post = make_own_post()
    given = {"postId": post.pk, "canonicalUrl": "https://www.example.com/", "publishAt": "2100-01-01T00:00:00Z"}
    gql(SAVE, actor=actor, input=given)

    kept = gql(SAVE, actor=actor, input={"postId": post.pk}).data["saveWorkingCopy"]["workingCopy"]
    nulls = {"postId": post.pk, "canonicalUrl": None, "publishAt": None}
    removed = gql(SAVE, actor=actor, input=nulls).data["saveWorkingCopy"]["workingCopy"]

    assert (kept["canonicalUrl"], kept["publishAt"]) == ("https://www.example.com/", "2100-01-01T00:00:00+00:00")
    assert (removed["canonicalUrl"], removed["publishAt"]) == (None, None)


def test_those_who_may_not_edit_a_post_get_null_everywhere(gql: GraphQL) -> None:
    author = make_author()
    post = make_post(author=author)
    make_working_copy(post, title="Ebb")
    document = """
    query ($id: ID!) {
      post(id: $id) { workingCopy { title } }
      posts { workingCopy { title } }
      postsConnection { edges { node { workingCopy { title } } } }
      node(id: $id) { ... on Post { workingCopy { title } } }
    }
    """
    others = [None, make_actor(Role.READER), make_actor(Role.AUTHOR)]
    others += [make_actor(Role.EDITOR, scopes={scope}) for scope in (Scope.POSTS_READ, Scope.POSTS_WRITE)]

    for actor in others:
        hidden = {"workingCopy": None}
        edges = {"edges": [{"node": hidden}]}
        expected = {"post": hidden, "posts": [hidden], "postsConnection": edges, "node": hidden}
        assert gql(document, actor=actor, id=post.pk).data == expected
        assert send("GET", post, actor).status == 404
    for actor in (make_actor(Role.EDITOR), make_actor(Role.AUTHOR, author=author)):
        assert gql(document, actor=actor, id=post.pk).body["data"]["posts"] == [{"workingCopy": {"title": "Ebb"}}]


def test_name_of_a_deleted_user_is_empty_and_a_field_that_a_copy_lacks_is_that_of_the_post(gql: GraphQL) -> None:
    actor, post = make_own_post(tags=["sea"], canonical_url="https://www.example.com/")
    copy = make_working_copy(post, title="Ebb")
    WorkingCopy.objects.update(updated_by=10**9, content={"title": "Ebb", "canonical_url": None})

    read = gql(READ, actor=actor, id=copy.pk).data["post"]["workingCopy"]

    assert (read["updatedBy"], read["tags"], read["slug"]) == ("", ["sea"], post.slug)
    assert (read["title"], read["canonicalUrl"]) == ("Ebb", None)
