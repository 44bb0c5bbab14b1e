"""The rules for images. A user who writes posts may use all images; others those of the posts that they may see."""

from django.apps import apps
from django.db.models import Exists, F, OuterRef, Q

from blog.policy.posts import readable_posts
from contentapi.core.identity import Actor, Scope
from contentapi.core.policy import EVERYTHING, NOTHING, get_reach
from contentapi.db.arrays import ContainsValue


def may_upload_images(actor: Actor) -> bool:
    return actor.has(Scope.IMAGES_WRITE)


def may_list_images(actor: Actor) -> bool:
    """Whether the actor may list all images, also those of others: to use and to find them again."""
    return actor.has(Scope.IMAGES_WRITE)


def may_change_images_of(actor: Actor, owner_id: int | None) -> bool:
    """Whether the actor may change, delete and restore the images that this user has uploaded."""
    return get_reach(actor, Scope.IMAGES_WRITE).includes(owner_id)


def may_purge_images(actor: Actor) -> bool:
    """Whether the actor may process images, and delete for good what was deleted long ago, as the worker does."""
    return get_reach(actor, Scope.IMAGES_WRITE).of_everybody


def editable_images(actor: Actor) -> Q:
    """With `images:write` the actor's own images; for editors and admins all images."""
    return get_reach(actor, Scope.IMAGES_WRITE).build_condition(lambda user_id: Q(owner_id=user_id))


def visible_images(actor: Actor) -> Q:
    """For a user who writes posts or images all images; for others those of the posts that they may see."""
    if actor.has(Scope.IMAGES_WRITE) or actor.has(Scope.POSTS_WRITE):
        return EVERYTHING
    posts = apps.get_model("blog", "Post")._base_manager.filter(readable_posts(actor))  # noqa: SLF001 - a public name
    used = Q(cover_id=OuterRef("pk")) | Q(ContainsValue(F("image_ids"), OuterRef("pk")))
    return Q(Exists(posts.filter(used)))


def visible_image_events(actor: Actor) -> Q:
    """Users with the scope to write posts or images may see the events of all images."""
    return EVERYTHING if actor.has(Scope.IMAGES_WRITE) or actor.has(Scope.POSTS_WRITE) else NOTHING
