"""Reads of images."""

from collections.abc import Sequence

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.fields.json import KT

from blog import policy
from blog.models import IS_UNRENDERED, Image, Post, WorkingCopy
from blog.selectors.posts import select_previewed_posts
from contentapi.core.identity import Actor
from contentapi.core.pagination import Position, parse_id
from contentapi.core.policy import require_permission
from contentapi.events.declarations import list_uses
from contentapi.projection import NEWEST_FIRST, OLDEST_FIRST, Ordering, Rows, paginate, parametrised

IMAGE_SORT_FIELDS = {"createdAt": OLDEST_FIRST, "size": Ordering("size")}


@parametrised(Image, pk=parse_id)
def select_image_by_id(actor: Actor, *, pk: int) -> QuerySet[Image]:
    """Return the image with this id, or no image."""
    return Image.objects.filter(build_visible_condition(actor), pk=pk, deleted_at=None)


def build_visible_condition(actor: Actor) -> Q:
    """Return the condition on the images that the actor may see: with a preview, also those of the texts it shows."""
    visible = policy.visible_images(actor)
    if actor.preview is None:
        return visible
    previewed = select_previewed_posts(actor).filter(policy.build_use_condition(OuterRef("pk")))
    return visible | Q(Exists(previewed))


def select_images(actor: Actor, after: Position | None = None) -> Rows[Image]:
    """Return all images, the newest first, from after a position. Raises `Unauthenticated` and `Forbidden`."""
    require_permission(actor, policy.may_list_images(actor), "list all images")
    return select_listed_images(actor, after=after)


@parametrised(Image)
def select_listed_images(_: Actor, *, after: str | None = None, after_pk: int | None = None) -> QuerySet[Image]:
    images = Image.objects.filter(deleted_at=None).order_by(*NEWEST_FIRST.terms())
    return images if after is None else images.filter(NEWEST_FIRST.beyond(after, after_pk))


select_images_page = paginate("images", select_images, NEWEST_FIRST)


def find_images(actor: Actor, ids: Sequence[int]) -> QuerySet[Image]:
    """Return those of the images with these ids that the actor may see."""
    return select_seen_images(Image.objects.filter(pk__in=ids), actor)


def select_seen_images(images: QuerySet[Image], actor: Actor) -> QuerySet[Image]:
    """Return those of the images that the actor may see, and so may name."""
    return images.filter(build_visible_condition(actor), deleted_at=None)


def select_kept_images(images: QuerySet[Image], _: Actor) -> QuerySet[Image]:
    """Return the images that are not deleted. A caller that may read an object may also see its images."""
    return images.filter(deleted_at=None)


def list_posts_with_image(pk: int) -> list[int]:
    """Return the ids of the posts that use an image: in what is shown, in a text not rendered yet, or in a copy."""
    mention = rf"image:{pk}([^0-9]|$)"
    used = policy.build_use_condition(pk) | (IS_UNRENDERED & Q(body__regex=mention))
    posts = Post.objects.filter(used).values_list("pk", flat=True)
    copied = WorkingCopy.objects.annotate(body=KT("content__body"))
    copies = copied.filter(Q(body__regex=mention) | Q(content__cover_id=pk)).values_list("pk", flat=True)
    return sorted({*posts, *copies})


def is_required(pk: int) -> bool:
    """Return whether a row of an own type cannot do without an image."""
    return any(use.requiring(pk).exists() for use in list_uses("Image"))


def select_seen_posts(actor: Actor, ids: Sequence[int]) -> QuerySet[Post]:
    """Return those of the posts that the actor may see, without their texts."""
    return Post.objects.filter(policy.visible_posts(actor), pk__in=ids).order_by("pk").only("pk", "title", "status")
