"""The slugs of posts: how they are made, who has them, and where old ones lead."""

import re
from threading import Event
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blog import services
from blog.background import give_first_slugs
from blog.history import trash
from blog.models import MAX_OLD_SLUGS, MAX_SLUG, MAX_TITLE, SLUG, OldSlug, Post, PostStatus, PostVersion
from blog.services.slugs import find_free_slug, make_slug, number_slug
from contentapi.core.errors import Conflict, Forbidden, Invalid
from contentapi.core.identity import Actor, Role
from contentapi.db.statements import execute
from tests.blog.post_versions import edit, restore_draft
from tests.blog.racing import race
from tests.conftest import GraphQL
from tests.factories import make_actor, make_author, make_post
from tests.resources import send_request
from tests.thoroughness import scale_examples

TITLES = st.text(min_size=1, max_size=MAX_SLUG + 20) | st.text(
    st.characters(categories=["L", "M", "N"]), max_size=MAX_SLUG + 20
)


@pytest.mark.property
@settings(max_examples=scale_examples(10_000), deadline=None)
@given(title=TITLES, number=st.integers(1, 10**6))
def test_slug_of_a_title_in_any_script_has_the_form_of_slugs(title: str, number: int) -> None:
    slug = make_slug(title)

    assert slug == "" or re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug)
    assert SLUG.fullmatch(number_slug(slug or "post-1", number))
    assert slug == "" or make_slug(slug) == slug


def test_slug_is_the_transliterated_title() -> None:
    for title, slug in [
        ("Hello, World!", "hello-world"),
        ("What's new in Rust 1.0?", "whats-new-in-rust-1-0"),
        ("Ünïcödé straße", "unicode-strasse"),
        ("Привет мир", "privet-mir"),
        ("Fluss\u00adschiff\ufeff fa\u200bhrt\u2060en", "flussschiff-fahrten"),  # what nobody sees separates no words
        ("A party 🎉", "a-party"),
        ("🎉 !?", ""),
        ("1984", ""),
        ("word " * 40, "word-" * 19 + "word"),
        ("x" * MAX_TITLE, "x" * MAX_SLUG),
    ]:
        assert make_slug(title) == slug


def create_post(actor: Actor, title: str = "Tides", **values: Any) -> Post:
    return services.create_post(actor=actor, title=title, body="", **values)


def test_taken_slugs_get_numbers(editor: Actor) -> None:
    assert [create_post(editor).slug for _ in range(4)] == ["tides", "tides-2", "tides-3", "tides-4"]
    assert create_post(editor, "!").slug == f"post-{Post.objects.latest('pk').pk}"


def test_slug_with_other_characters_is_refused(editor: Actor) -> None:
    for slug in ["", "Tides", "high_tides", "höhe", "a b", "x" * (MAX_SLUG + 1)]:
        with pytest.raises(Invalid) as refusal:
            create_post(editor, slug=slug)

        assert set(refusal.value.fields) == {"slug"}


def test_slug_that_a_person_states_is_kept_and_conflicts_if_it_is_taken(editor: Actor) -> None:
    first, other = create_post(editor, slug="2026"), create_post(editor)

    assert edit(first, editor, title="Another title").slug == "2026"
    with pytest.raises(Conflict):
        create_post(editor, slug="2026")
    with pytest.raises(Conflict):
        edit(other, editor, slug="2026")
    assert edit(first, editor, slug=None).slug == "another-title"


def test_slug_follows_the_title_until_the_post_is_public(editor: Actor) -> None:
    post = create_post(editor)

    assert edit(post, editor, title="Low tides").slug == "low-tides"
    assert edit(post, editor, title="High tides", status="published").slug == "high-tides"
    assert edit(post, editor, title="No tides").slug == "high-tides"
    assert edit(post, editor, title="Some tides", status="draft").slug == "high-tides"
    assert not OldSlug.objects.exists()


def test_old_slug_of_a_public_post_leads_to_it(editor: Actor, gql: GraphQL) -> None:
    post = create_post(editor, status="published")
    for slug in ("moon", "sun", "moon"):
        edit(post, editor, slug=slug)

    def read_slug(slug: str) -> str | None:
        found = gql("query ($slug: String!) { postBySlug(slug: $slug) { slug } }", slug=slug).data["postBySlug"]
        return found and str(found["slug"])

    assert [read_slug(slug) for slug in ("tides", "sun", "moon", "mars", "No slug")] == [*["moon"] * 3, None, None]
    for prefix in ("", "/v1"):
        moved = send_request("GET", f"{prefix}/posts/by-slug/tides")
        assert (moved.status, moved.headers["Location"]) == (308, f"{prefix}/posts/by-slug/moon")
    assert send_request("GET", "/posts/by-slug/moon").body["id"] == str(post.pk)
    assert send_request("GET", "/posts/by-slug/mars").status == 404
    assert create_post(editor).slug == "tides-2"
    with pytest.raises(Conflict):
        create_post(editor, slug="sun")


def test_old_slugs_of_a_post_are_listed_for_those_who_see_it(editor: Actor, gql: GraphQL) -> None:
    post = create_post(editor, status="published")
    for slug in ("sun", "moon"):
        edit(post, editor, slug=slug)
    other = create_post(editor, slug="mars", status="published")
    author = make_author(name="Ida").pk

    lists = gql("{ posts { slug oldSlugs author { posts { oldSlugs } } } }").data["posts"]
    created = gql(
        'mutation ($author: ID!) { createPost(input: {title: "New", body: "", authorId: $author}) { oldSlugs } }',
        actor=editor,
        author=str(author),
    )
    edit(post, editor, status="draft")
    hidden = gql(
        "query ($ids: [ID!]!) { nodes(ids: $ids) { ...on Post { oldSlugs } } }", ids=[str(post.pk), str(other.pk)]
    )

    assert [(each["slug"], each["oldSlugs"]) for each in lists] == [("mars", []), ("moon", ["sun", "tides"])]
    assert {tuple(of_author["oldSlugs"]) for each in lists for of_author in each["author"]["posts"]} == {
        (),
        ("sun", "tides"),
    }
    assert created.data["createPost"] == {"oldSlugs": []}
    assert hidden.data["nodes"] == [None, {"oldSlugs": []}]


