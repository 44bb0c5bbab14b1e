"""The addresses of the files of an image, in Python and in SQL: `media/<id>-<key>/<width>.<extension>`."""

from typing import Any

from django.db.models import Expression, F, TextField

from blog.images.formats import ImageFormat, list_variants
from blog.models import Image
from contentapi.core.keyed_hash import compute_keyed_hash
from contentapi.db.arrays import ArrayItem
from contentapi.db.literals import TextLiteral
from contentapi.media.access import get_media_url
from contentapi.media.storage import PUBLIC
from contentapi.projection import FormattedFunc, RawExpression

KEY = 16  # bytes of the part that nobody can guess


def compute_key(pk: int, version: int) -> str:
    """Return the key of the files that belong to a version of an image: another one than that of any other files."""
    return compute_keyed_hash("images", f"{pk}:{version}")[:KEY].hex()


def name_file(pk: int, key: str, name: str) -> str:
    """Return the name of a public file in the storage."""
    return f"{PUBLIC}{pk}-{key}/{name}"


def list_file_names(image: Image) -> list[str]:
    """Return the names of all public files of an image in the storage."""
    names = [image.original, *list_variants(image.widths, image.formats)] if image.original else []
    return [name_file(image.pk, image.key, name) for name in dict.fromkeys(names)]


def build_srcset(image: Image, extension: str) -> str:
    """Return the value of the HTML attribute for the variants with one extension."""
    start = f"{get_media_url()}/{name_file(image.pk, image.key, '')}"
    return ", ".join(f"{start}{width}.{extension} {width}w" for width in image.widths)


class OriginalUrl(FormattedFunc):
    """'https://…/media/' || "id" || '-' || "key" || '/' || nullif("original", '')"""

    template = "({} || {} || '-' || {} || '/' || nullif({}, ''))"
    output_field = TextField()


class VariantUrl(FormattedFunc):
    """The address of the narrowest variant that is as wide as wanted, or of the widest; null without this format."""

    template = (
        "({} || {} || '-' || {} || '/' || (SELECT coalesce(min(w) FILTER (WHERE w >= {}), max(w))"
        " FROM unnest({}) AS w) || '.' || {})"
    )
    output_field = TextField()


class Srcset(FormattedFunc):
    template = (
        "(SELECT coalesce(string_agg({} || {} || '-' || {} || '/' || w || '.' || {} || ' ' || w || 'w', ', '"
        " ORDER BY w), '') FROM unnest({}) AS w)"
    )
    output_field = TextField()


def build_url(*, width: Any, format: ImageFormat | None) -> Expression:  # noqa: A002 - the name in the SDL
    if width is None:
        return OriginalUrl(*list_address_parts(), F("original"))
    return VariantUrl(*list_address_parts(), width, F("widths"), select_extension(format))


def build_srcset_expression(*, format: ImageFormat | None) -> Expression:  # noqa: A002
    return Srcset(*list_address_parts(), select_extension(format), F("widths"))


def list_address_parts() -> list[Any]:
    return [TextLiteral(f"{get_media_url()}/{PUBLIC}"), F("id"), F("key")]


def select_extension(format: ImageFormat | None) -> Expression:  # noqa: A002
    """Return the extension of the files of a format: `formats` has one for each, in this order, as far as made."""
    place = [*ImageFormat].index(format or ImageFormat.WEBP) + 1
    return ArrayItem(F("formats"), RawExpression(str(place)), output_field=TextField())
