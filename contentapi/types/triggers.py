"""The triggers that announce the events of an own type, for its model."""

from collections.abc import Sequence

import pgtrigger

from contentapi.events.triggers import ACTOR_OF_CONTEXT, Announcement, build_changes
from contentapi.types.fields import convert_to_snake

STATE = "CASE WHEN {row}.published_at IS NULL THEN 'draft' ELSE 'published' END"
BECOMES = (
    "CASE WHEN (OLD.published_at IS NULL) = (NEW.published_at IS NULL) THEN 'updated'"
    " WHEN NEW.published_at IS NULL THEN 'unpublished' ELSE 'published' END"
)


def announce_rows(
    kind: str, names: Sequence[str], *, is_public: bool, has_publication: bool, has_author: bool
) -> list[pgtrigger.Trigger]:
    """Return the triggers of a model. `kind` begins the names of its events. A change of a column is a new version.

    `names` are those of the columns in inputs, such as `coverId` for `cover_id`.

    `is_public` is whether everybody may read the type: of one with a publication, what is published.
    """
    public = (f"{each}.published_at IS NOT NULL" if has_publication else "true" for each in ("OLD", "NEW"))
    was_public, is_now_public = public if is_public else ("false", "false")
    owner = "ARRAY[{}]::bigint[]"
    old, new = (f"{row}.author_id" if has_author else "" for row in ("OLD", "NEW"))
    was, now = (
        {name: STATE.format(row=row)} if has_publication else {} for name, row in (("was", "OLD"), ("now", "NEW"))
    )
    common = {"kind": kind, "actor_id": ACTOR_OF_CONTEXT}
    present = {"subject_id": "NEW.id", "version": "NEW.version", **now, **common}
    return [
        Announcement(
            "created", **present, type=f"'{kind}.created'", is_public=is_now_public, owner_ids=owner.format(new)
        ),
        Announcement(
            "updated",
            **present,
            **was,
            condition="OLD.version <> NEW.version",
            type=f"'{kind}.' || {BECOMES}" if has_publication else f"'{kind}.updated'",
            changes=build_changes((), **{convert_to_snake(name): name for name in names}),
            is_public=f"{was_public} OR {is_now_public}",
            owner_ids=owner.format(f"{old}, {new}" if has_author else ""),
        ),
        Announcement(
            "deleted",
            **common,
            **was,
            type=f"'{kind}.deleted'",
            subject_id="OLD.id",
            version="OLD.version",
            is_public=was_public,
            owner_ids=owner.format(old),
        ),
    ]
