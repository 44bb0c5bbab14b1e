"""Working copies: save, publish and discard them, and what becomes of them with their posts. The rules of services."""

from typing import Any

import pytest

from blog import services
from blog.history import trash
from blog.models import CONTENT, CONTENT_FIELDS, OPTIONAL, Kind, Post, PostVersion, WorkingCopy
from contentapi.core.errors import ApiError, Conflict, Forbidden, Invalid, NotFound, Unauthenticated, VersionConflict
from contentapi.core.identity import ANONYMOUS, OPERATOR, Role, Scope
from tests.blog.own_posts import make_own_post
from tests.blog.post_copies import publish, save
from tests.blog.post_rows import LATER
from tests.blog.post_versions import edit
from tests.blog.racing import race
from tests.factories import make_actor, make_author, make_post, make_working_copy

REQUIRED = [name for name in CONTENT if name not in OPTIONAL]
SHORT = [field for field in CONTENT_FIELDS if field.kind in (Kind.LINE, Kind.SUMMARY)]


def read_content(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in CONTENT}


# --- Save ----------------------------------------------------------------------------------------------


def test_first_save_starts_with_the_values_of_the_post_and_leaves_the_post_alone() -> None:
    actor, post = make_own_post(tags=["sea"], canonical_url="https://www.example.com/")
    before = Post.objects.values().get()

    copy = save(post, actor, title=" Tides ")

    copy.refresh_from_db()
    assert copy.content == {**read_content(post), "title": "Tides", "slug_is_chosen": False}
    assert (copy.is_new, copy.base_version, copy.publish_at, copy.updated_by) == (True, 1, None, actor.user_id)
    assert Post.objects.values().get() == before
    assert not PostVersion.objects.exists()


def test_saved_version_is_never_that_of_a_discarded_copy() -> None:
    post = make_post()
    first = save(post, title="Ebb")
    services.discard_working_copy(actor=OPERATOR, post_id=str(post.pk))
    save(post, title="Flood")

    with pytest.raises(VersionConflict):
        save(post, title="Mine", expected_version=str(first.version))


INVALID: list[tuple[dict[str, Any], dict[str, list[str]]]] = [
    ({"title": " "}, {"title": ["This must not be empty."]}),
    (dict.fromkeys(REQUIRED), {name: ["This must not be null."] for name in REQUIRED}),
    ({"tags": ["a", "a"]}, {"tags": ["Tags must be unique."]}),
    ({"canonical_url": "ftp://x"}, {"canonicalUrl": ["This must be an absolute http or https URL."]}),
    (
        {field.name: "x" * (field.longest + 1) for field in SHORT},
        {
            field.api_name: [f"At most {field.longest} characters are allowed (got {field.longest + 1})."]
            for field in SHORT
        },
    ),
]


def test_invalid_content_is_refused_as_that_of_a_post() -> None:
    post = make_post()

    for values, fields in INVALID:
        with pytest.raises(Invalid) as refused:
            save(post, **values)

        assert refused.value.fields == fields
        assert not WorkingCopy.objects.exists()


def test_slug_that_another_post_has_is_a_conflict() -> None:
    make_post(slug="taken")

    with pytest.raises(Conflict, match="The slug taken is taken"):
        save(make_post(), slug="taken")


def test_base_that_the_post_never_had_is_a_conflict() -> None:
    post = make_post()
    for version in ("7", "0", "x", ""):
        with pytest.raises(VersionConflict):
            save(post, base_version=version)


def test_expected_version_without_a_working_copy_is_a_conflict() -> None:
    with pytest.raises(VersionConflict, match="there is no working copy"):
        save(make_post(), title="Ebb", expected_version="1")


def test_version_0_is_that_of_no_working_copy() -> None:
    post = make_post()
    save(post, title="Ebb", expected_version="0")

    with pytest.raises(VersionConflict, match="the working copy is at version"):
        save(post, title="Flood", expected_version="0")


@pytest.mark.django_db(transaction=True)
def test_of_two_saves_of_one_version_one_is_a_conflict() -> None:
    post = make_post()
    version = str(save(post, title="Ebb").version)

    def save_once() -> str:
        try:
            return str(save(post, body="x", expected_version=version).version)
        except VersionConflict:
            return "conflict"

    outcomes = race(lambda: Post.objects.select_for_update().get(pk=post.pk), save_once, save_once)

    assert sorted(outcomes)[1] == "conflict"
    assert outcomes.count("conflict") == 1


@pytest.mark.django_db(transaction=True)
def test_two_first_saves_at_once_make_one_working_copy() -> None:
    post = make_post()

    race(
        lambda: Post.objects.select_for_update().get(pk=post.pk),
        lambda: save(post, title="A"),
        lambda: save(post, body="B"),
    )

    content = WorkingCopy.objects.get().content
    assert (content["title"], content["body"]) == ("A", "B")


# --- Permissions beyond the table ----------------------------------------------------------------------


def test_first_save_of_a_public_post_needs_only_the_scope_to_write() -> None:
    author = make_author()
    post = make_post(author=author)
    actor = make_actor(Role.AUTHOR, author=author, scopes={Scope.POSTS_WRITE})

    assert save(post, actor, title="Ebb").content["title"] == "Ebb"
    with pytest.raises(Forbidden, match="see the working copy"):
        save(post, actor, title="Flood")


