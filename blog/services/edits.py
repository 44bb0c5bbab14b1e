"""What an editor saves at once: changes of a post or of its working copy, and an action of a button.

An action on the state is one transition of `TRANSITIONS`, or two in one transaction. The policy must allow each.
"""

from collections.abc import Mapping
from contextlib import nullcontext
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import TextChoices

from blog import policy
from blog.models import CONTENT, Post, PostStatus, WorkingCopy
from blog.services import working_copies
from blog.services.posts import edit_post, get_post_for_update
from blog.services.validation import validate_publish_at
from contentapi.core.entity_tags import require_version
from contentapi.core.errors import Conflict, VersionConflict
from contentapi.core.identity import Actor
from contentapi.core.policy import require_permission
from contentapi.events.triggers import merge_events


class StateAction(TextChoices):
    """An action on the state of a post, with its result as a message names it: the post is published again."""

    PUBLISH = "publish", "published"
    SCHEDULE = "schedule", "scheduled"
    UNPUBLISH = "unpublish", "unpublished"
    ARCHIVE = "archive", "archived"
    UNARCHIVE = "unarchive", "taken out of the archive"
    PUBLISH_AGAIN = "publish_again", "published again"


class CopyAction(StrEnum):
    """An action on a working copy. `PUBLISH` saves it for the page that shows what will change, which publishes it."""

    PUBLISH = "publish_changes"
    SCHEDULE = "schedule_changes"
    UNSCHEDULE = "unschedule_changes"
    DISCARD = "discard"


DRAFT, SCHEDULED, PUBLISHED, ARCHIVED = PostStatus  # in the order of the states
# The states that a post takes in an action, by its present state. A state without an entry does not allow the action.
PATHS: Mapping[StateAction, Mapping[str, tuple[PostStatus, ...]]] = {
    StateAction.PUBLISH: {DRAFT: (PUBLISHED,), SCHEDULED: (PUBLISHED,), PUBLISHED: (PUBLISHED,)},
    StateAction.SCHEDULE: {DRAFT: (SCHEDULED,), SCHEDULED: (DRAFT, SCHEDULED)},
    StateAction.UNPUBLISH: {PUBLISHED: (DRAFT,), SCHEDULED: (DRAFT,)},
    StateAction.ARCHIVE: {DRAFT: (ARCHIVED,), PUBLISHED: (ARCHIVED,)},
    StateAction.UNARCHIVE: {ARCHIVED: (DRAFT,)},
    StateAction.PUBLISH_AGAIN: {ARCHIVED: (DRAFT, PUBLISHED)},
}
TARGETS: Mapping[str, PostStatus] = {action: next(iter(paths.values()))[-1] for action, paths in PATHS.items()}


def list_actions(actor: Actor, post: Post) -> list[StateAction]:
    """Return the actions that change the present state of a post, and whose transitions the actor may make."""
    owner_id = post.author.user_id
    actions = []
    for action, paths in PATHS.items():
        path = paths.get(post.status, ())
        steps = list(zip((post.status, *path), path, strict=False))  # pairs of an old state and a new one
        is_change = any(old != new for old, new in steps)
        if is_change and all(policy.may_transition_posts_of(actor, owner_id, old, new) for old, new in steps):
            actions.append(action)
    return actions


class Edit(NamedTuple):
    """The changes of a form, and the action of its button. `publish_at` is the time of an action `SCHEDULE`.

    With a `copy_version` (0: there is none yet), the text is that of the working copy, which is based on the `version`
    of the post. The authors and the time at which the post became public are no part of the text: they change at once,
    in the version `settings_version` of the post. The version None is any.
    """

    changes: Mapping[str, Any] = {}
    action: StateAction | CopyAction | None = None
    publish_at: datetime | None = None
    version: str | None = None
    copy_version: str | None = None
    settings_version: str | None = None


class Saved(NamedTuple):
    """The post after an edit, and its working copy if the edit was one of it."""

    post: Post
    copy: WorkingCopy | None = None


