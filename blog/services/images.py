"""Writes of images. The worker makes their files: `blog.services.image_processing`."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from blog import policy
from blog.images.formats import Format
from blog.models import Image, ImageStatus, Post
from blog.models.audit import Audit
from blog.models.images import MAX_ALT, MAX_CAPTION, MAX_CREDIT, MAX_FILE_NAME
from blog.selectors.images import is_required, list_posts_with_image, select_seen_posts
from blog.services.image_room import name_upload, require_format, require_room, store_upload
from blog.services.validation import UNKNOWN_IMAGE
from contentapi.conf.timeouts import LATE_COMMIT, RESTORABLE_FOR
from contentapi.core.entity_tags import ExpectedVersion, require_version
from contentapi.core.errors import Conflict, Invalid, require_found, require_row
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.core.policy import require_permission
from contentapi.db.ids import take_id
from contentapi.events.declarations import describe_uses
from contentapi.events.triggers import attribute_changes
from contentapi.http.uploads import SentFile
from contentapi.media.access import get_media_url
from contentapi.media.storage import PUBLIC

TEXTS = {"name": MAX_FILE_NAME, "alt": MAX_ALT, "caption": MAX_CAPTION, "credit": MAX_CREDIT}
FOLDERS = re.compile(r".*[/\\]", re.DOTALL)
# Controls, marks that change the direction of the text around them, and what cannot be stored
UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u206f\ufeff\ud800-\udfff]")
UNNAMED = "image"
DELETED = "deleted/"  # private files from which deleted images are restored
REPLACE = "replace the file of this image"
NAMED_POSTS = 5  # that the message of a conflict names
# The columns of an image without public files
NO_FILES: dict[str, Any] = {"original": "", "widths": [], "formats": [], "stored": 0, "outdated_at": None}


def create_image(*, actor: Actor, read_file: Callable[[], SentFile]) -> Image:
    """Store the file that `read_file` returns, and create its image, which the worker processes.

    Raises `UnsupportedMediaType` for a file that is none of the formats: its first bytes decide. Raises `Invalid` for a
    name that is too long.
    """
    require_upload(actor)
    sent = read_file()
    kind = require_format(sent.file)
    name = clean_file_name(sent.name) or UNNAMED
    if problems := list_name_problems(name):
        raise Invalid(problems)
    pk = take_id()
    store_upload(actor, pk, actor.user_id, pk, sent, kind)  # before the row that names it
    return insert_image(actor, pk=pk, kind=kind, name=name, size=sent.size, sha256=sent.sha256)


def require_upload(actor: Actor) -> None:
    require_permission(actor, policy.may_upload_images(actor), "upload images")


@transaction.atomic
def insert_image(actor: Actor, *, pk: int, kind: Format, name: str, size: int, sha256: bytes) -> Image:
    """Create the image of a file that was stored under the same id. Raises `RateLimited` if too many wait."""
    require_room(actor, actor.user_id, 0)
    image = Image.objects.create(
        pk=pk,
        owner_id=actor.user_id,
        name=name,
        content_type=kind.content_type,
        size=size,
        sha256=sha256,
        source=name_upload(pk),
    )
    Audit.IMAGE_UPLOADED.record(actor, "image", pk, size=size)
    return image


def replace_image_file(
    *, actor: Actor, image_id: str, read_file: Callable[[], SentFile], expected_version: ExpectedVersion = None
) -> Image:
    """Store another file for an image, which the worker processes. Until it is ready, the image shows the earlier file.

    Raises `NotFound`, `UnsupportedMediaType`, and `Conflict` for another version.
    """
    with transaction.atomic():  # before the file is read
        image = get_image_for_update(actor, image_id, REPLACE, expected_version)
    sent = read_file()
    kind = require_format(sent.file)
    upload_id = take_id()
    source = name_upload(upload_id)
    # One that no row names in the end is deleted with the unfinished uploads
    store_upload(actor, upload_id, image.owner_id, image.pk, sent, kind)
    with transaction.atomic():
        image = get_image_for_update(actor, image_id, REPLACE, expected_version)
        values: dict[str, Any] = {"source": source, "rejection": None, "claimed_until": None, "attempts": 0}
        if not image.original:
            stated = {"content_type": kind.content_type, "size": sent.size, "sha256": sent.sha256}
            values |= {"status": ImageStatus.PROCESSING, **stated}
        save_image(actor, image, **values)
        Audit.IMAGE_UPLOADED.record(actor, "image", image.pk, size=sent.size)
    return image


def clean_file_name(name: str) -> str:
    """Return a name without folders, and without what cannot be shown; joiners and spaces of any script stay."""
    return UNSHOWN.sub("", FOLDERS.sub("", name)).strip()


def shorten_file_name(name: str) -> str:
    """Return the end of a name. Files of the desk and of imports have names that their authors did not write for us."""
    return clean_file_name(name)[-MAX_FILE_NAME:]


def list_name_problems(name: str) -> dict[str, list[str]]:
    """Return what is wrong with the name of a file, without folders."""
    if 1 <= len(name) <= MAX_FILE_NAME:
        return {}
    return {"name": [f"This must have 1 to {MAX_FILE_NAME} characters (got {len(name)})."]}


@transaction.atomic
def edit_image(
    *, actor: Actor, image_id: str, changes: Mapping[str, Any], expected_version: ExpectedVersion = None
) -> Image:
    """Change texts and focal point. Without a change, the version stays. Raises `NotFound`, `Invalid`, `Conflict`."""
    image = get_image_for_update(actor, image_id, "change this image", expected_version)
    values = validate_changes(changes)
    changed = {name: value for name, value in values.items() if getattr(image, name) != value}
    if changed:
        save_image(actor, image, **changed, **({"posts_outdated": True} if "alt" in changed else {}))
    return image


def get_image_for_update(
    actor: Actor, image_id: str, action: str, expected_version: ExpectedVersion = None, *, is_deleted: bool = False
) -> Image:
    """Return an image that the actor may change, locked for the transaction. Raises `NotFound` and `Conflict`."""
    require_permission(actor, policy.may_upload_images(actor), action)
    images = Image.objects.filter(pk=parse_id(image_id), deleted_at__isnull=not is_deleted)
    image = require_row(images.select_for_update(), "image")
    require_permission(actor, policy.may_change_images_of(actor, image.owner_id), action)
    require_version("image", image.version, expected_version)
    return image


def save_image(actor: Actor, image: Image, **values: Any) -> None:
    """Save values of an image as a new version."""
    for name, value in values.items():
        setattr(image, name, value)
    image.version, image.updated_at = image.version + 1, timezone.now()
    with attribute_changes(actor):
        image.save(update_fields=[*values, "version", "updated_at"])


def validate_changes(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the new values of the columns. Raises `Invalid`."""
    values: dict[str, Any] = {}
    problems: dict[str, Sequence[str]] = {}
    for name, value in changes.items():
        if value is None:
            problems["focalPoint" if name == "focal_point" else name] = ["This must not be null."]
        elif name == "focal_point":
            values |= {"focal_x": value["x"], "focal_y": value["y"]}
            if not all(0 <= value[axis] <= 1 for axis in "xy"):
                problems["focalPoint"] = ["x and y must be from 0 to 1."]
        else:
            values[name] = value.strip()
            if len(values[name]) > TEXTS[name]:
                problems[name] = [f"At most {TEXTS[name]} characters are allowed (got {len(values[name])})."]
    if values.get("name") == "":
        problems["name"] = ["This must not be empty."]
    if problems:
        raise Invalid(problems)
    return values


