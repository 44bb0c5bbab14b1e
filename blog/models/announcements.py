"""The events of posts, comments, authors and images. Triggers announce them: see `contentapi.events.triggers`.

A change of a post without a new version, such as its rendering, is no event; nor is that of a working copy.
"""

from collections.abc import Iterable, Sequence

import pgtrigger

from contentapi.db.placement import Forms
from contentapi.events.triggers import (
    ACTOR_OF_CONTEXT,
    Announcement,
    build_change_condition,
    build_changes,
    build_member_changes,
)

POST = {"kind": "post", "subject_id": "NEW.id", "version": "NEW.version", "now": "NEW.status"}
POST_BECOMES = """CASE
    WHEN NEW.status = 'scheduled' AND (OLD.status <> NEW.status OR OLD.publish_at <> NEW.publish_at) THEN 'scheduled'
    WHEN NEW.status = OLD.status THEN 'updated'
    WHEN NEW.status <> 'draft' THEN NEW.status
    WHEN OLD.status = 'archived' THEN 'restored'
    ELSE 'unpublished' END"""


def announce_posts(columns: Iterable[str], **also: Sequence[Forms]) -> list[pgtrigger.Trigger]:
    """Return the triggers of posts, which do other things too: `also`. A change of a column is a new version."""
    return [
        Announcement(
            "created",
            **POST,
            also=also["created"],
            type="CASE NEW.version WHEN 1 THEN 'post.created' ELSE 'post.restored' END",
            actor_id="NEW.changed_by",
            is_public="NEW.status = 'published'",
            owner_ids="NEW.author_id || NEW.coauthor_ids",
        ),
        Announcement(
            "updated",
            **POST,
            also=also["updated"],
            condition="OLD.version <> NEW.version",
            type=f"'post.' || {POST_BECOMES}",
            was="OLD.status",
            changes=f"{build_changes(columns)} || {build_member_changes('own')}",
            actor_id="NEW.changed_by",
            is_public="'published' IN (OLD.status, NEW.status)",
            owner_ids="OLD.author_id || OLD.coauthor_ids || NEW.author_id || NEW.coauthor_ids",
        ),
        Announcement(
            "deleted",
            kind="post",
            also=also["deleted"],
            type="'post.deleted'",
            subject_id="OLD.id",
            version="OLD.version",
            was="OLD.status",
            actor_id=ACTOR_OF_CONTEXT,
            is_public="OLD.status = 'published'",
            owner_ids="OLD.author_id || OLD.coauthor_ids",
        ),
    ]


def announce_comments() -> list[pgtrigger.Trigger]:
    """Return the triggers of comments. The post decides who may see an event. A deleted comment has no state."""
    post = "FROM blog_post AS post WHERE post.id = {row}.post_id"
    new = {"subject_id": "NEW.id", "parent_id": "post.id"}
    return [
        Announcement(
            "created",
            kind="comment",
            source=f"{post.format(row='NEW')} AND NEW.state <> 'deleted'",
            type="'comment.created'",
            **new,
            now="NEW.state",
            actor_id="(SELECT user_id FROM blog_author WHERE id = NEW.author_id)",
            is_public="post.status = 'published' AND NEW.state = 'visible'",
            owner_ids="ARRAY[post.author_id]",
        ),
        Announcement(
            "updated",
            kind="comment",
            condition="OLD.state <> NEW.state",
            source=post.format(row="NEW"),
            type="'comment.' || CASE NEW.state WHEN 'visible' THEN 'shown' ELSE NEW.state END",
            **new,
            was="nullif(OLD.state, 'deleted')",
            now="nullif(NEW.state, 'deleted')",
            changes="ARRAY['state']",
            actor_id="NEW.state_changed_by",
            is_public="post.status = 'published' AND 'visible' IN (OLD.state, NEW.state)",
            owner_ids="ARRAY[post.author_id]",
        ),
        Announcement(
            "deleted",
            kind="comment",
            condition="OLD.state <> 'deleted'",
            source=post.format(row="OLD"),
            type="'comment.deleted'",
            subject_id="OLD.id",
            parent_id="post.id",
            was="OLD.state",
            actor_id=ACTOR_OF_CONTEXT,
            is_public="post.status = 'published' AND OLD.state = 'visible'",
            owner_ids="ARRAY[post.author_id]",
        ),
    ]


def announce_authors(*updated: Forms) -> list[pgtrigger.Trigger]:
    """Return the triggers of authors. Everybody may see them, except their email."""
    shown = ("name", "bio", "avatar_url")
    is_public = build_change_condition([*shown, "own"])
    changes = f"{build_changes(shown)} || {build_member_changes('own')}"
    common = {"kind": "author", "actor_id": ACTOR_OF_CONTEXT}
    return [
        Announcement("created", **common, type="'author.created'", subject_id="NEW.id", is_public="true"),
        Announcement(
            "updated",
            **common,
            also=updated,
            condition=build_change_condition([*shown, "own", "email"]),
            type="'author.updated'",
            subject_id="NEW.id",
            changes=f"CASE WHEN {is_public} THEN {changes} ELSE ARRAY['email'] END",
            is_public=is_public,
            owner_ids="array_remove(ARRAY[NEW.user_id], NULL)",
        ),
        Announcement("deleted", **common, type="'author.deleted'", subject_id="OLD.id", is_public="true"),
    ]


def announce_images() -> list[pgtrigger.Trigger]:
    """Return the triggers of images. A deleted image has a row until nobody can restore it any more.

    Everybody may see the images of public posts, whose pages change with them.
    """
    used = "cover_id = {row}.id OR image_ids @> ARRAY[{row}.id]"
    is_public = f"EXISTS (SELECT{{one}} FROM blog_post WHERE status = 'published' AND ({used}))"
    columns = ("name", "alt", "caption", "credit", "status", "rejection")
    changes = build_changes(columns, focal_x="focalPoint", focal_y="focalPoint", key="url")
    new = {"kind": "image", "subject_id": "NEW.id", "version": "NEW.version", "owner_ids": "ARRAY[NEW.owner_id]"}
    return [
        Announcement("created", **new, type="'image.created'", now="NEW.status", actor_id="NEW.owner_id"),
        Announcement(
            "updated",
            **new,
            condition="OLD.version <> NEW.version AND (OLD.deleted_at IS NULL OR NEW.deleted_at IS NULL)",
            type="CASE WHEN NEW.deleted_at IS NOT NULL THEN 'image.deleted'"
            " WHEN OLD.deleted_at IS NOT NULL THEN 'image.created' ELSE 'image.updated' END",
            was="CASE WHEN OLD.deleted_at IS NULL THEN OLD.status END",
            now="CASE WHEN NEW.deleted_at IS NULL THEN NEW.status END",
            changes=f"ARRAY(SELECT DISTINCT unnest({changes}) ORDER BY 1)",
            actor_id=ACTOR_OF_CONTEXT,
            is_public=is_public.format(one="", row="NEW"),
            public_on_shards=is_public.format(one=" 1", row="NEW"),
        ),
        Announcement(
            "deleted",
            kind="image",
            condition="OLD.deleted_at IS NULL",
            type="'image.deleted'",
            subject_id="OLD.id",
            version="OLD.version",
            was="OLD.status",
            actor_id=ACTOR_OF_CONTEXT,
            is_public=is_public.format(one="", row="OLD"),
            public_on_shards=is_public.format(one=" 1", row="OLD"),
            owner_ids="ARRAY[OLD.owner_id]",
        ),
    ]
