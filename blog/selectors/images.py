"""Reads of images."""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet

from blog.models import Image
from contentapi.core import policy
from contentapi.core.identity import Actor
from contentapi.core.pagination import Position, parse_id
from contentapi.projection import (
    NEWEST_FIRST,
    OLDEST_FIRST,
    ConnectionQuery,
    Ordering,
    Rows,
    build_ordered_connection,
    parametrised,
)

IMAGE_SORT_FIELDS = {"createdAt": OLDEST_FIRST, "size": Ordering("size")}


def select_image_by_id(actor: Actor, image_id: str) -> Rows[Image]:
    """Return the image with this id, or no image."""
    return select_visible_image(actor, pk=parse_id(image_id))


@parametrised(Image)
def select_visible_image(actor: Actor, *, pk: int) -> QuerySet[Image]:
    return Image.objects.filter(policy.visible_images(actor), pk=pk, deleted_at=None)


def select_images(actor: Actor, after: Position | None = None) -> Rows[Image]:
    """Return all images, the newest first, from after a position. Raises `Unauthenticated` and `Forbidden`."""
    require_list(actor)
    return select_listed_images(actor, after=after and after.value, after_pk=after and after.id)


@parametrised(Image)
def select_listed_images(_: Actor, *, after: str | None, after_pk: int | None) -> QuerySet[Image]:
    images = Image.objects.filter(deleted_at=None).order_by(*NEWEST_FIRST.terms())
    return images if after is None else images.filter(NEWEST_FIRST.beyond(after, after_pk))


def build_images_connection(actor: Actor, *, order_by: Ordering | None = None, **window: Any) -> ConnectionQuery:
    """Return a page of all images; the newest first without an order. Raises `Malformed`, and for a missing scope."""
    require_list(actor)
    images = select_listed_images(actor, after=None, after_pk=None)
    return build_ordered_connection("images", images, order_by or NEWEST_FIRST, **window)


def require_list(actor: Actor) -> None:
    policy.require_permission(actor, policy.may_list_images(actor), "list all images")


def find_images(actor: Actor, ids: Sequence[int]) -> QuerySet[Image]:
    """Return those of the images with these ids that the actor may see."""
    return Image.objects.filter(policy.visible_images(actor), pk__in=ids, deleted_at=None)


def select_editable_images(actor: Actor) -> QuerySet[Image]:
    """Return the images that the actor may change: those of the desk, also deleted ones."""
    return Image.objects.filter(policy.editable_images(actor))
