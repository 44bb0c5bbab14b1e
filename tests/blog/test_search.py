"""Search: which posts a text finds for whom, in which order, and page by page, on both transports."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from blog import selectors
from blog.models import Author, Post, PostSearch
from blog.search.indexing import SearchIndexer
from blog.search.query import MAX_MATCHES, MAX_SEARCH
from blog.selectors import PostCriteria
from contentapi.core.errors import Malformed
from contentapi.core.identity import ANONYMOUS, OPERATOR, Actor, Role
from tests.conftest import GraphQL, make_api_key
from tests.factories import make_actor, make_author, make_post

pytestmark = pytest.mark.django_db

PAGE = """
query ($text: String, $first: Int, $after: String, $last: Int, $before: String, $order: PostOrder, $tag: String) {
  postsConnection(
    first: $first, after: $after, last: $last, before: $before, filter: {search: $text, tag: $tag}, orderBy: $order
  ) { totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor node { title } } }
}
"""


def index_posts() -> None:
    while SearchIndexer().update(actor=OPERATOR):
        pass


def find(text: str, actor: Actor = ANONYMOUS, **criteria: Any) -> list[str]:
    posts = selectors.select_posts(actor, PostCriteria.parse(search=text, **criteria))
    return [post.title for post in posts.queryset()]


@pytest.fixture
def library() -> dict[str, Post]:
    """Return posts by their titles. Each has `kelp` in a place of another weight."""
    ines, bo = make_author(name="Ines Falk"), make_author(name="Kelp Olsen")
    posts = [
        make_post(title="In the body", body="A forest of kelp, and sea publications.", author=ines, tags=["sea"]),
        make_post(title="In the tags", body="Nothing here.", author=ines, tags=["kelp", "deep sea"]),
        make_post(title="By the author", body="Nothing here.", author=bo),
        make_post(title="Kelp in the title", body="Nothing here.", author=ines, tags=["sea"]),
        make_post(title="A kelp draft", body="kelp", author=ines, status="draft"),
        make_post(title="Other", body="Lemons.", author=ines),
    ]
    index_posts()
    return {post.title: post for post in posts}


@pytest.mark.usefixtures("library")
class TestMatches:
    def test_title_body_tags_and_author_are_searched_by_weight(self) -> None:
        found = find("kelp")
        assert found[0] == "Kelp in the title"
        assert sorted(found[1:3]) == ["By the author", "In the tags"]
        assert found[3:] == ["In the body"]

    @pytest.mark.parametrize(
        ("text", "title"),
        [
            ("forest", "In the body"),
            ("FORESTS", "In the body"),  # another grammatical form
            ("for publicat", "In the body"),  # a prefix that is no prefix of the stem; a word without meaning
            ("fore", "In the body"),
            ("lem", "Other"),
            ('"forest of kelp"', "In the body"),
            ('"deep sea"', "In the tags"),
            ("ines nothing deep", "In the tags"),  # words of several fields
            ("olsen", "By the author"),
        ],
    )
    def test_text_finds_a_post(self, text: str, title: str) -> None:
        assert find(text) == [title]

    @pytest.mark.parametrize(
        "text",
        [
            "kelp lemons",  # no post has both
            "lemnos",  # a misspelled word
            '"kelp forest"',  # the words in another order
            '"lem"',  # no prefix in quotes
            "l",  # no prefix of one character
            "the",  # a stop word
            "",
            " ",
            '""',
            '" " "',
            "&|!():*<->",
            "'",
            "\\",
            "'''\\\\''",
            "!kelp" * 0 + "!!!",
        ],
    )
    def test_text_finds_nothing(self, text: str) -> None:
        assert find(text) == []

    @pytest.mark.parametrize(
        "text",
        [
            *("kelp &", "kelp:*", "!kelp", "(kelp", "kelp <-> !", "'kelp'", "kelp\\", 'kelp "', "kel'p\\", "kelp:AB*"),
            *("\\'kelp", "kelp\u2028", "💥 kelp", "kelp 'x':*)", "%s kelp %", "x" * MAX_SEARCH, '"' * MAX_SEARCH),
            *("a.b/c?d=e#f kelp", "kelp@example.com", "1e400 -1.5 kelp", "&lt;b&gt; <b>kelp</b>"),
        ],
    )
    def test_operators_and_quotes_are_no_syntax_error(self, text: str) -> None:
        find(text)

    def test_operators_around_a_word_have_no_effect(self) -> None:
        assert find("!forest & (kelp:*)") == ["In the body"]

    @pytest.mark.parametrize("text", ["x" * (MAX_SEARCH + 1), "kelp " * 2000])
    def test_long_text_is_rejected_with_the_limit(self, text: str) -> None:
        with pytest.raises(Malformed, match=f"search must have at most {MAX_SEARCH} characters."):
            find(text)

    @pytest.mark.parametrize("text", ["ke\0lp", "ke\ud800lp"])
    def test_text_that_cannot_be_stored_is_rejected(self, text: str) -> None:
        with pytest.raises(Malformed, match="NUL"):
            find(text)


class TestFilters:
    def test_tag_must_be_equal_as_a_whole(self, library: dict[str, Post]) -> None:
        assert sorted(find("nothing", tag="sea")) == ["Kelp in the title"]
        assert find("nothing", tag="deep sea") == ["In the tags"]
        assert find("nothing", tag="Sea") == []
        assert find("nothing", tag='o\'hara \\ "x"') == []
        assert len(library) == 6

    def test_author_status_and_times_restrict_a_search(self, library: dict[str, Post]) -> None:
        post, actor = library["By the author"], make_actor(Role.EDITOR)
        assert find("kelp", author=str(post.author_id)) == ["By the author"]
        assert find("kelp", actor, status="draft") == ["A kelp draft"]
        assert find("kelp", status="draft") == []
        assert find("kelp", created_from=post.created_at, created_before=library["Kelp in the title"].created_at) == [
            "By the author"
        ]


class TestVisibility:
    def test_drafts_are_found_by_their_author_and_by_editors_only(self, library: dict[str, Post]) -> None:
        author = make_actor(Role.AUTHOR, author=library["A kelp draft"].author)
        found = {
            name: "A kelp draft" in find("kelp", actor)
            for name, actor in {
                "anonymous": ANONYMOUS,
                "reader": make_actor(Role.READER),
                "another author": make_actor(Role.AUTHOR, author=make_author()),
                "author": author,
                "author without posts:read": make_actor(Role.AUTHOR, scopes=set()),
                "editor": make_actor(Role.EDITOR),
            }.items()
        }
        assert found == {
            "anonymous": False,
            "reader": False,
            "another author": False,
            "author": True,
            "author without posts:read": False,
            "editor": True,
        }

    def test_post_that_became_hidden_is_not_found_before_the_index_knows(self, library: dict[str, Post]) -> None:
        Post.objects.filter(pk=library["Kelp in the title"].pk).update(status="draft")
        assert PostSearch.objects.get(pk=library["Kelp in the title"].pk).status == "published"
        assert "Kelp in the title" not in find("kelp")

    def test_deleted_post_is_not_found(self, library: dict[str, Post]) -> None:
        library["Kelp in the title"].delete()
        assert "Kelp in the title" not in find("kelp")

    def test_count_and_rank_of_public_posts_ignore_hidden_posts(self, gql: GraphQL, library: dict[str, Post]) -> None:
        before = gql(PAGE, text="kelp").data
        for number in range(5):
            make_post(title=f"Kelp {number}", body="kelp " * 50, status="draft", author=library["Other"].author)
        index_posts()
        assert gql(PAGE, text="kelp").data == before


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

    def test_both_transports_reject_a_long_text(self, client: Client, gql: GraphQL) -> None:
        message = "search must have at most 200 characters."
        assert client.get(f"/posts?search={'x' * 201}").json() == {"error": message}
        response = gql(PAGE, text="x" * 201)
        assert (response.status, response.body["errors"][0]["message"]) == (400, message)

    def test_both_transports_reject_nul(self, client: Client, gql: GraphQL) -> None:
        assert client.get("/posts?search=a%00b").status_code == 400
        assert gql(PAGE, text="a\0b").status == 400
        literal = '{ postsConnection(filter: {search: "a\\u0000b"}) { totalCount } }'
        assert gql(literal).status == 400

    def test_null_search_is_no_search(self, gql: GraphQL, library: dict[str, Post]) -> None:
        data = gql(PAGE, text=None, first=1).data["postsConnection"]
        assert (data["totalCount"], data["edges"][0]["node"]["title"]) == (5, "Other")
        assert library

    @pytest.mark.usefixtures("library")
    def test_all_texts_share_a_statement(self, client: Client) -> None:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            for text in ("kelp", '"deep sea" kelp', "the", "'"):
                assert client.get(f"/posts?search={quote(text)}").status_code == 200
        statements = {query["sql"] for query in queries if "ts_rank" in query["sql"]}
        assert len(statements) == 1


def count_walked_rows() -> int:
    """Return the number of rows that the walk of a search has returned."""
    rows = selectors.select_posts(ANONYMOUS, PostCriteria.parse(search="kelp")).queryset()
    (explained,) = json.loads(rows.explain(format="json", analyze=True))
    return int(
        next(plan["Actual Rows"] for plan in list_plans(explained["Plan"]) if plan.get("Subplan Name") == "CTE walked")
    )


def list_plans(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(inner for child in plan.get("Plans", []) for inner in list_plans(child))]


class TestManyMatches:
    """A search ranks the newest matches only. They are the same whether PostgreSQL reads the index or walks."""

    def test_search_finds_the_newest_matches_only(self) -> None:
        make_many_posts(MAX_MATCHES + 20, make_author())
        newest = set(Post.objects.order_by("-created_at", "-pk").values_list("title", flat=True)[:MAX_MATCHES])
        assert set(find("kelp")) == newest

    def test_hidden_posts_do_not_use_up_the_matches(self) -> None:
        author = make_author()
        make_post(title="Old and public", body="kelp", author=author)
        Post.objects.bulk_create(
            Post(title=f"Draft {place}", body="kelp", author=author, status="draft") for place in range(MAX_MATCHES + 1)
        )
        index_posts()
        assert find("kelp") == ["Old and public"]

    def test_walk_and_index_find_the_same_posts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        make_many_posts(60, make_author())
        for name, value in {"MAX_MATCHES": 20, "SAMPLE": 10, "COMMON_IN_SAMPLE": 3, "LONGEST_WALK": 40}.items():
            monkeypatch.setattr(f"blog.search.query.{name}", value)
        walked, rows_of_walk = find("kelp"), count_walked_rows()
        monkeypatch.setattr("blog.search.query.COMMON_IN_SAMPLE", 1000)
        indexed, rows_of_index = find("kelp"), count_walked_rows()
        assert walked == indexed
        assert len(walked) == rows_of_walk == 20
        assert rows_of_index == 0
