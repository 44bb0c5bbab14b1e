"""Posts that a search finds, for the tests of search."""

from threading import Event
from typing import Any

from blog import selectors
from blog.models import Post
from blog.search.indexing import SearchIndexer
from blog.selectors.posts import PostCriteria
from contentapi.core.identity import ANONYMOUS, OPERATOR, Actor
from tests.factories import make_author, make_post

PAGE = """
query ($text: String, $first: Int, $after: String, $last: Int, $before: String, $order: PostOrder, $tag: String) {
  postsConnection(
    first: $first, after: $after, last: $last, before: $before, filter: {search: $text, tag: $tag}, orderBy: $order
  ) { totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor node { title } } }
}
"""


def index_posts() -> None:
    SearchIndexer().update(Event(), actor=OPERATOR)


def make_library() -> dict[str, Post]:
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


def find(text: str, actor: Actor = ANONYMOUS, **criteria: Any) -> list[str]:
    posts = selectors.posts.select_posts(actor, PostCriteria.parse(search=text, **criteria))
    return [post.title for post in posts.queryset()]
