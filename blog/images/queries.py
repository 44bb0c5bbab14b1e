"""Reads of images: the rows that an actor may see, and how each field of the SDL is read."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import F, OuterRef, Q, QuerySet, TextField

from blog.images.addresses import build_srcset_expression, build_url
from blog.models import Image, Post
from blog.selectors.posts import select_listed_posts
from contentapi.core import policy
from contentapi.core.errors import Malformed
from contentapi.core.identity import Actor
from contentapi.core.pagination import Position, parse_id
from contentapi.db.arrays import ContainsValue
from contentapi.projection import (
    NEWEST_FIRST,
    OLDEST_FIRST,
    Annotation,
    Calculated,
    Connection,
    ConnectionQuery,
    ConnectionType,
    Ordering,
    Projection,
    RelayType,
    Rows,
    SameRowAsType,
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


def find_images(actor: Actor, ids: Sequence[int]) -> QuerySet[Image]:
    """Return those of the images with these ids that the actor may see."""
    return Image.objects.filter(policy.visible_images(actor), pk__in=ids, deleted_at=None)


def require_list(actor: Actor) -> None:
    policy.require_permission(actor, policy.may_list_images(actor), "list all images")


def select_editable_images(actor: Actor) -> QuerySet[Image]:
    """Return the images that the actor may change: those of the desk, also deleted ones."""
    return Image.objects.filter(policy.editable_images(actor))


def select_posts_with_image(_: QuerySet[Post], actor: Actor) -> QuerySet[Post]:
    posts = select_listed_posts(actor, status=None, author=None)
    return posts.filter(build_use_condition(OuterRef("pk")))


def build_use_condition(pk: Any) -> Q:
    """Return the condition on the posts whose cover or text has an image."""
    return Q(cover_id=pk) | Q(ContainsValue(F("image_ids"), pk))


def validate_width(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    width = arguments.get("width")
    if width is not None and width < 1:
        raise Malformed(f"width must be 1 or more (got {width}).")
    return arguments


IMAGE = Projection(
    "Image",
    Image,
    {
        "id": "id",
        "name": "name",
        "alt": "alt",
        "caption": "caption",
        "credit": "credit",
        "contentType": "content_type",
        "size": "size",
        "width": "width",
        "height": "height",
        "focalPoint": SameRowAsType(),
        "thumbhash": "thumbhash",
        "status": "status",
        "rejection": "rejection",
        "url": Calculated(build_url, validate_width),
        "srcset": Calculated(build_srcset_expression),
        "usedBy": Connection(Post, select_posts_with_image),
        "version": "version",
        "createdAt": "created_at",
    },
)
FOCAL_POINT = Projection("FocalPoint", Image, {"x": "focal_x", "y": "focal_y"})
POST_IMAGE = Projection("PostImage", Image, {"image": SameRowAsType(), "alt": Annotation("place_alt", TextField())})
IMAGE_CONNECTION = ConnectionType(IMAGE)
PROJECTIONS: list[Projection | RelayType] = [
    *(IMAGE, FOCAL_POINT, POST_IMAGE, IMAGE_CONNECTION, IMAGE_CONNECTION.edge),
    *(Projection(f"{act}ImagePayload", Image, {"image": SameRowAsType()}) for act in ("Update", "Restore")),
    Projection("CompleteUploadPayload", Image, {"image": SameRowAsType()}),
]
