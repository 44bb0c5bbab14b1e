"""Projections of images, and the addresses of their files in SQL: `media/<id>-<key>/<width>.<extension>`."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Expression, F, OuterRef, QuerySet, TextField
from django.db.models.functions import Coalesce, NullIf

from blog import policy
from blog.models import MAX_IMAGES, Image, ImageFormat, Post
from blog.projections.rows import select_listed_posts
from contentapi.core.errors import Malformed
from contentapi.core.identity import Actor
from contentapi.db.expressions import ArrayItem, TextLiteral
from contentapi.media.access import get_media_url
from contentapi.media.storage import PUBLIC
from contentapi.projection import (
    Annotation,
    Calculated,
    Connection,
    ConnectionType,
    FormattedFunc,
    Projection,
    RawExpression,
    RelayType,
    SameRowAsType,
)


class OriginalUrl(FormattedFunc):
    """'https://…/media/' || "id" || '-' || "key" || '/' || nullif("original", '')"""

    template = "({0} || {1} || '-' || {2} || '/' || nullif({3}, ''))"
    output_field = TextField()


class VariantUrl(FormattedFunc):
    """The address of the narrowest variant that is as wide as wanted, or of the widest; null without this format.

    `width_bucket` counts the narrower variants: the widths are in ascending order.
    """

    template = (
        "({0} || {1} || '-' || {2} || '/' || coalesce(({4})[width_bucket({3}::int - 1, {4}) + 1],"
        " ({4})[cardinality({4})]) || '.' || {5})"
    )
    output_field = TextField()


class Srcset(FormattedFunc):
    """The addresses of all variants of a format, by an expression without a subquery; empty without this format."""

    template = (
        r"coalesce(regexp_replace(array_to_string({4}, ', '), '\d+',"
        r" {0} || {1} || '-' || {2} || '/\&.' || {3} || ' \&w', 'g'), '')"
    )
    output_field = TextField()


def build_url(*, width: Any, format: ImageFormat | None) -> Expression:  # noqa: A002 - the name in the SDL
    if width is None:
        return OriginalUrl(*list_address_parts(), F("original"))
    return VariantUrl(*list_address_parts(), width, F("widths"), select_extension(format))


def build_srcset(*, format: ImageFormat | None) -> Expression:  # noqa: A002
    return Srcset(*list_address_parts(), select_extension(format), F("widths"))


def list_address_parts() -> list[Any]:
    return [TextLiteral(f"{get_media_url()}/{PUBLIC}"), F("id"), F("key")]


def select_extension(format: ImageFormat | None) -> Expression:  # noqa: A002
    """Return the extension of the files of a format: null if the image has none of this format."""
    place = [*ImageFormat].index(format or ImageFormat.WEBP) + 1
    return ArrayItem(F("formats"), RawExpression(str(place)), output_field=TextField())


def validate_width(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    width = arguments.get("width")
    if width is not None and width < 1:
        raise Malformed(f"width must be 1 or more (got {width}).")
    return arguments


def select_posts_with_image(_: QuerySet[Post], actor: Actor) -> QuerySet[Post]:
    return select_listed_posts(actor).filter(policy.build_use_condition(OuterRef("pk")))


def select_images_of_text(images: QuerySet[Image], _: Actor) -> QuerySet[Image]:
    """Return the images of a text, as many as a text may name: one from before this limit may have more."""
    return annotate_place(images, ArrayItem(OuterRef("image_alts"), F("place"), output_field=TextField()))[:MAX_IMAGES]


def annotate_place(images: QuerySet[Image], text: Any) -> QuerySet[Image]:
    """Return the images that are not deleted, with their texts in a place of a post, or else their own."""
    alt = Coalesce(NullIf(text, TextLiteral("")), "alt", output_field=TextField())
    return images.filter(deleted_at=None).annotate(place_alt=alt)


IMAGE = Projection(
    "Image",
    Image,
    {
        "focalPoint": SameRowAsType(),
        "url": Calculated(build_url, validate_width),
        "srcset": Calculated(build_srcset),
        "usedBy": Connection(Post, select_posts_with_image),
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
