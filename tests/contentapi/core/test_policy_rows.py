"""The rows that each read form of the permission rules selects."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from operator import attrgetter
from typing import Any

import pytest
from django.db.models import Model
from hypothesis import given, settings
from hypothesis import strategies as st

from blog.models import Author, Comment, Image, ImportJob, Post, PostStatus, PostVersion, PreviewLink, WorkingCopy
from contentapi.core.identity import OPERATOR, ROLE_SCOPES, Actor, Role, Scope
from contentapi.events.models import Event
from contentapi.events.webhooks.models import Webhook
from orders.models import Order
from tests import factories
from tests.contentapi.core import all_policies as policy
from tests.contentapi.core.policy_actors import ACTORS, NOBODYS, actor
from tests.event_log import relay
from tests.thoroughness import scale_examples
from tests.webhook_rows import make_webhook
from users.models import ApiKey, User
from users.services import create_api_key

EDITORIAL, ADMINS = {Role.EDITOR, Role.ADMIN}, {Role.ADMIN}
DRAFTS = {Scope.POSTS_READ, Scope.POSTS_WRITE}
ON_POST = "post.author.user_id"


def reaches(who: Actor, scope: Scope, owner_id: int | None, *, of_everybody_for: set[Role]) -> bool:
    """The table in docs/authentication.md: whether the actor may see what this user owns."""
    if scope not in who.scopes or who.role is None or scope not in ROLE_SCOPES[who.role]:
        return False
    return who.role in of_everybody_for or (owner_id is not None and owner_id == who.user_id)


def compare(
    scopes: set[Scope], of_everybody_for: set[Role], may: Callable[..., bool], owner: str
) -> Callable[[Actor, Any], bool]:
    """Return the rule for a row by the table, which needs all scopes. It is compared with a rule of the policy.

    `owner` is the path of the user's id in the row.
    """

    def may_by_table(who: Actor, row: Any) -> bool:
        owner_id = attrgetter(owner)(row)
        by_table = all(reaches(who, scope, owner_id, of_everybody_for=of_everybody_for) for scope in scopes)
        assert may(who, owner_id) is by_table
        return by_table

    return may_by_table


@cache
def get_user_id(author_id: int) -> int | None:
    """Return the user of an author, whom no test changes. No later author of another test has the same id."""
    return Author.objects.get(pk=author_id).user_id


@cache
def list_posts_with_cover(image_id: int) -> list[Post]:
    return [*Post.objects.filter(cover_id=image_id)]


def may_see_post(who: Actor, post: Post) -> bool:
    writer_ids = [get_user_id(author_id) for author_id in (post.author_id, *post.coauthor_ids)]
    by_table = post.status == PostStatus.PUBLISHED or any(
        reaches(who, Scope.POSTS_READ, user_id, of_everybody_for=EDITORIAL) for user_id in writer_ids
    )
    assert policy.may_see_post(who, writer_ids, post.status) is by_table
    return by_table


# Whether the actor may delete a comment for being on the post; one's own comments are a rule of their own.
may_moderate = compare(
    {Scope.COMMENTS_MODERATE}, EDITORIAL, lambda who, owner: policy.may_delete_comment_of(who, NOBODYS, owner), ON_POST
)


def may_know(who: Actor, comment: Comment) -> bool:
    by_table = comment.state == "visible" or may_moderate(who, comment)
    assert policy.may_see_comment(who, comment.state, comment.post.author.user_id) is by_table
    return by_table


def may_see_import(who: Actor, job: ImportJob) -> bool:
    may_import = {Scope.POSTS_WRITE, Scope.POSTS_PUBLISH} <= set(who.scopes) and who.role in (Role.EDITOR, Role.ADMIN)
    return may_import and (who.role == Role.ADMIN or who.user_id == job.owner_id)


def may_see_image(who: Actor, image: Image) -> bool:
    writes = {scope for scope in (Scope.POSTS_WRITE, Scope.IMAGES_WRITE) if who.has(scope)}
    return bool(writes) or any(may_see_post(who, post) for post in list_posts_with_cover(image.pk))


EVENT_SCOPES = {
    "post": Scope.POSTS_READ,
    "comment": Scope.COMMENTS_MODERATE,
    "author": Scope.AUTHORS_READ,
    "order": Scope.ORDERS_READ,
    "user": Scope.USERS_READ,
}


def may_see_event(who: Actor, event: Event) -> bool:
    kind = event.type.partition(".")[0]
    if event.is_public or not who.has(Scope.EVENTS_READ):
        return event.is_public
    if kind == "image":
        return who.has(Scope.IMAGES_WRITE) or who.has(Scope.POSTS_WRITE)
    owners: list[int | None] = [*event.owner_ids]
    if kind in ("post", "comment"):
        owners = [get_user_id(author_id) for author_id in event.owner_ids]
    everybody = ADMINS if kind in ("order", "user") else EDITORIAL
    return any(reaches(who, EVENT_SCOPES[kind], owner, of_everybody_for=everybody) for owner in [*owners, None])


def may_see_actor(who: Actor, event: Event) -> bool:
    return reaches(who, Scope.USERS_READ, event.actor_id, of_everybody_for=ADMINS)


def may_see_webhook(who: Actor, _: Webhook) -> bool:
    by_table = who.role == Role.ADMIN and Scope.WEBHOOKS_MANAGE in who.scopes
    assert policy.may_manage_webhooks(who) is by_table
    return by_table


# Each read form, with the rule for one row.
READ_FORMS: dict[str, tuple[type[Model], Callable[[Actor, Any], bool]]] = {
    "visible_posts": (Post, may_see_post),
    "visible_deleted_posts": (PostVersion, compare(DRAFTS, EDITORIAL, policy.may_see_history_of, "author.user_id")),
    "visible_working_copies": (WorkingCopy, compare(DRAFTS, EDITORIAL, policy.may_see_history_of, ON_POST)),
    "visible_preview_links": (PreviewLink, compare(DRAFTS, EDITORIAL, policy.may_see_history_of, ON_POST)),
    "visible_imports": (ImportJob, may_see_import),
    "visible_author_emails": (Author, compare({Scope.AUTHORS_READ}, EDITORIAL, policy.may_see_author_email, "user_id")),
    "visible_orders": (Order, compare({Scope.ORDERS_READ}, ADMINS, policy.may_see_order, "user_id")),
    "writable_orders": (Order, compare({Scope.ORDERS_WRITE}, ADMINS, policy.may_write_orders_of, "user_id")),
    "visible_users": (User, compare({Scope.USERS_READ}, ADMINS, policy.may_see_user, "pk")),
    "visible_api_keys": (ApiKey, compare({Scope.USERS_WRITE}, ADMINS, policy.may_manage_keys_of, "user_id")),
    "visible_images": (Image, may_see_image),
    "visible_events": (Event, may_see_event),
    "visible_event_actors": (Event, may_see_actor),
    "visible_image_events": (Event, lambda who, _: who.has(Scope.IMAGES_WRITE) or who.has(Scope.POSTS_WRITE)),
    "editable_images": (Image, compare({Scope.IMAGES_WRITE}, EDITORIAL, policy.may_change_images_of, "owner_id")),
    "editable_posts": (Post, compare({Scope.POSTS_WRITE}, EDITORIAL, policy.may_write_posts_of, "author.user_id")),
    "editable_authors": (Author, compare({Scope.POSTS_WRITE}, EDITORIAL, policy.may_edit_author, "user_id")),
    "moderated_comments": (Comment, may_moderate),
    "known_comments": (Comment, may_know),
    "visible_webhooks": (Webhook, may_see_webhook),
}


def create_rows() -> list[int]:
    """Create posts with comments in every state, deleted posts, orders and webhooks, of two users and of no user.

    Return the ids of the users.
    """
    owners = [factories.make_user(Role.AUTHOR), factories.make_user(Role.READER), None]
    authors = [factories.make_author(user=owner) for owner in owners]
    for number, (owner, author) in enumerate(zip(owners, authors, strict=True)):
        factories.make_order(user=owner)
        factories.make_image(owner_id=owner and owner.pk)
        factories.make_post(author=author).delete()
        for status in PostStatus.values:
            publish_at = "2999-01-01T00:00Z" if status == "scheduled" else None
            cover_id = factories.make_image(owner_id=owner and owner.pk).pk
            post = factories.make_post(author=author, status=status, publish_at=publish_at, cover_id=cover_id)
            factories.make_working_copy(post)
            coauthor_ids = [authors[number - 1].pk, authors[number - 2].pk][: 1 + number % 2]
            joint = factories.make_post(author=author, status=status, publish_at=publish_at, coauthor_ids=coauthor_ids)
            factories.make_working_copy(joint)
            for shown in (post, joint):
                factories.make_preview_link(shown)
            for state in ("visible", "hidden", "deleted"):
                factories.make_comment(post, state=state, state_changed_at="2020-01-01T00:00Z")
        if owner:
            make_webhook(owner)
            create_api_key(actor=OPERATOR, email=owner.email, name="x")
            ImportJob.objects.create(owner=owner, file_name="x.zip", source="x", status="draft", total=1, ignored=0)
    relay()
    return [owner.pk for owner in owners if owner]


def test_every_read_form_is_compared_with_the_table() -> None:
    forms = ("visible_", "editable_", "writable_", "moderated_", "known_")
    assert {name for name in vars(policy) if name.startswith(forms)} == set(READ_FORMS)


@pytest.mark.property
@pytest.mark.django_db
def test_read_forms_select_exactly_the_rows_that_the_table_allows() -> None:
    user_ids = create_rows()
    rows = {model: list(model._default_manager.all()) for model, _ in READ_FORMS.values()}

    @settings(deadline=None, max_examples=scale_examples(300))
    @given(
        user_id=st.sampled_from([*user_ids, user_ids[0] + 10**9, None]),
        role=st.none() | st.sampled_from(Role),
        scopes=st.sets(st.sampled_from(Scope)) | st.just(set(Scope)),
    )
    def agree(user_id: int | None, role: Role | None, scopes: set[Scope]) -> None:
        require_rows_of_the_table(Actor(user_id=user_id, role=role, scopes=scopes), rows)

    agree()


def require_rows_of_the_table(who: Actor, rows: Mapping[type[Model], Sequence[Model]]) -> None:
    for rule, (model, may_see) in READ_FORMS.items():
        found = set(model._default_manager.filter(getattr(policy, rule)(who)))
        assert found == {row for row in rows[model] if may_see(who, row)}, rule


@pytest.mark.django_db
def test_role_sees_exactly_the_rows_that_the_table_allows(subtests: pytest.Subtests) -> None:
    [user_id, _] = create_rows()
    rows = {model: list(model._default_manager.all()) for model, _ in READ_FORMS.values()}

    for name in ACTORS:
        who = replace(actor(name), user_id=user_id if actor(name).user_id else None)
        with subtests.test(name):
            require_rows_of_the_table(who, rows)
            require_each_visible_post_once(who)
            for status in PostStatus.values:
                posts = Post.objects.filter(status=status)
                found = set(posts.filter(policy.split_visible_posts(who, status).condition))
                assert found == {post for post in posts if may_see_post(who, post)}, status


def require_each_visible_post_once(who: Actor) -> None:
    """Require that the split conditions select each visible post once."""
    visible = policy.split_visible_posts(who)
    conditions = [*visible.conditions, visible.coauthored]
    found = [post.pk for condition in conditions for post in Post.objects.filter(condition)]
    assert sorted(found) == sorted(post.pk for post in Post.objects.all() if may_see_post(who, post))