def save_edit(actor: Actor, post_id: str, edit: Edit) -> Saved | VersionConflict:
    """Save an edit, all of it or nothing. Return the conflict if the post or the copy has another version.

    Raises what `edit_post` and `save_working_copy` raise, and `Conflict` if the state does not allow the action.
    """
    try:
        with transaction.atomic():
            if edit.copy_version is not None:
                return save_on_copy(actor, post_id, edit)
            if isinstance(edit.action, StateAction):
                return Saved(change_state(actor, post_id, edit.action, edit))
            changes, version = edit.changes, edit.version
            return Saved(edit_post(actor=actor, post_id=post_id, changes=changes, expected_version=version))
    except VersionConflict as error:
        return error


def change_state(actor: Actor, post_id: str, action: StateAction, edit: Edit) -> Post:
    """Do an action together with the changes of an edit. Each transition is a version of its own."""
    post = get_post_for_update(actor, post_id, "change posts")
    target = TARGETS[action]
    may_transition = policy.may_transition_posts_of(actor, post.author.user_id, post.status, target)
    require_permission(actor, may_transition, f"make this {post.status} post {target}")
    require_version("post", post.version, edit.version)
    path = PATHS[action].get(post.status)
    if path is None:
        raise Conflict(f"A post that is {post.status} cannot be {action.label}.")
    values = dict(edit.changes)
    with merge_events(post.pk) if len(path) > 1 else nullcontext():  # one action is one event
        for step in path:
            state = {"status": step, "publish_at": edit.publish_at if step == SCHEDULED else None}
            post = edit_post(actor=actor, post_id=post_id, changes=values | state)
            values = {}
    return post


def save_on_copy(actor: Actor, post_id: str, edit: Edit) -> Saved:
    """Save the text of an edit in the working copy, the rest in the post, and do the action."""
    settings = {name: value for name, value in edit.changes.items() if name not in CONTENT}
    if settings:
        edit_post(actor=actor, post_id=post_id, changes=settings, expected_version=edit.settings_version)
    if edit.action is CopyAction.DISCARD:
        version = edit.copy_version
        return Saved(working_copies.discard_working_copy(actor=actor, post_id=post_id, expected_version=version))
    post = get_post_for_update(actor, post_id, "change posts")
    copy = save_text(actor, post, edit)
    if isinstance(edit.action, StateAction):
        return Saved(take_over_text(actor, post, copy, edit.action, edit.publish_at))
    if copy is not None and edit.action is CopyAction.PUBLISH:
        working_copies.require_present_base(post, copy)
    return Saved(post, copy)


def save_text(actor: Actor, post: Post, edit: Edit) -> WorkingCopy | None:
    """Save the text of an edit in the working copy if it differs from it. Return the copy, if there is one."""
    changes = {name: value for name, value in edit.changes.items() if name in CONTENT}
    if edit.action is CopyAction.SCHEDULE:
        validate_publish_at(SCHEDULED, edit.publish_at)
        changes["publish_at"] = edit.publish_at
    elif edit.action is CopyAction.UNSCHEDULE:
        changes["publish_at"] = None
    copy = working_copies.find_visible_copy(actor, post)
    is_merged = copy is not None and str(copy.base_version) != edit.version
    if not changes and not is_merged:
        return copy
    return working_copies.save_working_copy(
        actor=actor,
        post_id=str(post.pk),
        base_version=edit.version,
        expected_version=edit.copy_version,
        **changes,
    )


def take_over_text(
    actor: Actor, post: Post, copy: WorkingCopy | None, action: StateAction, publish_at: datetime | None
) -> Post:
    """Do an action. The post takes over the text that the person sees, unless it is put away."""
    post_id, state = str(post.pk), Edit(publish_at=publish_at)
    if copy is None or action is StateAction.ARCHIVE or post.status == TARGETS[action]:
        return change_state(actor, post_id, action, state)
    if action is StateAction.UNPUBLISH:  # hidden first: readers do not see the new text
        change_state(actor, post_id, action, state)
        return working_copies.publish_working_copy(actor=actor, post_id=post_id)
    working_copies.publish_working_copy(actor=actor, post_id=post_id)
    return change_state(actor, post_id, action, state)
