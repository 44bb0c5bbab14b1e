"""Reads with a preview token: what they show."""

import pytest
from django.test import Client

from blog import services
from blog.models import OldSlug
from contentapi.core.identity import OPERATOR
from tests.blog.post_copies import publish, save
from tests.blog.post_versions import edit
from tests.blog.preview_requests import get, get_json, make_link, query, read_title
from tests.factories import make_author, make_comment, make_post
from tests.graphql_requests import post_to_graphql

POST = """query ($id: ID!, $slug: String!) {
  post(id: $id) { ...Text }
  postBySlug(slug: $slug) { ...Text }
  node(id: $id) { ... on Post { ...Text } }
  preview { post { ...Text } mode version expiresAt }
}
fragment Text on Post { title slug body bodyHtml excerpt description tags canonicalUrl }"""


def test_token_shows_the_working_copy_wherever_one_post_is_read() -> None:
    post = make_post(title="Ebb", slug="ebb", tags=["sea"])
    save(post, title="Flood", slug="flood", body="**High** water.", tags=["tide", "moon"], canonical_url="https://a.b/")
    token = make_link(post).token
    shown = {
        "title": "Flood",
        "slug": "flood",
        "body": "**High** water.",
        "bodyHtml": "<p><strong>High</strong> water.</p>\n",
        "excerpt": "High water.",
        "description": "High water.",
        "tags": ["tide", "moon"],
        "canonicalUrl": "https://a.b/",
    }

    found = query(token, POST, id=str(post.pk), slug="flood").data

    assert [found["post"], found["postBySlug"], found["node"], found["preview"]["post"]] == [shown] * 4
    assert (found["preview"]["mode"], found["preview"]["version"]) == ("latest", None)
    assert query(token, POST, id=str(post.pk), slug="ebb").data["postBySlug"] == shown
    for path in (f"/posts/{post.pk}", "/posts/by-slug/flood"):
        assert get_json(token, path).items() >= shown.items()
    assert get_json(token, "/preview")["post"].items() >= shown.items()
    assert get(token, "/posts/by-slug/ebb").headers["Location"] == "/posts/by-slug/flood"


@pytest.mark.parametrize("mode", ["latest", "site"])
def test_post_that_a_token_finds_by_its_slug_has_all_that_belongs_to_it(mode: str) -> None:
    post = make_post(title="Ebb", slug="ebb")
    OldSlug.objects.create(slug="low-tide", post_id=post.pk)
    comment = make_comment(post)
    save(post, slug="flood")
    fields = "oldSlugs workingCopy { slug } comments { id } author { posts { id } }"
    document = f"query ($slug: String!) {{ postBySlug(slug: $slug) {{ {fields} }} }}"
    token = make_link(post, mode=mode).token

    found = [query(token, document, slug=slug).data["postBySlug"] for slug in ("flood", "low-tide", "ebb")]

    shown = {
        "oldSlugs": ["low-tide"],
        "workingCopy": None,  # the token shows its texts, and not who wrote them
        "comments": [{"id": str(comment.pk)}],
        "author": {"posts": [{"id": str(post.pk)}]},
    }
    assert found == [shown] * 3


def test_token_shows_a_draft_with_its_comments_and_renders_it() -> None:
    post = make_post(status="draft", title="Ebb", slug="ebb", body="Low *water*.")
    comment = make_comment(post)
    token = make_link(post).token
    document = """query ($id: ID!, $comment: ID!) {
      post(id: $id) { bodyHtml commentCount comments { id } commentsConnection { totalCount } }
      comment(id: $comment) { id }
      node(id: $comment) { id }
    }"""

    found = query(token, document, id=str(post.pk), comment=str(comment.pk)).data

    number = str(comment.pk)
    assert found["post"] == {
        "bodyHtml": "<p>Low <em>water</em>.</p>\n",
        "commentCount": 1,
        "comments": [{"id": number}],
        "commentsConnection": {"totalCount": 1},
    }
    assert found["comment"] == found["node"] == {"id": number}
    assert [each["id"] for each in get_json(token, f"/posts/{post.pk}/comments")["data"]] == [number]
    assert get_json(token, f"/posts/{post.pk}/comments/{number}")["id"] == number


