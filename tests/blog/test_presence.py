"""The notice that other people have a post open."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from blog import services
from blog.models import Post, PostPresence
from blog.services import presence
from contentapi.core.errors import Forbidden, NotFound
from contentapi.core.identity import OPERATOR, Actor, Role
from tests.admin_forms import read_form, submit_form
from tests.blog.test_copy_history import make_editor
from tests.factories import make_actor, make_author, make_post


def announce(actor: Actor, post: Post, page: object = None) -> list[str]:
    people = presence.announce_page(actor=actor, post_id=str(post.pk), page=page or uuid4())  # type: ignore[arg-type]
    return [person.name for person in people]


def test_editors_see_each_other_and_not_themselves() -> None:
    post, other = make_post(), make_post()
    ada, ben = make_editor("Ada"), make_editor("Ben")

    assert announce(ada, post) == []
    assert announce(ben, post) == ["Ada"]
    assert announce(ada, post) == ["Ben"]
    assert announce(ada, other) == []


def test_person_with_several_pages_is_named_once_with_the_first_time() -> None:
    post, ada, ben = make_post(), make_actor(Role.EDITOR), make_actor(Role.EDITOR)
    announce(ada, post)
    first = PostPresence.objects.get().opened_at
    announce(ada, post)

    people = presence.list_people(ben, post.pk)

    assert [person.since for person in people] == [first]


def test_announcement_expires_and_is_deleted_by_the_next_one() -> None:
    post, ada, ben = make_post(), make_actor(Role.EDITOR), make_actor(Role.EDITOR)
    announce(ada, post)
    PostPresence.objects.update(seen_at=timezone.now() - timedelta(seconds=91))

    assert presence.list_people(ben, post.pk) == []
    announce(ben, post)
    assert PostPresence.objects.values_list("user_id", flat=True).get() == ben.user_id


def test_person_has_a_bounded_number_of_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "MOST_PAGES", 2)
    post, ada = make_post(), make_actor(Role.EDITOR)

    for _ in range(3):
        announce(ada, post)

    assert PostPresence.objects.count() == 2


def test_only_who_may_change_the_post_sees_and_announces() -> None:
    author = make_actor(Role.AUTHOR, author=make_author())

    with pytest.raises(Forbidden):
        announce(author, make_post())
    with pytest.raises(NotFound):
        announce(author, make_post(status="draft"))


# In the admin


def test_form_names_who_has_the_post_open_and_a_save_closes_the_page(editor_client: Client) -> None:
    post, ada = make_post(), make_editor("Ada <b>")
    announce(ada, post)
    page = reverse("admin:blog_post_change", args=[post.pk])

    shown = editor_client.get(page)
    own = str(shown.context["presence"]["page"])
    announced = editor_client.post(reverse("admin:blog_post_presence", args=[post.pk]), {"_page": own})
    submit_form(editor_client, page, _page=own, title="New")

    assert "Ada &lt;b&gt; has had this post open since <time" in shown.text
    assert [person["name"] for person in announced.json()["people"]] == ["Ada <b>"]
    assert PostPresence.objects.values_list("user_id", flat=True).get() == ada.user_id


def test_page_announces_and_closes_itself(editor_client: Client) -> None:
    url = reverse("admin:blog_post_presence", args=[make_post().pk])
    values = {"_page": str(uuid4())}

    assert editor_client.post(url, values).json() == {"people": [], "save": None}
    assert PostPresence.objects.count() == 1
    assert editor_client.post(url, {"_page": "x"}).status_code == 400
    assert editor_client.post(url, {**values, "closed": "yes"}).status_code == 204
    assert not PostPresence.objects.exists()


def test_page_learns_who_has_saved_the_post_since_it_was_opened(editor_client: Client) -> None:
    post, ada = make_post(), make_editor("Ada")
    shown = editor_client.get(reverse("admin:blog_post_change", args=[post.pk]))
    values = {
        "_page": str(shown.context["presence"]["page"]),
        "opened_version": read_form(shown.text)["opened_version"],
    }
    own = Actor(user_id=int(editor_client.session["_auth_user_id"]), role=Role.EDITOR, scopes=ada.scopes)

    def announce_it() -> Any:
        save = editor_client.post(reverse("admin:blog_post_presence", args=[post.pk]), values).json()["save"]
        changed_at = Post.objects.get().changed_at
        assert save is None or (changed_at and save["at"][:23] == changed_at.isoformat()[:23])
        return save and save["name"]

    saves = [announce_it()]
    for actor in (ada, own, OPERATOR):
        services.edit_post(actor=actor, post_id=str(post.pk), changes={"title": f"By {actor.user_id}"})
        saves.append(announce_it())

    assert saves == [None, "Ada", "You", ""]


def test_page_learns_what_others_did_to_the_working_copy_that_it_shows(editor_client: Client) -> None:
    post, ada = make_post(), make_editor("Ada")
    url, form = (reverse(f"admin:blog_post_{name}", args=[post.pk]) for name in ("presence", "change"))
    pages = []

    def open_page() -> None:
        values = read_form(editor_client.get(form).text)
        pages.append({name: values[name] for name in ("_page", "opened_version", "opened_copy")})

    def ask() -> list[str | None]:
        saves = [editor_client.post(url, page).json()["save"] for page in pages]
        return [save and f"{save['name']} {save['action']}" for save in saves]

    options: dict[str, Any] = {"actor": ada, "post_id": str(post.pk)}
    open_page()
    services.save_working_copy(**options, title="Ebb")
    open_page()
    saved = ask()
    services.save_working_copy(**options, title="Low")
    saved_again = ask()
    services.discard_working_copy(**options)
    discarded = ask()
    open_page()
    services.save_working_copy(**options, title="Flood")
    open_page()
    services.publish_working_copy(**options)

    saved_by_ada, discarded_by_ada = "Ada saved changes of this post", "Ada discarded the changes of this post"
    assert saved == [saved_by_ada, None]
    assert saved_again == [saved_by_ada, saved_by_ada]
    assert discarded == [None, discarded_by_ada]
    published = "Ada published the changes of this post"
    assert ask() == ["Ada saved this post", published, "Ada saved this post", published]