def test_post_with_very_many_old_slugs_lists_the_first_ones(editor: Actor, gql: GraphQL) -> None:
    post = create_post(editor, status="published")
    slugs = [f"old-{number:03}" for number in range(MAX_OLD_SLUGS + 1)]
    OldSlug.objects.bulk_create(OldSlug(slug=slug, post_id=post.pk) for slug in slugs)

    assert gql("{ posts { oldSlugs } }").data == {"posts": [{"oldSlugs": slugs[:-1]}]}
    assert send_request("GET", f"/posts/by-slug/{slugs[-1]}").status == 308


def test_slug_of_a_hidden_post_leads_nowhere(editor: Actor) -> None:
    post = create_post(editor, status="published", slug="comments")
    edit(post, editor, slug="publish", status="draft")

    assert {send_request("GET", f"/posts/by-slug/{slug}").status for slug in ("comments", "publish")} == {404}


@pytest.mark.django_db(transaction=True)
def test_many_clients_with_one_title_get_different_slugs(editor: Actor) -> None:
    posts = race(lambda: create_post(editor), *[lambda: create_post(editor, status="published")] * 16)

    slugs = {str(post.slug) for post in posts}
    assert len(slugs) == 16
    assert all(slug.startswith("tides-") for slug in slugs)  # with nearly the lowest numbers


def test_unknown_author_is_refused_also_with_a_slug_that_is_taken(editor: Actor) -> None:
    create_post(editor)

    with pytest.raises(Invalid, match="no author"):
        create_post(editor, author_id="999999")


def test_worker_gives_slugs_to_posts_without_one_and_changes_nothing_else() -> None:
    posts = [make_post(title=title, slug=None) for title in ("Tides", "Tides", "!")]
    Post.objects.filter(pk=posts[0].pk).update(body="New.", version=2)
    before = list(Post.objects.order_by("pk").values("version", "updated_at"))
    assert send_request("GET", f"/posts/{posts[0].pk}").body["slug"] == f"post-{posts[0].pk}"

    give_first_slugs(Event())

    rows = Post.objects.order_by("pk")
    assert list(rows.values_list("slug", flat=True)) == ["tides", "tides-2", f"post-{posts[2].pk}"]
    assert list(rows.values("version", "updated_at")) == before
    assert PostVersion.objects.get().slug == "tides"
    assert not OldSlug.objects.exists()


def test_restored_version_and_restored_post_get_no_slug_of_another_post(editor: Actor) -> None:
    post = create_post(editor)
    edit(post, editor, title="Moon")
    other = create_post(editor)

    restored = restore_draft(post, 1, actor=editor)

    assert (restored.title, restored.slug, other.slug) == ("Tides", "tides-2", "tides")
    services.delete_post(actor=editor, post_id=str(post.pk))
    create_post(editor, slug="tides-2")
    assert trash.restore_deleted_post(actor=editor, post_id=str(post.pk)).slug == "tides-2-2"


def test_version_of_a_release_without_slugs_is_restored_without_one(editor: Actor) -> None:
    post = create_post(editor)
    edit(post, editor, title="Moon")
    PostVersion.objects.update(slug=None)

    restored = restore_draft(post, 1, actor=editor)

    assert (restored.title, restored.slug) == ("Tides", "tides")


def test_slug_changed_in_sql_is_a_version_with_an_old_slug(editor: Actor) -> None:
    post = create_post(editor, status="published")

    execute("UPDATE blog_post SET slug = 'moon' WHERE id = %s", [post.pk])

    post.refresh_from_db()
    assert (post.version, post.changed_with) == (2, "database")
    assert OldSlug.objects.get().slug == "tides"


def test_canonical_url_is_an_absolute_address_or_null(editor: Actor) -> None:
    for url in ["", "/a", "ftp://a.invalid/", "javascript:alert(1)", "https://", "https://a b/"]:
        post = create_post(editor, canonical_url="https://www.example.com/a?b=c#d")
        assert edit(post, editor, canonical_url=None).canonical_url is None

        with pytest.raises(Invalid):
            edit(post, editor, canonical_url=url)


def test_editors_change_the_author_of_a_post() -> None:
    author, other = make_author(), make_author()
    writer, editor = make_actor(Role.AUTHOR, author=author), make_actor(Role.EDITOR)
    post = create_post(writer, status=PostStatus.PUBLISHED)

    assert edit(post, editor, author_id=str(other.pk)).author == other
    with pytest.raises(Forbidden):
        edit(post, make_actor(Role.AUTHOR, author=other), author_id=str(author.pk))
    for author_id in ("999999", None):
        with pytest.raises(Invalid) as refusal:
            edit(post, editor, author_id=author_id)
        assert set(refusal.value.fields) == {"authorId"}


def test_lowest_free_number_follows_those_that_are_taken() -> None:
    for taken in [0, 1, 2, 3, 7, 8, 100]:
        planned = {number_slug("kelp", number) for number in range(1, taken + 1)}

        assert find_free_slug("kelp", None, planned) == number_slug("kelp", taken + 1)
