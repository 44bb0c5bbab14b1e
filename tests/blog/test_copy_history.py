"""Working copies in the history of their posts: what became of them, and restoring. Nothing becomes public unasked."""

from typing import Any

import pytest
from django.test import Client

from blog import services
from blog.history import copies, trash, versions
from blog.models import CopyVersion, Post, WorkingCopy
from contentapi.core.errors import Conflict, Forbidden, NotFound
from contentapi.core.identity import OPERATOR, Actor, Role
from tests.admin_forms import submit_form
from tests.blog.post_copies import publish, save
from tests.blog.post_rows import LATER
from tests.blog.post_versions import edit, restore_text
from tests.blog.test_history_admin import get_messages, get_url, restore
from tests.factories import make_actor, make_author, make_image, make_post
from users.models import User


def list_copies(client: Client, post: Post) -> list[tuple[str, str]]:
    """Return who saved each entry in the history of a post, and what became of it."""
    page = client.get(get_url("history", post.pk))
    return [(person, state.partition(",")[0]) for _, person, state in page.context["copies"]]


def make_editor(name: str) -> Actor:
    actor = make_actor(Role.EDITOR)
    User.objects.filter(pk=actor.user_id or 0).update(name=name)
    return actor


def discard(client: Client, post: Post) -> Any:
    submit_form(client, get_url("change", post.pk), _act="discard")
    return CopyVersion.objects.filter(post=post.pk).latest("version").version


def test_history_has_the_versions_of_working_copies_and_what_became_of_them(editor_client: Client) -> None:
    ada, ben = make_editor("Ada"), make_editor("Ben")
    post = make_post(title="Tides")
    for actor, title in ((ada, "Ebb"), (ada, "Low"), (ben, "Flood")):
        save(post, actor, title=title)
    publish(post, ben.through("admin"))
    save(post, ada, title="Moon")
    discard(editor_client, post)
    save(post, ada, title="Sun")

    found = list_copies(editor_client, post)

    me = User.objects.get(pk=editor_client.session["_auth_user_id"]).name
    assert found == [
        ("Ada", "saved; readers do not see it yet"),
        ("Ada", f"discarded by {me}"),
        ("Ben", "published by Ben"),
        ("Ada", "saved"),  # both of Ada's, within ten minutes
    ]


def test_discarded_changes_are_shown_and_restored_from_the_message(editor_client: Client) -> None:
    post = make_post(title="Tides", body="High.")
    save(post, title="Ebb", body="Low.", tags=["sea"])
    number = discard(editor_client, post)
    page = get_url("copy", post.pk, number)

    assert page in editor_client.get(get_url("changelist")).text
    shown = editor_client.get(page)
    assert shown.context["fields"][0] == ("title", "Tides", "Ebb")
    assert '<ins class="line"><mark>Low</mark>.</ins>' in shown.text
    response = restore(editor_client, page)

    assert response.redirect_chain == [(get_url("change", post.pk), 302)]
    copy = WorkingCopy.objects.get()
    assert (copy.content["title"], copy.content["body"], copy.content["tags"]) == ("Ebb", "Low.", ["sea"])
    assert Post.objects.values_list("title", "version").get() == ("Tides", 1)


def test_restored_changes_replace_others_only_if_the_person_has_seen_them(editor_client: Client) -> None:
    post = make_post(title="Tides")
    save(post, title="Ebb")
    number = discard(editor_client, post)
    values = {"copy": "0"}
    save(post, make_editor("Ada"), title="Ada's", publish_at=LATER)

    refused = editor_client.post(get_url("restore_copy", post.pk, number), values, follow=True)
    page = editor_client.get(get_url("copy", post.pk, number)).text
    restore(editor_client, get_url("copy", post.pk, number))

    assert "Version conflict" in get_messages(refused)[-1]
    assert "It replaces the changes of Ada of <time" in page
    assert (WorkingCopy.objects.get().content["title"], WorkingCopy.objects.get().publish_at) == ("Ebb", None)
    assert ("Ada", "saved") in list_copies(editor_client, post)


def test_restored_changes_of_an_older_text_are_published_only_after_both_were_seen(editor_client: Client) -> None:
    post = make_post(title="Tides")
    save(post, body="Low.")
    number = discard(editor_client, post)
    edit(post, title="Flood")

    restore(editor_client, get_url("copy", post.pk, number))

    assert submit_form(editor_client, get_url("change", post.pk), _act="publish_changes").status_code == 409
    assert Post.objects.get().title == "Flood"


def test_old_version_of_a_public_post_is_restored_in_the_working_copy(editor_client: Client) -> None:
    post = make_post(title="Old", slug="old", body="Old.", tags=["old"])
    edit(post, title="New", slug="new", body="New.", tags=[])
    page = get_url("version", post.pk, 1)

    assert "Readers do not see the restored text until you publish it." in editor_client.get(page).text
    response = restore(editor_client, page)

    assert "is restored as changes that readers do not see" in get_messages(response)[0]
    assert Post.objects.values_list("title", "slug", "body", "version").get() == ("New", "new", "New.", 2)
    content = WorkingCopy.objects.get().content
    assert [content[name] for name in ("title", "slug", "body", "tags")] == ["Old", "old", "Old.", ["old"]]
    publish(post)
    assert Post.objects.values_list("title", "slug", "body").get() == ("Old", "old", "Old.")


