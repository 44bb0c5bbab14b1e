"""The library: which images it lists, in which order, and what it shows of each."""

import re
from functools import reduce
from operator import or_

from django.db.models import Exists, Func, OuterRef, Q, QuerySet
from django.db.models.fields.json import KT
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from blog import policy
from blog.models import IS_UNRENDERED, Image, ImageStatus, Post, WorkingCopy
from contentapi.conf import conf
from contentapi.conf.timeouts import RESTORABLE_FOR
from contentapi.core.identity import Actor
from contentapi.desk.lists import ORDER, BoundedList, build_state_filter
from contentapi.events.declarations import list_uses

SHOW = "show"  # the parameter of the filter
UNUSED, WITHOUT_TEXT, DELETED = "unused", "without-text", "deleted"
TABS = {"All": "", "Unused": UNUSED, "Without text": WITHOUT_TEXT, "Deleted": DELETED}
ORDERS = {"Newest": "", "Oldest": "show_created_at", "Largest": "-show_size", "Smallest": "show_size"}
THUMBNAIL = 320  # pixels of width, at least
SEARCHED = ("name", "alt", "caption", "credit")
MOST_WORDS = 10  # of a search
MENTION = re.compile(r"image:([0-9]{1,18})(?![0-9])")


def select_used(images: QuerySet[Image], chosen: str) -> QuerySet[Image]:
    """Return images without a use, without a text, or deleted ones; by default all but deleted ones."""
    if chosen == DELETED:
        return images.exclude(deleted_at=None)
    present = images.filter(deleted_at=None)
    if chosen == UNUSED:
        return filter_unused(present)
    return present.filter(alt="") if chosen == WITHOUT_TEXT else present


ImageFilter = build_state_filter("use", SHOW, [(value, label) for label, value in TABS.items() if value], select_used)


class ImageList(BoundedList):
    """A list with links to its filters and its orders."""

    @property
    def tabs(self) -> list[tuple[str, str, bool]]:
        return self.build_links(SHOW, TABS)

    @property
    def orders(self) -> list[tuple[str, str, bool]]:
        """Return the links to the orders. Django numbers the columns of a list, with that of the boxes."""
        numbers = {
            label: re.sub(r"\w+", lambda name: str(self.list_display.index(name[0])), column)
            for label, column in ORDERS.items()
        }
        return self.build_links(ORDER, numbers)


def select_library(actor: Actor) -> QuerySet[Image]:
    """Return all images, and those that were deleted and that the actor may restore."""
    is_restorable = policy.editable_images(actor) & Q(deleted_at__gt=timezone.now() - RESTORABLE_FOR)
    return Image.objects.filter(Q(deleted_at=None) | is_restorable)


def filter_unused(images: QuerySet[Image]) -> QuerySet[Image]:
    """Return those of the images that no post uses, no changes that readers do not see, and no row of an own type."""
    covers = Post.objects.exclude(cover_id=None).values("cover_id").distinct()
    shown = Post.objects.exclude(image_ids=None).values(image=Func("image_ids", function="unnest")).distinct()
    used = reduce(or_, (Q(Exists(use.select(OuterRef("pk")))) for use in list_uses("Image")), Q(pk__in=()))
    return images.exclude(pk__in=list_mentioned()).exclude(pk__in=covers).exclude(pk__in=shown).exclude(used)


def list_mentioned() -> set[int]:
    """Return the ids of the images in texts that are not rendered: working copies, and posts that wait for it."""
    copies = WorkingCopy.objects.annotate(body=KT("content__body"))
    covers = copies.values_list("content__cover_id", flat=True)
    bodies = [
        *copies.filter(body__contains="image:").values_list("body", flat=True),
        *Post.objects.filter(IS_UNRENDERED, body__contains="image:").values_list("body", flat=True),
    ]
    return {*filter(None, covers), *(int(pk) for body in bodies for pk in MENTION.findall(body))}


def search_images(images: QuerySet[Image], text: str) -> QuerySet[Image]:
    """Return those of the images that have each of the first words in their name or in one of their texts."""
    for word in text.split()[:MOST_WORDS]:
        images = images.filter(Q.create([(f"{name}__folded", word) for name in SEARCHED], connector=Q.OR))
    return images


def get_variant_url(image: Image, width: int) -> str:
    """Return the address of the narrowest variant with this width or more, or of the widest; empty without files.

    It has no host for a file of this server: the page may be open under another origin than `conf.origin`.
    """
    if not image.widths:
        return ""
    name = image.name_file(f"{image.choose_width(width)}.{image.formats[0]}")
    return f"{conf.environment.contentapi_media_url}/{name}"


def render_thumbnail(image: Image) -> SafeString:
    """Return the image as HTML, without a text, for places that also have its name; or why there is none."""
    address = get_variant_url(image, THUMBNAIL)
    if address:
        html = '<img class="image-thumbnail" src="{}" width="{}" height="{}" loading="lazy" alt="">'
        return format_html(html, address, image.width, image.height)
    reason = "Rejected" if image.status == ImageStatus.REJECTED else "Being processed"
    return format_html('<span class="image-thumbnail">{}</span>', "Deleted" if image.deleted_at else reason)


def describe_size(image: Image) -> str:
    """Return the size of the original: `4000 by 3000 pixels, 2.1 MB`."""
    pixels = f"{image.width} by {image.height} pixels, " if image.width else ""
    size = f"{image.size / 10**6:.1f} MB" if image.size >= 10**6 else f"{max(1, round(image.size / 1000))} kB"
    return f"{pixels}{size}"
