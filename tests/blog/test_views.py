"""The REST resources of the blog: representations, creation, filters and the number of statements."""

from datetime import timedelta

from django.conf import settings
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from blog.models import Comment, Post
from contentapi.core.identity import Actor, Role, Scope
from tests.blog.stored_images import make_ready_image
from tests.conftest import GraphQL
from tests.factories import make_actor, make_author, make_comment, make_post
from tests.resources import send_request

NO_POST = (404, "NOT_FOUND", "There is no post with this id.")
NO_IDS = ["0", "x", "-1", "01", "9" * 19, "9" * 30, "%00", "1%0a", "%F0%9F%90%9F"]


def test_post_has_the_fields_and_values_of_graphql(gql: GraphQL) -> None:
    ines, coauthor = make_author(name="Ines", bio="b", avatar_url="https://a.invalid/x"), make_author()
    image = make_ready_image()
    post = make_post(tags=["sea", "tides"], author=ines, coauthor_ids=[coauthor.pk], cover_id=image.pk)
    make_comment(post)
    author = {"id": str(post.author.pk), "name": "Ines", "bio": "b", "avatarUrl": "https://a.invalid/x"}

    response = send_request("GET", f"/posts/{post.pk}")

    fragment = (settings.SCHEMA_DIR / "resources" / "post.graphql").read_text()
    document = f"query ($id: ID!) {{ post(id: $id) {{ ...PostResource }} }} {fragment}"
    by_graphql = gql(document, id=str(post.pk)).data["post"]
    assert (response.status, response.body) == (200, by_graphql)
    assert list(response.body) == list(by_graphql)
    assert response.body["author"] == author
    assert [each["id"] for each in response.body["coauthors"]] == [str(coauthor.pk)]
    assert (response.body["id"], response.body["commentCount"], response.body["tags"]) == (
        str(post.pk),
        1,
        ["sea", "tides"],
    )


def test_email_is_omitted_for_callers_who_may_not_read_it() -> None:
    author = make_author(email="ines@example.invalid")
    path = f"/authors/{author.pk}"
    author_himself = make_actor(Role.AUTHOR, author=author)
    without_scope = make_actor(Role.EDITOR, scopes={Scope.POSTS_READ})

    public = ["id", "name", "bio", "avatarUrl"]
    assert list(send_request("GET", path).body) == public
    assert list(send_request("GET", path, actor=make_actor(Role.READER)).body) == public
    assert list(send_request("GET", path, actor=without_scope).body) == public
    for actor in (author_himself, make_actor(Role.EDITOR)):
        assert send_request("GET", path, actor=actor).body["email"] == "ines@example.invalid"


def test_list_of_authors_shows_each_email_to_callers_who_may_read_it() -> None:
    mine, theirs = make_author(email="mine@example.invalid"), make_author(email="theirs@example.invalid")

    def list_emails(actor: Actor | None = None) -> list[str | None]:
        return [item.get("email") for item in send_request("GET", "/authors", actor=actor).body["data"]]

    assert list_emails() == [None, None]
    assert list_emails(make_actor(Role.AUTHOR, author=mine)) == [mine.email, None]
    assert list_emails(make_actor(Role.EDITOR)) == [mine.email, theirs.email]


def test_text_that_resembles_json_syntax_is_unchanged() -> None:
    for bio in ['","email":null}', '"email":null}', '\\","email":null}']:
        author = make_author(bio=bio, name='x","email":null}')
        seen = make_author(email='a","email":null}')

        assert send_request("GET", f"/authors/{author.pk}").body["bio"] == bio
        assert (
            send_request("GET", f"/authors/{seen.pk}", actor=make_actor(Role.EDITOR)).body["email"]
            == 'a","email":null}'
        )


def test_invalid_id_is_404() -> None:
    editor, post = make_actor(Role.EDITOR), make_post()

    for text in NO_IDS:
        assert send_request("GET", f"/posts/{text}").error == NO_POST
        assert send_request("PATCH", f"/posts/{text}", {"title": "New"}, actor=editor).error == NO_POST
        assert send_request("DELETE", f"/posts/{text}", actor=editor).error == NO_POST
        assert send_request("POST", f"/posts/{text}/publish", actor=editor).error == NO_POST
        assert send_request("GET", f"/posts/{text}/comments").error == NO_POST
        assert send_request("POST", f"/posts/{text}/comments", {"body": "x"}, actor=editor).error == NO_POST
        assert send_request("GET", f"/posts/{post.pk}/comments/{text}").error[2] == "There is no comment with this id."
        assert send_request("GET", f"/authors/{text}").error[2] == "There is no author with this id."
        assert send_request("GET", f"/authors/{text}/posts").error[2] == "There is no author with this id."


