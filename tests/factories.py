"""Functions that create valid objects for tests. Arguments override the default values of fields."""

import secrets
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from django.utils import timezone

from blog.models import CONTENT, Author, Comment, Image, Post, PostStatus, PreviewLink, PreviewMode, WorkingCopy
from contentapi.core.identity import ROLE_SCOPES, Actor, Role, Scope
from orders.models import Order
from users.models import User

NUMBERS = count(1)


def make_user(role: Role = Role.READER, **values: Any) -> User:
    number = next(NUMBERS)
    return User.objects.create(
        **{"email": f"person{number}@example.invalid", "name": f"Person {number}", "role": role, **values}
    )


def make_author(**values: Any) -> Author:
    return Author.objects.create(**{"name": f"Author {next(NUMBERS)}", **values})


def make_post(**values: Any) -> Post:
    values.setdefault("author", None)
    values["author"] = values["author"] or make_author()
    number = next(NUMBERS)
    return Post.objects.create(
        **{
            "title": f"Title {number}",
            "slug": f"chosen-{number}",
            "body": "Text.",
            "status": PostStatus.PUBLISHED,
            **values,
        }
    )


def make_working_copy(post: Post, *, publish_at: datetime | None = None, **content: Any) -> WorkingCopy:
    values = {name: getattr(post, name) for name in CONTENT} | content
    number = 1000 + next(NUMBERS)  # a version that no test calls outdated
    return WorkingCopy.objects.create(
        post=post, content=values, base_version=post.version, version=number, publish_at=publish_at
    )


def make_preview_link(post: Post, **values: Any) -> PreviewLink:
    """Return a link whose token nobody has."""
    owner = {} if "maker" in values else {"maker_id": 0}
    expires_at = timezone.now() + timedelta(days=1)
    defaults = {"mode": PreviewMode.LATEST, "digest": secrets.token_bytes(32), "expires_at": expires_at}
    return PreviewLink.objects.create(**{"post": post, **owner, **defaults, **values})


def make_comment(post: Post, **values: Any) -> Comment:
    return Comment.objects.create(**{"post": post, "author": post.author, "body": "Well said.", **values})


def make_order(**values: Any) -> Order:
    if "user" not in values:
        values["user"] = make_user()
    return Order.objects.create(**{"total": "1.00", **values})


def make_order_in(status: str, **values: Any) -> Order:
    """Return an order in a state, with the tracking and the times that the state needs."""
    if status in ("shipped", "delivered"):
        values = {"carrier": "Harbour Post", "tracking_number": "HP-1", "shipped_at": timezone.now(), **values}
    if status == "delivered":
        values = {"delivered_at": timezone.now(), **values}
    return make_order(status=status, **values)


def get_user(actor: Actor) -> User:
    """Return the user of an actor that has one."""
    assert actor.user_id is not None
    return User.objects.get(pk=actor.user_id)


def make_actor(role: Role, *, scopes: set[Scope] | None = None, author: Author | None = None) -> Actor:
    """Return the actor of a new user. With `author`, the user gets this author profile."""
    user = make_user(role)
    if author is not None:
        author.user = user
        author.save()
    return Actor(
        user_id=user.pk,
        role=role,
        scopes=ROLE_SCOPES[role] if scopes is None else frozenset(scopes),
        credential="api-key",
    )


def make_image(**values: Any) -> Image:
    """Return an image that the worker has not processed yet. There is no file."""
    number = next(NUMBERS)
    defaults = {"name": f"image{number}.jpg", "alt": f"Image {number}", "content_type": "image/jpeg", "size": 1000}
    key = {"key": "0" * 32} if values.get("status") == "ready" else {}
    return Image.objects.create(
        **{**defaults, "sha256": secrets.token_bytes(32), "source": f"uploads/{number}", **key, **values}
    )
