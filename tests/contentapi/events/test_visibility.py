"""Who sees an event is decided by what was true at that time; what it shows of the object, by what is true now."""

import pytest
from django.utils import timezone

from blog import services
from blog.models import Author, Comment, Post
from contentapi.core.identity import ANONYMOUS, OPERATOR, Actor, Role
from contentapi.events.feed import Feed, LogSubscription
from contentapi.events.models import Event
from contentapi.events.triggers import merge_events
from tests.blog.post_versions import edit
from tests.conftest import GraphQL
from tests.event_log import relay
from tests.factories import make_actor, make_author, make_comment, make_image, make_order, make_post


def list_types(actor: Actor, subject: int) -> list[str]:
    relay()
    feed = Feed(actor, LogSubscription(subject=subject))
    return [event.type.partition(".")[2] for event in feed.rows.queryset()]


def live_through(post: Post) -> None:
    """Let a draft become public and be deleted in the end."""
    edit(post, title="A")
    edit(post, status="published")
    edit(post, title="B")
    edit(post, status="draft")
    edit(post, title="C")
    services.delete_post(actor=OPERATOR, post_id=str(post.pk))


WHOLE_LIFE = ["created", "updated", "published", "updated", "unpublished", "updated", "deleted"]


def test_everybody_sees_the_public_part_of_a_life() -> None:
    post = make_post(status="draft")
    pk = post.pk
    live_through(post)

    assert list_types(ANONYMOUS, pk) == ["published", "updated", "unpublished"]
    assert list_types(make_actor(Role.READER), pk) == ["published", "updated", "unpublished"]


def test_author_coauthor_and_editor_see_the_whole_life() -> None:
    author, coauthor = make_author(), make_author()
    mine, joint = make_actor(Role.AUTHOR, author=author), make_actor(Role.AUTHOR, author=coauthor)
    post = make_post(status="draft", author=author, coauthor_ids=[coauthor.pk])
    pk = post.pk
    live_through(post)

    for actor in (mine, joint, make_actor(Role.EDITOR)):
        assert list_types(actor, pk) == WHOLE_LIFE
    assert list_types(make_actor(Role.AUTHOR), pk) == ["published", "updated", "unpublished"]


def test_new_author_sees_a_draft_from_the_change_on_and_the_old_one_up_to_it() -> None:
    old, new = make_author(), make_author()
    before, after = make_actor(Role.AUTHOR, author=old), make_actor(Role.AUTHOR, author=new)
    post = make_post(status="draft", author=old)
    edit(post, author_id=str(new.pk))
    edit(post, title="New")

    assert list_types(before, post.pk) == ["created", "updated"]
    assert list_types(after, post.pk) == ["updated", "updated"]


def test_both_authors_see_the_one_event_of_several_changes() -> None:
    old, new = make_author(), make_author()
    post = make_post(status="draft", author=old)
    with merge_events(post.pk):
        edit(post, author_id=str(new.pk))
        edit(post, title="New")

    for author, types in ((old, ["created", "updated"]), (new, ["updated"])):
        assert list_types(make_actor(Role.AUTHOR, author=author), post.pk) == types


@pytest.mark.parametrize("status", ["draft", "published"])
def test_comment_is_announced_to_everybody_on_a_public_post_alone(status: str) -> None:
    author = make_author()
    moderator = make_actor(Role.AUTHOR, author=author)
    comment = make_comment(make_post(status=status, author=author))
    Comment.objects.filter(pk=comment.pk).update(state="hidden", state_changed_at=timezone.now())
    Comment.objects.filter(pk=comment.pk).update(state="deleted")

    assert list_types(ANONYMOUS, comment.pk) == ([] if status == "draft" else ["created", "hidden"])
    assert list_types(moderator, comment.pk) == ["created", "hidden", "deleted"]
    assert list_types(make_actor(Role.AUTHOR), comment.pk) == ([] if status == "draft" else ["created", "hidden"])
    assert {event.parent_id for event in Event.objects.filter(subject_id=comment.pk)} == {comment.post_id}


def test_email_of_an_author_is_announced_to_those_who_see_it() -> None:
    author = make_author()
    mine = make_actor(Role.READER, author=author)
    Author.objects.filter(pk=author.pk).update(email="new@example.invalid")

    assert list_types(ANONYMOUS, author.pk) == ["created"]
    assert list_types(make_actor(Role.AUTHOR), author.pk) == ["created"]
    assert list_types(make_actor(Role.EDITOR), author.pk) == ["created", "updated"]
    assert list_types(mine, author.pk) == ["created", "updated"]


def test_orders_and_users_are_announced_to_their_user_and_to_admins() -> None:
    reader, admin = make_actor(Role.READER), make_actor(Role.ADMIN)
    order = make_order(user_id=reader.user_id)
    assert reader.user_id is not None

    for subject in (order.pk, reader.user_id):
        seen = {name: list_types(actor, subject) for name, actor in {"self": reader, "admin": admin}.items()}
        assert seen == {"self": ["created"], "admin": ["created"]}
        for stranger in (ANONYMOUS, make_actor(Role.READER), make_actor(Role.EDITOR)):
            assert list_types(stranger, subject) == []


def test_email_is_not_mentioned_beside_what_everybody_sees() -> None:
    author = make_author()
    Author.objects.filter(pk=author.pk).update(name="New", email="new@example.invalid")
    relay()

    assert Event.objects.get(subject_id=author.pk, type="author.updated").changes == ["name"]


@pytest.mark.parametrize("status", ["draft", "published"])
@pytest.mark.parametrize("use", ["cover", "text"])
def test_changes_of_an_image_are_announced_to_everybody_if_a_public_post_has_it(use: str, status: str) -> None:
    image = make_image()
    make_post(status=status, **({"cover_id": image.pk} if use == "cover" else {"image_ids": [image.pk]}))
    services.edit_image(actor=OPERATOR, image_id=str(image.pk), changes={"alt": "New"})
    services.delete_image(actor=OPERATOR, image_id=str(image.pk), force=True)

    assert list_types(ANONYMOUS, image.pk) == (["updated", "deleted"] if status == "published" else [])


def test_images_are_announced_to_those_who_write() -> None:
    image = make_image()

    assert list_types(make_actor(Role.AUTHOR), image.pk) == ["created"]
    assert list_types(ANONYMOUS, image.pk) == list_types(make_actor(Role.READER), image.pk) == []


def test_event_shows_the_present_object_and_hides_what_is_hidden_now(gql: GraphQL) -> None:
    query = """query ($id: ID!) { events(subject: $id, types: ["post.published"]) {
      edges { node { version ... on PostEvent { post { title } } } } } }"""
    post = make_post(status="draft")
    edit(post, title="A", status="published")
    edit(post, title="B")
    relay()
    public = gql(query, id=str(post.pk)).data
    edit(post, status="draft", title="Secret")

    hidden, seen = gql(query, id=str(post.pk)).data, gql(query, actor=make_actor(Role.EDITOR), id=str(post.pk)).data

    assert public == {"events": {"edges": [{"node": {"version": "2", "post": {"title": "B"}}}]}}
    assert hidden == {"events": {"edges": [{"node": {"version": "2", "post": None}}]}}
    assert seen == {"events": {"edges": [{"node": {"version": "2", "post": {"title": "Secret"}}}]}}
