"""The blog over resource-oriented HTTP: representations, statuses, filters, and how many statements a read takes."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from blog.models import Comment, Post
from contentapi.core.identity import Actor, Role, Scope
from tests.conftest import GraphQL
from tests.factories import make_actor, make_author, make_comment, make_post
from tests.resources import ask

pytestmark = pytest.mark.django_db

LATER = datetime(2100, 1, 1, tzinfo=UTC)
NO_POST = (404, "NOT_FOUND", "There is no post with this id.")
NO_IDS = ["0", "x", "-1", "01", "9" * 19, "9" * 30, "%00", "1%0a", "%F0%9F%90%9F"]


def own(role: Role = Role.AUTHOR, **values: Any) -> tuple[Any, Post]:
    """Return an actor and a post of theirs."""
    author = make_author()
    post = make_post(author=author, **values)
    return make_actor(role, author=author), post


def test_a_post_is_represented_as_graphql_has_it_but_for_comments_and_version(gql: GraphQL) -> None:
    post = make_post(tags=["sea", "tides"], author=make_author(name="Ines", bio="b", avatar_url="https://a.invalid/x"))
    make_comment(post)
    author = {"id": str(post.author.pk), "name": "Ines", "bio": "b", "avatarUrl": "https://a.invalid/x"}

    reply = ask("GET", f"/posts/{post.pk}")

    by_graphql = gql(
        "query ($id: ID!) { post(id: $id) { id title body status author { id name bio avatarUrl }"
        " commentCount createdAt updatedAt publishAt publishedAt tags } }",
        id=str(post.pk),
    ).data["post"]
    assert (reply.status, reply.body) == (200, by_graphql)
    assert list(reply.body) == [
        "id", "title", "body", "status", "author", "commentCount",
        "createdAt", "updatedAt", "publishAt", "publishedAt", "tags",
    ]  # fmt: skip
    assert reply.body["author"] == author
    assert (reply.body["id"], reply.body["commentCount"], reply.body["tags"]) == (str(post.pk), 1, ["sea", "tides"])


def test_a_comment_is_represented_with_its_author() -> None:
    comment = make_comment(make_post(), body="Hear!")

    reply = ask("GET", f"/posts/{comment.post_id}/comments/{comment.pk}")

    assert list(reply.body) == ["id", "body", "author", "createdAt"]
    assert (reply.body["id"], reply.body["body"]) == (str(comment.pk), "Hear!")
    assert list(reply.body["author"]) == ["id", "name", "bio", "avatarUrl"]


def test_an_email_is_there_for_those_who_may_see_it_and_else_left_out() -> None:
    author = make_author(email="ines@example.invalid")
    path = f"/authors/{author.pk}"
    author_himself = make_actor(Role.AUTHOR, author=author)
    without_scope = make_actor(Role.EDITOR, scopes={Scope.POSTS_READ})

    public = ["id", "name", "bio", "avatarUrl"]
    assert list(ask("GET", path).body) == public
    assert list(ask("GET", path, actor=make_actor(Role.READER)).body) == public
    assert list(ask("GET", path, actor=without_scope).body) == public
    for actor in (author_himself, make_actor(Role.EDITOR)):
        assert ask("GET", path, actor=actor).body["email"] == "ines@example.invalid"


def test_a_page_of_authors_shows_each_email_to_those_who_may_see_it() -> None:
    mine, theirs = make_author(email="mine@example.invalid"), make_author(email="theirs@example.invalid")

    def emails(actor: Actor | None = None) -> list[str | None]:
        return [item.get("email") for item in ask("GET", "/authors", actor=actor).body["data"]]

    assert emails() == [None, None]
    assert emails(make_actor(Role.AUTHOR, author=mine)) == [mine.email, None]
    assert emails(make_actor(Role.EDITOR)) == [mine.email, theirs.email]


@pytest.mark.parametrize("bio", ['","email":null}', '"email":null}', '\\","email":null}'])
def test_a_text_that_looks_like_the_end_of_an_author_is_left_whole(bio: str) -> None:
    author = make_author(bio=bio, name='x","email":null}')
    seen = make_author(email='a","email":null}')

    assert ask("GET", f"/authors/{author.pk}").body["bio"] == bio
    assert ask("GET", f"/authors/{seen.pk}", actor=make_actor(Role.EDITOR)).body["email"] == 'a","email":null}'


@pytest.mark.parametrize("text", NO_IDS)
def test_an_id_that_is_none_is_not_found(text: str) -> None:
    editor, post = make_actor(Role.EDITOR), make_post()

    assert ask("GET", f"/posts/{text}").failure == NO_POST
    assert ask("PATCH", f"/posts/{text}", {"title": "New"}, actor=editor).failure == NO_POST
    assert ask("DELETE", f"/posts/{text}", actor=editor).failure == NO_POST
    assert ask("POST", f"/posts/{text}/publish", actor=editor).failure == NO_POST
    assert ask("GET", f"/posts/{text}/comments").failure == NO_POST
    assert ask("POST", f"/posts/{text}/comments", {"body": "x"}, actor=editor).failure == NO_POST
    assert ask("GET", f"/posts/{post.pk}/comments/{text}").failure[2] == "There is no comment with this id."
    assert ask("GET", f"/authors/{text}").failure[2] == "There is no author with this id."
    assert ask("GET", f"/authors/{text}/posts").failure[2] == "There is no author with this id."


def test_a_comment_of_another_post_is_not_found() -> None:
    comment, other, editor = make_comment(make_post()), make_post(), make_actor(Role.EDITOR)
    path = f"/posts/{other.pk}/comments/{comment.pk}"

    assert ask("GET", path).failure[0] == ask("DELETE", path, actor=editor).failure[0] == 404
    assert Comment.objects.filter(pk=comment.pk).exists()


def test_a_post_is_created_and_lies_where_location_says() -> None:
    actor = make_actor(Role.AUTHOR)

    reply = ask("POST", "/posts", {"title": " Hello ", "body": "b", "status": "published", "tags": ["x"]}, actor=actor)

    post = Post.objects.get()
    assert (reply.status, reply.headers["Location"]) == (201, f"/posts/{post.pk}")
    assert reply.content == ask("GET", f"/posts/{post.pk}").content
    assert (post.title, post.status, post.tags) == ("Hello", "published", ["x"])


def test_a_comment_is_created_and_lies_where_location_says() -> None:
    post = make_post()

    reply = ask("POST", f"/posts/{post.pk}/comments", {"body": "Hear!"}, actor=make_actor(Role.READER))

    assert reply.status == 201
    assert reply.content == ask("GET", reply.headers["Location"]).content


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"title": " "}, "title: This must not be empty."),
        ({"tags": ["x", "x"]}, "tags: Tags must be unique."),
        ({"authorId": "0"}, "authorId: There is no author with this id."),
        ({"status": "scheduled"}, "publishAt: A scheduled post needs one."),
        ({"status": "scheduled", "publishAt": "2001-01-01T00:00:00Z"}, "publishAt: This must be in the future."),
        ({"publishAt": "2100-01-01T00:00:00Z"}, "publishAt: Only a scheduled post has one."),
    ],
)
def test_what_is_against_a_rule_is_invalid(values: dict[str, Any], message: str) -> None:
    reply = ask("POST", "/posts", {"title": "t", "body": "b", **values}, actor=make_actor(Role.AUTHOR))

    assert reply.failure == (422, "INVALID", message)


def test_a_patch_changes_only_what_is_sent() -> None:
    actor, post = own(tags=["x"])

    reply = ask("PATCH", f"/posts/{post.pk}", {"title": "New"}, actor=actor)

    assert (reply.status, reply.body["title"], reply.body["body"], reply.body["tags"]) == (200, "New", "Text.", ["x"])


@pytest.mark.parametrize("body", [{}, {"title": "Same"}, {"status": "published"}])
def test_a_patch_that_changes_nothing_is_200(body: dict[str, Any]) -> None:
    actor, post = own(title="Same")

    reply = ask("PATCH", f"/posts/{post.pk}", body, actor=actor)

    assert reply.status == 200
    assert Post.objects.get() == post
    assert Post.objects.get().version == 1


@pytest.mark.parametrize("name", ["title", "body", "tags", "status"])
def test_null_is_for_nothing_that_a_post_must_have(name: str) -> None:
    actor, post = own()

    reply = ask("PATCH", f"/posts/{post.pk}", {name: None}, actor=actor)

    assert reply.failure == (422, "INVALID", f"{name}: This must not be null.")


def test_a_text_and_a_move_are_one_change() -> None:
    actor, post = own(status="draft")

    reply = ask("PATCH", f"/posts/{post.pk}", {"title": "New", "status": "published"}, actor=actor)

    assert (reply.status, reply.body["title"], reply.body["status"]) == (200, "New", "published")
    assert Post.objects.get().version == 2


@pytest.mark.parametrize(
    ("body", "scopes", "failure"),
    [
        ({"title": "New", "status": "archived"}, set(Scope), (409, "CONFLICT")),  # of a scheduled post
        ({"title": " ", "status": "published"}, set(Scope), (422, "INVALID")),
        ({"title": "New", "status": "published"}, {Scope.POSTS_READ, Scope.POSTS_WRITE}, (403, "FORBIDDEN")),
        ({"title": "New", "status": "published"}, {Scope.POSTS_READ, Scope.POSTS_PUBLISH}, (403, "FORBIDDEN")),
    ],
)
def test_a_text_and_a_move_happen_both_or_neither(
    body: dict[str, Any], scopes: set[Scope], failure: tuple[int, str]
) -> None:
    author = make_author()
    post = make_post(author=author, status="scheduled", publish_at=LATER, title="Old")
    actor = make_actor(Role.AUTHOR, scopes=scopes, author=author)

    reply = ask("PATCH", f"/posts/{post.pk}", body, actor=actor)

    assert reply.failure[:2] == failure
    assert (Post.objects.get().title, Post.objects.get().status, Post.objects.get().version) == ("Old", "scheduled", 1)


@pytest.mark.parametrize(
    ("status", "body", "failure"),
    [
        ("scheduled", {"publishAt": None}, (422, "publishAt: A scheduled post needs one.")),
        (
            "scheduled",
            {"publishAt": "2101-01-01T00:00:00Z"},
            (409, "A post that is scheduled cannot become scheduled."),
        ),
        ("draft", {"publishAt": "2101-01-01T00:00:00Z"}, (422, "publishAt: Only a scheduled post has one.")),
        ("published", {"publishAt": "2101-01-01T00:00:00Z"}, (422, "publishAt: Only a scheduled post has one.")),
        ("draft", {"status": "scheduled"}, (422, "publishAt: A scheduled post needs one.")),
        ("archived", {"status": "published"}, (409, "A post that is archived cannot become published.")),
    ],
)
def test_a_time_of_publication_belongs_to_a_scheduled_post(
    status: str, body: dict[str, Any], failure: tuple[int, str]
) -> None:
    actor, post = own(status=status, publish_at=LATER if status == "scheduled" else None)

    code, message = failure
    reply = ask("PATCH", f"/posts/{post.pk}", body, actor=actor)

    assert (reply.status, reply.body) == (code, {"error": message})


def test_a_post_is_scheduled_by_a_patch() -> None:
    actor, post = own(status="draft")
    body = {"status": "scheduled", "publishAt": "2100-01-01T01:00:00+01:00"}

    reply = ask("PATCH", f"/posts/{post.pk}", body, actor=actor)

    assert (reply.status, reply.body["publishAt"]) == (200, "2100-01-01T00:00:00+00:00")
    assert ask("PATCH", f"/posts/{post.pk}", {"title": "New"}, actor=actor).body["publishAt"] == reply.body["publishAt"]
    assert ask("PATCH", f"/posts/{post.pk}", {"status": "draft"}, actor=actor).body["publishAt"] is None


@pytest.mark.parametrize("path", ["", "/publish"])
def test_an_expected_version_is_held_against_the_posts(path: str) -> None:
    actor, post = own(status="draft")
    method, body = ("POST", {}) if path else ("PATCH", {"status": "published"})

    refused = ask(method, f"/posts/{post.pk}{path}", {**body, "expectedVersion": "7"}, actor=actor)
    done = ask(method, f"/posts/{post.pk}{path}", {**body, "expectedVersion": "1"}, actor=actor)

    assert refused.failure[:2] == (409, "CONFLICT")
    assert (done.status, done.body["status"]) == (200, "published")


@pytest.mark.parametrize("body", [None, {}, {"expectedVersion": None}])
def test_publishing_takes_a_body_or_none_and_twice_changes_nothing(body: Any) -> None:
    actor, post = own(status="draft")

    replies = [ask("POST", f"/posts/{post.pk}/publish", body, actor=actor) for _ in range(2)]

    assert [(reply.status, reply.body["status"]) for reply in replies] == [(200, "published")] * 2
    assert replies[0].content == replies[1].content


def test_what_is_deleted_is_gone() -> None:
    actor, post = own()
    comment = make_comment(post)

    first = ask("DELETE", f"/posts/{post.pk}/comments/{comment.pk}", actor=actor)
    second, third = (ask("DELETE", f"/posts/{post.pk}", actor=actor) for _ in range(2))

    assert (first.status, first.content, second.status, third.status) == (204, b"", 204, 404)
    assert "Content-Type" not in second.headers
    assert not Post.objects.exists()


def test_posts_are_filtered() -> None:
    author = make_author()
    tagged, mine = make_post(tags=["sea"]), make_post(author=author, tags=["sea", "x"])
    draft = make_post(author=author, status="draft")
    editor = make_actor(Role.EDITOR)

    def ids(query: str) -> set[str]:
        return {post["id"] for post in ask("GET", f"/posts?{query}", actor=editor).body["data"]}

    assert ids("tag=sea") == {str(tagged.pk), str(mine.pk)}
    assert ids(f"author={author.pk}") == {str(mine.pk), str(draft.pk)}
    assert ids(f"author={author.pk}&status=draft") == {str(draft.pk)}
    assert ids("tag=sea&author=0") == ids("tag=se") == ids("author=x") == set()


@pytest.mark.parametrize(
    "query",
    ["status=gone", "status=", f"tag={'x' * 51}", "tag=%00", "limit=0", "limit=101", "limit=x", "limit=", "limit=1.5",
     "offset=-1", "offset=x", f"offset={10**20}", "limit=1&limit=2", "cursor=x", "cursor=", "page=2", "Limit=1",
     "offset=0&cursor=x", "%00=1"],
)  # fmt: skip
def test_a_bad_query_parameter_is_malformed(query: str) -> None:
    assert ask("GET", f"/posts?{query}").failure[:2] == (400, "BAD_REQUEST")


def test_comments_are_listed_oldest_first_and_posts_newest_first() -> None:
    now = timezone.now()
    post = make_post(created_at=now - timedelta(days=1))
    newer = make_post(created_at=now, author=post.author)
    comments = [make_comment(post, created_at=now - timedelta(minutes=minutes)) for minutes in (5, 9, 7)]
    a, b, c = (str(comment.pk) for comment in comments)

    def ids(path: str) -> list[str]:
        return [item["id"] for item in ask("GET", path).body["data"]]

    assert ids(f"/posts/{post.pk}/comments") == [b, c, a]
    assert ids("/posts") == ids(f"/authors/{post.author.pk}/posts") == [str(newer.pk), str(post.pk)]


def test_the_comments_of_a_hidden_post_and_the_posts_of_nobody_are_not_found() -> None:
    draft, published = make_post(status="draft"), make_post()
    make_comment(draft)

    assert ask("GET", f"/posts/{draft.pk}/comments").failure == NO_POST
    assert ask("GET", f"/posts/{published.pk}/comments").body == {"data": [], "next_cursor": None}
    assert ask("GET", f"/authors/{draft.author.pk}/posts").body == {"data": [], "next_cursor": None}
    assert ask("GET", f"/posts/{published.pk}/comments?offset=5").body == {
        "data": [], "total": 0, "offset": 5, "limit": 10,
    }  # fmt: skip


def test_a_read_is_one_statement(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    post = make_post()
    comment = make_comment(post)
    paths = [
        f"/posts/{post.pk}", "/posts", "/posts?tag=x", f"/posts/{post.pk}/comments", f"/authors/{post.author.pk}",
        f"/posts/{post.pk}/comments/{comment.pk}", f"/authors/{post.author.pk}/posts", "/authors",
    ]  # fmt: skip

    for path in paths:
        with django_assert_num_queries(1):
            assert ask("GET", path).status == 200