def test_comment_of_another_post_is_404() -> None:
    comment, other, editor = make_comment(make_post()), make_post(), make_actor(Role.EDITOR)
    path = f"/posts/{other.pk}/comments/{comment.pk}"

    assert send_request("GET", path).error[0] == send_request("DELETE", path, actor=editor).error[0] == 404
    assert Comment.objects.filter(pk=comment.pk).exists()


def test_created_post_is_at_its_location() -> None:
    actor = make_actor(Role.AUTHOR)

    response = send_request(
        "POST", "/posts", {"title": " Hello ", "body": "b", "status": "published", "tags": ["x"]}, actor=actor
    )

    post = Post.objects.get()
    assert (response.status, response.headers["Location"]) == (201, f"/posts/{post.pk}")
    assert response.content == send_request("GET", f"/posts/{post.pk}").content
    assert (post.title, post.status, post.tags) == ("Hello", "published", ["x"])


def test_posts_are_filtered_by_tag_author_and_status() -> None:
    author = make_author()
    tagged, mine = make_post(tags=["sea"]), make_post(author=author, tags=["sea", "x"])
    draft = make_post(author=author, status="draft")
    editor = make_actor(Role.EDITOR)

    def list_ids(query: str) -> set[str]:
        return {post["id"] for post in send_request("GET", f"/posts?{query}", actor=editor).body["data"]}

    assert list_ids("tag=sea") == {str(tagged.pk), str(mine.pk)}
    assert list_ids(f"author={author.pk}") == {str(mine.pk), str(draft.pk)}
    assert list_ids(f"author={author.pk}&status=draft") == {str(draft.pk)}
    assert list_ids("tag=sea&author=0") == list_ids("tag=se") == list_ids("author=x") == set()


def test_invalid_query_parameter_is_400() -> None:
    for query in [
        "status=gone", "status=", f"tag={'x' * 51}", "tag=%00", "limit=0", "limit=101", "limit=x", "limit=",
        "limit=1.5", "offset=-1", "offset=x", f"offset={10**20}", "limit=1&limit=2", "cursor=x", "cursor=", "page=2",
        "Limit=1", "offset=0&cursor=x", "%00=1",
    ]:  # fmt: skip
        assert send_request("GET", f"/posts?{query}").error[:2] == (400, "BAD_REQUEST")


def test_comments_are_listed_oldest_first_and_posts_newest_first() -> None:
    now = timezone.now()
    post = make_post(created_at=now - timedelta(days=1))
    newer = make_post(created_at=now, author=post.author)
    comments = [make_comment(post, created_at=now - timedelta(minutes=minutes)) for minutes in (5, 9, 7)]
    a, b, c = (str(comment.pk) for comment in comments)

    def list_ids(path: str) -> list[str]:
        return [item["id"] for item in send_request("GET", path).body["data"]]

    assert list_ids(f"/posts/{post.pk}/comments") == [b, c, a]
    assert list_ids("/posts") == list_ids(f"/authors/{post.author.pk}/posts") == [str(newer.pk), str(post.pk)]


def test_each_read_executes_one_statement(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    post = make_post()
    comment = make_comment(post)
    paths = [
        f"/posts/{post.pk}", "/posts", "/posts?tag=x", f"/posts/{post.pk}/comments", f"/authors/{post.author.pk}",
        f"/posts/{post.pk}/comments/{comment.pk}", f"/authors/{post.author.pk}/posts", "/authors",
    ]  # fmt: skip

    for path in paths:
        with django_assert_num_queries(1):
            assert send_request("GET", path).status == 200


def test_largest_64_bit_id_finds_its_row() -> None:
    post = make_post(pk=2**63 - 1, author=make_author(pk=2**63 - 1))

    assert send_request("GET", f"/posts/{2**63 - 1}").body["id"] == str(post.pk)
    assert send_request("GET", f"/authors/{2**63 - 1}").body["id"] == str(post.author_id)