def test_copy_with_a_time_can_only_be_saved_by_those_who_may_publish() -> None:
    author = make_author()
    post = make_post(author=author)
    actor = make_actor(Role.AUTHOR, author=author, scopes={Scope.POSTS_READ, Scope.POSTS_WRITE})
    save(post, publish_at=LATER)

    with pytest.raises(Forbidden, match="schedule the changes"):
        save(post, actor, title="Ebb")

    assert save(post, actor, title="Ebb", publish_at=None).publish_at is None


@pytest.mark.parametrize(
    ("actor", "error"), [(lambda: ANONYMOUS, Unauthenticated), (lambda: make_actor(Role.AUTHOR), Forbidden)]
)
def test_others_learn_nothing_of_a_working_copy(actor: Any, error: type[ApiError]) -> None:
    post = make_post()
    with_copy, caller = make_post(), actor()
    save(with_copy, title="Ebb")

    for action in (save, publish):
        messages = set()
        for each in (post, with_copy):
            with pytest.raises(error) as refused:
                action(each, caller)
            messages.add(refused.value.message)
        assert len(messages) == 1


@pytest.mark.parametrize("status", ["draft", "scheduled", "published", "archived"])
def test_published_copy_is_one_version_of_the_post_whose_status_stays(status: str) -> None:
    publish_at = LATER if status == "scheduled" else None
    actor, post = make_own_post(status=status, publish_at=publish_at, title="Tides")
    save(post, actor, title="Ebb", body="Low.", tags=["sea"], canonical_url="https://www.example.com/", slug="ebb")

    published = publish(post, actor)

    assert (published.title, published.body, published.tags, published.slug) == ("Ebb", "Low.", ["sea"], "ebb")
    assert (published.status, published.version, published.changed_by) == (status, 2, actor.user_id)
    assert list(PostVersion.objects.values_list("version", "title")) == [(1, "Tides")]
    assert not WorkingCopy.objects.exists()


def test_published_copy_of_a_public_post_is_rendered_at_once() -> None:
    post = make_post(body="Boil.", excerpt="Own.")
    save(post, body="Fry.", excerpt="")

    rendered = publish(post)

    rendered.refresh_from_db()
    texts = (rendered.body_html, rendered.default_excerpt, rendered.default_description)
    assert texts == ("<p>Fry.</p>\n", "Fry.", "Fry.")
    assert (rendered.excerpt, rendered.rendered_version) == (None, 2)


def test_published_copy_with_another_title_keeps_the_rendered_text() -> None:
    post = edit(make_post(), body="Boil.")
    save(post, title="Soup")

    publish(post)

    assert Post.objects.values_list("body_html", "rendered_version").get() == ("<p>Boil.</p>\n", 3)


def test_text_that_changed_since_the_base_is_a_conflict_until_it_is_merged() -> None:
    post = make_post(title="Tides")
    save(post, title="Ebb")
    edit(post, body="Changed.")

    with pytest.raises(VersionConflict, match="changed since version 1, on which the working copy is based"):
        publish(post)

    save(post, body="Changed.", base_version="2")
    assert (publish(post).title, Post.objects.get().body) == ("Ebb", "Changed.")


def test_slug_that_was_taken_since_the_save_is_a_conflict_if_a_person_chose_it() -> None:
    post, draft = make_post(title="Boats"), make_post(title="Tides", slug="tides", status="draft")
    save(post, slug="ebb")
    save(draft, title="Ebb")
    make_post(slug="ebb")

    with pytest.raises(Conflict, match="The slug ebb is taken"):
        publish(post)
    assert publish(draft).slug == "ebb-2"


def test_field_that_a_copy_lacks_stays_that_of_the_post() -> None:
    post = make_post(tags=["sea"])
    copy = make_working_copy(post, title="Ebb")
    del copy.content["tags"]
    copy.save()

    assert (publish(post).title, Post.objects.get().tags) == ("Ebb", ["sea"])


@pytest.mark.parametrize("action", [services.publish_working_copy, services.discard_working_copy])
def test_outdated_and_missing_copy_can_be_neither_published_nor_discarded(action: Any) -> None:
    post = make_post()
    with pytest.raises(NotFound, match="There is no working copy with this id"):
        action(actor=OPERATOR, post_id=str(post.pk))
    save(post, title="Ebb")

    with pytest.raises(VersionConflict, match="the working copy is at version"):
        action(actor=OPERATOR, post_id=str(post.pk), expected_version="0")

    assert WorkingCopy.objects.exists()


def test_archived_post_keeps_its_copy_and_a_deleted_post_does_not() -> None:
    post = make_post()
    save(post, title="Ebb")
    edit(post, status="archived")
    assert WorkingCopy.objects.get().content["title"] == "Ebb"

    services.delete_post(actor=OPERATOR, post_id=str(post.pk))
    trash.restore_deleted_post(actor=OPERATOR, post_id=str(post.pk))

    assert not WorkingCopy.objects.exists()
