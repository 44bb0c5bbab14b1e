"""The pages of a search: their order and cursors, on both transports, and searches that match many posts."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client

from blog import selectors
from blog.models import Author, Post
from blog.selectors.posts import PostCriteria
from contentapi.core.identity import ANONYMOUS, Role
from tests.blog.search_posts import PAGE, find, index_posts, make_library
from tests.conftest import GraphQL, make_api_key
from tests.factories import make_actor, make_author, make_post


@pytest.fixture
def library() -> dict[str, Post]:
    return make_library()


def make_many_posts(number: int, author: Author, **values: Any) -> None:
    """Create posts whose relevance differs, with many equal ones."""
    posts = [
        Post(
            title=f"{'Kelp' if place % 7 == 0 else 'Post'} {place}",
            body=f"{'kelp ' * (place % 3)}kelp.",
            author=author,
            status="published",
            **values,
        )
        for place in range(number)
    ]
    Post.objects.bulk_create(posts)
    index_posts()


class TestPages:
    @pytest.fixture(autouse=True)
    def posts(self) -> None:
        make_many_posts(23, make_author())

    @pytest.mark.parametrize(
        ("size", "cursor", "edge"), [("first", "after", "endCursor"), ("last", "before", "startCursor")]
    )
    def test_connection_pages_have_each_post_once_by_relevance(
        self, gql: GraphQL, size: str, cursor: str, edge: str
    ) -> None:
        everything, position, pages = find("kelp"), None, []
        for _ in range(5):
            window: dict[str, Any] = {size: 5, cursor: position}
            data = gql(PAGE, text="kelp", **window).data["postsConnection"]
            pages.append([each["node"]["title"] for each in data["edges"]])
            position = data["pageInfo"][edge]
            assert data["totalCount"] == 23
        assert [data["pageInfo"][name] for name in ("hasNextPage", "hasPreviousPage")] == (
            [False, True] if size == "first" else [True, False]
        )
        pages = pages if size == "first" else pages[::-1]
        assert [title for page in pages for title in page] == everything
        assert len(set(everything)) == 23

    @pytest.mark.parametrize("query", ["search=kelp&limit=5", "search=kelp&limit=5&status=published"])
    def test_rest_pages_by_cursor_have_each_post_once_by_relevance(self, client: Client, query: str) -> None:
        titles, address = [], f"/posts?{query}"
        while address:
            response = client.get(address)
            body = response.json()
            titles += [post["title"] for post in body["data"]]
            link = response.headers.get("Link")
            assert (link is None) == (body["next_cursor"] is None)
            address = link.partition(">")[0].lstrip("<") if link else ""
        assert titles == find("kelp")

    def test_rest_pages_by_offset_have_a_total(self, client: Client) -> None:
        body = client.get("/posts?search=kelp&offset=20&limit=5").json()
        assert (body["total"], [post["title"] for post in body["data"]]) == (23, find("kelp")[20:])

    def test_explicit_order_replaces_the_relevance(self, gql: GraphQL) -> None:
        data = gql(PAGE, text="kelp", first=23, order="createdAtAsc").data["postsConnection"]
        titles = [each["node"]["title"] for each in data["edges"]]
        assert titles == list(Post.objects.order_by("created_at", "pk").values_list("title", flat=True))

    def test_new_and_deleted_posts_do_not_move_the_next_page(self, client: Client) -> None:
        first = client.get("/posts?search=kelp&limit=5").json()
        rest = find("kelp")[5:]
        Post.objects.get(pk=first["data"][4]["id"]).delete()
        make_post(title="Kelp kelp kelp", body="kelp", tags=["kelp"])
        index_posts()
        body = client.get(f"/posts?search=kelp&limit=100&cursor={first['next_cursor']}").json()
        assert [post["title"] for post in body["data"]] == rest

    def test_cursor_of_another_search_is_rejected_by_both_transports(self, client: Client, gql: GraphQL) -> None:
        cursor = client.get("/posts?search=kelp&limit=5").json()["next_cursor"]
        assert client.get(f"/posts?search=post&cursor={cursor}").status_code == 400
        assert client.get(f"/posts?cursor={cursor}").status_code == 400
        end = gql(PAGE, text="kelp", first=5).data["postsConnection"]["pageInfo"]["endCursor"]
        response = gql(PAGE, text="post", first=5, after=end)
        assert (response.status, response.codes) == (400, ["BAD_REQUEST"])
        assert gql(PAGE, text="kelp", first=5, after=end, order="createdAtDesc").codes == ["BAD_REQUEST"]

    def test_posts_of_an_author_can_be_searched(self, client: Client) -> None:
        other = make_post(title="Kelp of another author")
        index_posts()
        body = client.get(f"/authors/{other.author_id}/posts?search=kelp").json()
        assert [post["title"] for post in body["data"]] == ["Kelp of another author"]


class TestTransports:
    def test_both_transports_find_the_same_posts(self, client: Client, gql: GraphQL, library: dict[str, Post]) -> None:
        actor = make_actor(Role.AUTHOR, author=library["Other"].author)
        for text in ("kelp", '"deep sea"', "nothing ines", "'&", "the"):
            edges = gql(PAGE, actor=actor, text=text, first=100).data["postsConnection"]["edges"]
            response = client.get(f"/posts?limit=100&search={quote(text)}", headers={"X-API-Key": make_api_key(actor)})
            titles = [post["title"] for post in response.json()["data"]]
            assert titles == [each["node"]["title"] for each in edges] == find(text, actor)

    def test_null_search_is_no_search(self, gql: GraphQL, library: dict[str, Post]) -> None:
        data = gql(PAGE, text=None, first=1).data["postsConnection"]
        assert (data["totalCount"], data["edges"][0]["node"]["title"]) == (5, "Other")
        assert library


def count_walked_rows() -> int:
    """Return the number of rows that the walk of a search has returned."""
    rows = selectors.posts.select_posts(ANONYMOUS, PostCriteria.parse(search="kelp")).queryset()
    (explained,) = json.loads(rows.explain(format="json", analyze=True))
    return int(
        next(plan["Actual Rows"] for plan in list_plans(explained["Plan"]) if plan.get("Subplan Name") == "CTE walked")
    )


def list_plans(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(inner for child in plan.get("Plans", []) for inner in list_plans(child))]


class TestManyMatches:
    """A search ranks the newest matches only. They are the same whether PostgreSQL reads the index or walks."""

    @pytest.fixture(autouse=True)
    def few_matches(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("blog.search.query.MAX_MATCHES", 20)

    def test_search_finds_the_newest_matches_only(self) -> None:
        make_many_posts(30, make_author())
        newest = set(Post.objects.order_by("-created_at", "-pk").values_list("title", flat=True)[:20])
        assert set(find("kelp")) == newest

    def test_hidden_posts_do_not_use_up_the_matches(self) -> None:
        author = make_author()
        make_post(title="Old and public", body="kelp", author=author)
        Post.objects.bulk_create(
            Post(title=f"Draft {place}", body="kelp", author=author, status="draft") for place in range(21)
        )
        index_posts()
        assert find("kelp") == ["Old and public"]

    def test_walk_and_index_find_the_same_posts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        make_many_posts(60, make_author())
        for name, value in {"SAMPLE": 10, "COMMON_IN_SAMPLE": 3, "LONGEST_WALK": 40}.items():
            monkeypatch.setattr(f"blog.search.query.{name}", value)
        walked, rows_of_walk = find("kelp"), count_walked_rows()
        monkeypatch.setattr("blog.search.query.COMMON_IN_SAMPLE", 1000)
        indexed, rows_of_index = find("kelp"), count_walked_rows()
        assert walked == indexed
        assert len(walked) == rows_of_walk == 20
        assert rows_of_index == 0
