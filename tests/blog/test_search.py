"""Search: which posts a text finds for whom."""

import pytest

from blog.models import Post, PostSearch
from blog.search.query import MAX_SEARCH
from contentapi.core.errors import Malformed
from contentapi.core.identity import ANONYMOUS, Role
from tests.blog.search_posts import PAGE, find, index_posts, make_library
from tests.conftest import GraphQL
from tests.factories import make_actor, make_author, make_post


@pytest.fixture
def library() -> dict[str, Post]:
    return make_library()


@pytest.mark.usefixtures("library")
class TestMatches:
    def test_title_body_tags_and_author_are_searched_by_weight(self) -> None:
        found = find("kelp")
        assert found[0] == "Kelp in the title"
        assert sorted(found[1:3]) == ["By the author", "In the tags"]
        assert found[3:] == ["In the body"]

    def test_text_finds_a_post(self) -> None:
        titles = {
            "forest": "In the body",
            "FORESTS": "In the body",  # another grammatical form
            "for publicat": "In the body",  # a prefix that is no prefix of the stem; a word without meaning
            "fore": "In the body",
            "lem": "Other",
            '"forest of kelp"': "In the body",
            '"deep sea"': "In the tags",
            "ines nothing deep": "In the tags",  # words of several fields
            "olsen": "By the author",
        }
        assert {text: find(text) for text in titles} == {text: [title] for text, title in titles.items()}

    def test_text_finds_nothing(self) -> None:
        texts = [
            "kelp lemons",  # no post has both
            "lemnos",  # a misspelled word
            '"kelp forest"',  # the words in another order
            '"lem"',  # no prefix in quotes
            "l",  # no prefix of one character
            "the",  # a stop word
            *("", " ", '""', '" " "', "&|!():*<->", "'", "\\", "'''\\\\''", "!!!"),
        ]
        assert [text for text in texts if find(text)] == []

    def test_operators_and_quotes_are_no_syntax_error(self) -> None:
        for text in (
            *("kelp &", "kelp:*", "!kelp", "(kelp", "kelp <-> !", "'kelp'", "kelp\\", 'kelp "', "kel'p\\", "kelp:AB*"),
            *("\\'kelp", "kelp\u2028", "💥 kelp", "kelp 'x':*)", "%s kelp %", "x" * MAX_SEARCH, '"' * MAX_SEARCH),
            *("a.b/c?d=e#f kelp", "kelp@example.com", "1e400 -1.5 kelp", "&lt;b&gt; <b>kelp</b>"),
        ):
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
        actors = {
            "anonymous": ANONYMOUS,
            "reader": make_actor(Role.READER),
            "another author": make_actor(Role.AUTHOR, author=make_author()),
            "author": author,
            "author without posts:read": make_actor(Role.AUTHOR, scopes=set()),
            "editor": make_actor(Role.EDITOR),
        }
        finding = {name for name, actor in actors.items() if "A kelp draft" in find("kelp", actor)}
        assert finding == {"author", "editor"}

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
