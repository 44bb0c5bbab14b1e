"""Working copies in the history of their posts: their versions, what they change, and restoring.

Triggers write `CopyVersion` as they write `PostVersion`: a version is the row before a save, or before the copy was
discarded or published. The present version is the row of the working copy.
"""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import F, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Length

from blog import services
from blog.history import versions
from blog.history.versions import COLUMNS, EVENT_COLUMNS, PAGE, Comparison, VersionPage
from blog.models import CONTENT, POST_OWN, CopyVersion, Post, PostStatus, WorkingCopy
from contentapi.core.entity_tags import require_version
from contentapi.core.errors import NotFound
from contentapi.core.identity import Actor

SAVED = {"changed_at": F("updated_at"), "changed_by": F("updated_by"), "changed_with": Value("")}


def list_copies(*, actor: Actor, post_id: str, before: int | None = None, limit: int = PAGE) -> VersionPage:
    """Return the versions of the working copies of a post, the newest first. Raises `NotFound`."""
    pk = versions.find_history(actor, post_id)
    present, earlier = WorkingCopy.objects.filter(pk=pk), CopyVersion.objects.filter(post=pk).order_by("-version")
    if before is not None:
        present, earlier = present.filter(version__lt=before), earlier.filter(version__lt=before)
    columns = {"body_length": Length(KT("content__body")), **SAVED}
    rows: list[Any] = list(present.values("version", **columns))
    rows += earlier.values("version", *EVENT_COLUMNS, **columns)[: limit + 1 - len(rows)]
    names = versions.name_people(rows)
    listed = [versions.build_version(row, names) for row in rows[:limit]]
    return VersionPage("", None, listed, listed[-1].number if len(rows) > limit else None)


def compare_copy(*, actor: Actor, post_id: str, number: int | None = None) -> Comparison:
    """Return what a version of a working copy changes in the text on which it is based.

    Without a number, return what the present working copy changes in the present text. Raises `NotFound`.
    """
    pk = versions.find_history(actor, post_id)
    copy = read_copy(pk, number)
    base = copy["base_version"] if number else Post.objects.values_list("version", flat=True).get(pk=pk)
    before = versions.read_row(pk, base)
    after = {name: before[name] for name in (*COLUMNS, "body")} | copy.pop("content") | copy
    return versions.compare_rows(before, after)


def read_copy(pk: int, number: int | None) -> dict[str, Any]:
    """Return the row of a version of a working copy, of the present one without a number. Raises `NotFound`."""
    columns = ("version", "base_version", "content")
    present = WorkingCopy.objects.filter(pk=pk)
    if number:
        present = present.filter(version=number)
    row: dict[str, Any] | None = present.values(*columns, **SAVED).first()
    if row is None and number:
        earlier = CopyVersion.objects.filter(post=pk, version=number).order_by("-pgh_id")
        row = earlier.values(*columns, *EVENT_COLUMNS, **SAVED).first()
    if row is None:
        which = f" with the number {number}" if number else ""
        raise NotFound(f"There are no changes{which}.")
    return row


@transaction.atomic
def restore_text(
    *, actor: Actor, post_id: str, number: int, post_version: int, copy_version: int
) -> Post | WorkingCopy:
    """Restore the content of an earlier version of a post. Return the post or the working copy that has it.

    The text of a public post, and of one that has a working copy, is restored in the working copy: nothing becomes
    public. The last arguments are the versions that the caller has seen; 0 is that of no working copy. If the texts are
    equal, nothing changes. State, authors and times stay. Raises `NotFound` and `Conflict`.
    """
    post = services.posts.get_post_for_update(actor, post_id, "change posts")
    values = versions.read_version(actor=actor, post_id=post_id, number=number).values
    require_version("post", post.version, str(post_version))
    has_copy = WorkingCopy.objects.filter(pk=post.pk).exists()
    if has_copy or (post.status == PostStatus.PUBLISHED and services.working_copies.has_changed_since(post, number)):
        return save_restored(actor, post, values, base_version=post.version, copy_version=copy_version)
    changes = {**list_restorable(post.pk, values), "slug_is_chosen": values["slug_is_chosen"]}
    return services.edit_post(actor=actor, post_id=post_id, changes=changes)


@transaction.atomic
def restore_copy(*, actor: Actor, post_id: str, number: int, copy_version: int) -> WorkingCopy:
    """Save the content of an earlier working copy as the present one. Raises `NotFound` and `Conflict`."""
    post = services.posts.get_post_for_update(actor, post_id, "change posts")
    copy = read_copy(versions.find_history(actor, post_id), number)
    return save_restored(actor, post, copy["content"], base_version=copy["base_version"], copy_version=copy_version)


def save_restored(
    actor: Actor, post: Post, values: Mapping[str, Any], *, base_version: int, copy_version: int
) -> WorkingCopy:
    """Save an earlier text in the working copy, without a time of publication."""
    content = {name: values.get(name, getattr(post, name)) for name in CONTENT}
    return services.save_working_copy(
        actor=actor,
        post_id=str(post.pk),
        base_version=str(base_version),
        expected_version=str(copy_version),
        publish_at=None,
        **list_restorable(post.pk, content),
    )


def list_restorable(pk: int, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of an earlier text without a cover that was deleted, and without a slug that is taken.

    It may keep its images, of which earlier releases allowed more.
    """
    content = {name: values[name] for name in CONTENT}
    if content["cover_id"] is not None and not services.images.exists_image(content["cover_id"]):
        content["cover_id"] = None
    if content["slug"] is None or services.slugs.list_taken_slugs([content["slug"]], pk):
        del content["slug"]
    return content | {"own": POST_OWN.clear_missing(content["own"]), "body_before": content["body"]}