@transaction.atomic
def delete_image(
    *, actor: Actor, image_id: str, force: bool | None = None, expected_version: ExpectedVersion = None
) -> str:
    """Delete an image, and return its id. It can be restored for some time.

    Raises `NotFound`, and `Conflict` for another version, for an image that a row of an own type requires, and without
    `force` for one that is used.
    """
    image = get_image_for_update(actor, image_id, "delete this image", expected_version)
    users, own = list_posts_with_image(image.pk), describe_uses(actor, "Image", image.pk, NAMED_POSTS)
    if is_required(image.pk):
        raise Conflict(f"The image is required by {', '.join(own)}. Give them another image first.")
    if (users or own) and not force:
        raise Conflict(describe_users(actor, users, own))
    save_image(actor, image, deleted_at=timezone.now(), posts_outdated=True)
    Audit.IMAGE_DELETED.record(actor, "image", image.pk, posts=len(users))
    return str(image.pk)


def describe_users(actor: Actor, ids: Sequence[int], own: Sequence[str]) -> str:
    """Return why an image cannot be deleted: posts that the actor may see, how many others, and rows of own types."""
    seen = select_seen_posts(actor, ids)[:NAMED_POSTS]
    named = [f"“{post.title}”" for post in seen]
    others = len(ids) - len(named)
    if others:
        named.append(f"{others} {'other ' if named else ''}{'post' if others == 1 else 'posts'}")
    return f"The image is used by {', '.join([*named, *own])}. Remove it there, or delete it although it is used."


@transaction.atomic
def restore_image(*, actor: Actor, image_id: str) -> Image:
    """Restore a deleted image. Its files are made again if the worker has deleted them. Raises `NotFound`."""
    image = get_image_for_update(actor, image_id, "restore this image", is_deleted=True)
    if image.deleted_at is not None and image.deleted_at <= timezone.now() - RESTORABLE_FOR:
        require_found(None, "image")
    is_hidden = image.source.startswith(DELETED)
    waiting = {"status": ImageStatus.PROCESSING, "attempts": 0, "claimed_until": None, **NO_FILES}
    # The worker may be deleting the public files just now.
    waiting["outdated_at"] = timezone.now()
    save_image(actor, image, deleted_at=None, posts_outdated=True, **(waiting if is_hidden else {}))
    Audit.IMAGE_RESTORED.record(actor, "image", image.pk)
    return image


def find_image_by_digest(sha256: bytes) -> Image | None:
    """Return an image that was made of these bytes, or whose original has them, as an export does."""
    same = Q(sha256=sha256) | Q(original_sha256=sha256)
    images = Image.objects.filter(same, deleted_at=None).exclude(status=ImageStatus.REJECTED)
    return images.order_by("pk").first()


def require_cover(pk: int | None, present: int | None = None) -> None:
    """Raise `Invalid` for a cover that is no image. The present one may have been deleted."""
    if pk is not None and pk != present and not exists_image(pk):
        raise Invalid({"coverId": [UNKNOWN_IMAGE]})


def exists_image(pk: int) -> bool:
    return Image.objects.filter(pk=pk, deleted_at=None).exists()


def render_posts_with_old_addresses() -> None:
    """Let the worker render the posts again that show files of images at another address than the present one."""
    present = f'="{get_media_url()}/{PUBLIC}'  # of an image, or of a link to one
    shown = Post.objects.filter(image_ids__isnull=False, body_html__contains=f"/{PUBLIC}")
    shown.exclude(body_html__contains=present).update(renderer=0)


def render_late_posts() -> None:
    """Render again the posts that were saved while one of their images changed: neither transaction saw the other."""
    recent = Image.objects.filter(updated_at__gt=timezone.now() - 2 * timedelta(seconds=LATE_COMMIT))
    recent.update(posts_outdated=True)