@pytest.mark.parametrize("status", ["published", "draft"])
def test_restore_of_the_present_text_of_a_post_makes_no_working_copy(status: str) -> None:
    post = make_post(status=status)
    edit(post, status="archived")
    edit(post, status="draft")
    edit(post, status=status)

    restored = restore_text(post, 1)

    assert isinstance(restored, Post)
    assert restored.version == Post.objects.get().version
    assert not WorkingCopy.objects.exists()


def test_restored_text_leaves_out_a_deleted_cover_and_a_slug_that_is_taken() -> None:
    image = make_image()
    post = make_post(title="Old", slug="old", cover_id=image.pk)
    edit(post, title="New", slug="new", cover_id=None)
    services.delete_image(actor=OPERATOR, image_id=str(image.pk))
    edit(post, slug="newer")
    Post.objects.filter(pk=post.pk).update(version=4)  # a change of SQL
    post.refresh_from_db()

    copy = restore_text(post, 1)

    assert isinstance(copy, WorkingCopy)
    assert (copy.content["title"], copy.content["cover_id"], copy.content["slug"]) == ("Old", None, "old")


def test_restore_after_another_change_is_a_conflict() -> None:
    post = make_post(title="Old")
    edit(post, title="New")
    copy = save(post, body="Mine.")

    for seen in ({"post_version": 1, "copy_version": copy.version}, {"post_version": 2, "copy_version": 0}):
        with pytest.raises(Conflict):
            copies.restore_text(actor=OPERATOR, post_id=str(post.pk), number=1, **seen)
    assert WorkingCopy.objects.get().content["body"] == "Mine."


def test_working_copy_of_a_deleted_post_can_be_restored_with_it(editor_client: Client) -> None:
    post = make_post(title="Tides")
    save(post, title="Ebb")
    services.delete_post(actor=OPERATOR, post_id=str(post.pk))
    assert [state for _, state in list_copies(editor_client, post)] == ["deleted by command line"]

    trash.restore_deleted_post(actor=OPERATOR, post_id=str(post.pk))
    restore(editor_client, get_url("copy", post.pk, CopyVersion.objects.get().version))

    assert WorkingCopy.objects.get().content["title"] == "Ebb"


def test_pages_of_the_changes_have_each_entry_once(editor_client: Client) -> None:
    post = make_post()
    for number in range(7):
        save(post, make_actor(Role.EDITOR), title=str(number))

    numbers, before = list[int](), None
    while before != 0:
        page = copies.list_copies(actor=OPERATOR, post_id=str(post.pk), before=before, limit=3)
        numbers += [version.number for version in page.versions]
        before = page.next_before or 0

    assert len(numbers) == len(set(numbers)) == 7
    assert numbers == sorted(numbers, reverse=True)
    older = editor_client.get(get_url("history", post.pk), {"copies_before": numbers[3]})
    assert [entry.number for entry, *_ in older.context["copies"]] == numbers[4:]


def test_changes_are_seen_by_those_who_may_edit_the_post() -> None:
    post = make_post(author=make_author())
    copy = save(post, title="Ebb")
    other = make_actor(Role.AUTHOR, author=make_author())

    for call in (copies.list_copies, copies.compare_copy):
        with pytest.raises(Forbidden):
            call(actor=other, post_id=str(post.pk))
    with pytest.raises(Forbidden):
        copies.restore_copy(actor=other, post_id=str(post.pk), number=copy.version, copy_version=copy.version)
    with pytest.raises(NotFound):
        copies.compare_copy(actor=OPERATOR, post_id=str(post.pk), number=copy.version + 10**6)


# What will change


def test_page_shows_what_will_change_before_it_is_published(editor_client: Client) -> None:
    post = make_post(title="Tides", body="One\ntwo <i>", tags=["sea"])
    form = get_url("change", post.pk)

    saved = submit_form(editor_client, form, title="Ebb", body="One\r\nthree <i>", _act="publish_changes")
    page = editor_client.get(saved.headers["Location"])

    assert Post.objects.values_list("title", "version").get() == ("Tides", 1), (
        "nothing is public before the page is sent"
    )
    assert page.context["fields"][0] == ("title", "Tides", "Ebb")
    assert '<del class="line"><mark>two</mark> &lt;i&gt;</del>' in page.text
    assert '<ins class="line"><mark>three</mark> &lt;i&gt;</ins>' in page.text
    assert get_url("changes", post.pk) in editor_client.get(form).text
    submit_form(editor_client, get_url("changes", post.pk))
    assert Post.objects.values_list("title", "body", "version").get() == ("Ebb", "One\nthree <i>", 2)


def test_changes_that_somebody_saved_after_the_page_was_shown_are_not_published(editor_client: Client) -> None:
    post = make_post(title="Tides")
    seen = save(post, title="Ebb")
    save(post, title="Not seen")

    response = editor_client.post(get_url("changes", post.pk), {"copy": seen.version}, follow=True)

    assert "Version conflict" in get_messages(response)[0]
    assert Post.objects.get().title == "Tides"


def test_save_that_removes_most_of_a_text_is_an_entry_of_its_own() -> None:
    ada = make_actor(Role.EDITOR)
    post = make_post(body="A sentence. " * 20, status="draft", changed_by=ada.user_id, changed_with=ada.origin)
    for body in ("A sentence. " * 21, "Gone.", "Gone. Typed again", "A sentence. " * 5, "A sentence. " * 4, "Gone."):
        services.edit_post(actor=ada, post_id=str(post.pk), changes={"body": body})

    page = versions.list_versions(actor=OPERATOR, post_id=str(post.pk))

    assert [entry.number for entry in versions.group_versions(page)] == [7, 6, 3, 2]