def test_token_of_a_version_shows_that_version_also_after_later_changes() -> None:
    post = make_post(title="One", body="First.", tags=["a"])
    edit(post, title="Two", body="Second.")
    tokens = [make_link(post, mode="version", version=number).token for number in ("1", "2")]
    edit(post, title="Three", body="Third.")
    save(post, title="Four")

    document = "query ($id: ID!) { post(id: $id) { title bodyHtml version } }"
    found = [query(token, document, id=str(post.pk)).data["post"] for token in tokens]

    assert [each["title"] for each in found] == ["One", "Two"]
    assert [each["bodyHtml"] for each in found] == ["<p>First.</p>\n", "<p>Second.</p>\n"]
    assert [each["version"] for each in found] == ["3", "3"]  # of the post, for later writes


def test_token_shows_the_present_text_at_each_read() -> None:
    post = make_post(title="Ebb")
    token = make_link(post).token
    titles = [read_title(token, post)]
    save(post, title="Flood")
    titles.append(read_title(token, post))
    publish(post)
    edit(post, title="Low water")
    titles.append(read_title(token, post))

    assert titles == ["Ebb", "Flood", "Low water"]


LISTS = """{
  posts { title }
  postsConnection { totalCount nodes: edges { node { title } } }
  search: postsConnection(filter: {search: "flood"}) { totalCount }
  tagged: postsConnection(filter: {tag: "moon"}) { totalCount }
  authors { edges { node { posts { title } postsConnection { totalCount } } } }
}"""


def test_lists_counts_and_searches_stay_public() -> None:
    author = make_author()
    post = make_post(author=author, title="Ebb")
    draft = make_post(author=author, status="draft", title="Hidden")
    save(post, title="Flood", tags=["moon"])
    public = post_to_graphql({"query": LISTS}).data

    for shown in (post, draft):
        token = make_link(shown).token
        assert query(token, LISTS).data == public
        assert get_json(token, "/posts") == Client().get("/posts").json()
        document = "query ($id: ID!) { post(id: $id) { author { posts { title } } } }"
        assert query(token, document, id=str(shown.pk)).data["post"]["author"] == {"posts": [{"title": "Ebb"}]}


def test_token_of_the_site_shows_working_copies_and_drafts_in_lists() -> None:
    author = make_author()
    post = make_post(author=author, title="Ebb", slug="ebb", tags=["low"])
    make_post(author=author, status="draft", title="Draft")
    make_post(author=author, title="Public")
    save(post, title="Flood", slug="flood", body="**High**", tags=["moon"])
    token = make_link(post, mode="site").token

    found = query(token, LISTS).data

    assert [each["title"] for each in found["posts"]] == ["Public", "Draft", "Flood"]
    assert found["postsConnection"]["totalCount"] == 3
    assert found["tagged"]["totalCount"] == 1
    (edge,) = [edge for edge in found["authors"]["edges"] if edge["node"]["posts"]]
    assert [each["title"] for each in edge["node"]["posts"]] == ["Public", "Draft", "Flood"]
    assert get_json(token, "/posts?tag=moon")["data"][0]["bodyHtml"] == "<p><strong>High</strong></p>\n"
    assert get_json(token, "/posts/by-slug/flood")["title"] == "Flood"
    assert [each["title"] for each in get_json(token, f"/authors/{author.pk}/posts")["data"]] == [
        "Public",
        "Draft",
        "Flood",
    ]
    document = "{ viewer { role scopes } post(id: 0) { workingCopy { title } } }"
    assert query(token, document).data["viewer"] == {"role": "editor", "scopes": ["posts:read"]}


def test_token_of_the_site_shows_the_copies_as_they_are_now() -> None:
    posts = [make_post(title=title) for title in ("Ebb", "Tides")]
    for post in posts:
        save(post, title=f"{post.title}, new")
    token = make_link(posts[0], mode="site").token

    def read() -> list[str]:
        return [each["title"] for each in query(token, "{ posts { title } }").data["posts"]]

    assert read() == ["Tides, new", "Ebb, new"]
    save(posts[0], title="Flood")
    assert read() == ["Tides, new", "Flood"]
    services.discard_working_copy(actor=OPERATOR, post_id=str(posts[1].pk))
    assert read() == ["Tides", "Flood"]
