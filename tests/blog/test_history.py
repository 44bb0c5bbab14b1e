"""The history of posts: versions, differences, and the names of deleted people."""

from blog.history import versions
from blog.models import Author, Post, PostVersion
from contentapi.core.identity import OPERATOR, Role
from tests.blog.post_versions import edit, get_newest, list_versions
from tests.factories import make_actor, make_author, make_post
from users.models import User


def test_history_has_every_version_with_its_text_newest_first() -> None:
    post = make_post(title="One", tags=["a"])
    edit(post, title="Two")
    edit(post, tags=["b"], body="More.")
    edit(post, status="archived")

    found = list_versions(post)

    assert [(version.number, version.changed_fields) for version in found] == [
        (4, ["status"]),
        (3, ["body", "tags"]),
        (2, ["title"]),
        (1, None),
    ]
    read = [versions.read_version(actor=OPERATOR, post_id=str(post.pk), number=number) for number in (1, 2, 3, 4)]
    assert [version.values["title"] for version in read] == ["One", "Two", "Two", "Two"]
    assert [version.values["body"] for version in read] == ["Text.", "Text.", "More.", "More."]
    assert [version.is_present for version in read] == [False, False, False, True]


def test_version_of_a_deleted_user_keeps_the_id_of_the_user() -> None:
    actor = make_actor(Role.EDITOR)
    post = edit(make_post(), actor, title="New")

    User.objects.filter(pk=actor.user_id or 0).delete()

    assert get_newest(post).made.person == f"deleted user {actor.user_id}"


def test_comparison_has_the_changed_fields_and_the_lines_of_the_text() -> None:
    ines, jo = make_author(name="Ines"), make_author(name="Jo")
    post = make_post(title="Old", body="One\ntwo\n", tags=["a"], author=ines)
    edit(post, title="New", body="One\n2\n", tags=["a", "b"])
    Post.objects.filter(pk=post.pk).update(author=jo)

    comparison = versions.compare_versions(actor=OPERATOR, post_id=str(post.pk), old=1, new=3)

    assert comparison.fields == [("title", "Old", "New"), ("tags", ["a"], ["a", "b"]), ("author", "Ines", "Jo")]
    assert [(line.kind, line.text) for line in comparison.body] == [
        ("same", "One\n"),
        ("removed", "two\n"),
        ("added", "2\n"),
    ]


def test_deletion_of_an_author_leaves_the_history() -> None:
    post = make_post(author=make_author(name="Ines"))
    Post.objects.filter(pk=post.pk).update(author=make_author(name="Jo"))

    Author.objects.get(name="Ines").delete()

    comparison = versions.compare_versions(actor=OPERATOR, post_id=str(post.pk), old=1, new=2)
    assert comparison.fields == [("author", "a deleted author", "Jo")]
    assert str(PostVersion.objects.get()) == f"{post.title}, version 1"
