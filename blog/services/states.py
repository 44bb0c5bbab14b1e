"""What an editor does to the state of a post: publish, schedule, unpublish, archive, publish again.

An action is one transition of `TRANSITIONS`, or two of them in one transaction. The policy must allow each.
"""

from collections.abc import Mapping
from contextlib import nullcontext
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import TextChoices

from blog import policy
from blog.models import Post, PostStatus
from blog.services.posts import edit_post, get_post_for_update
from contentapi.core.entity_tags import ExpectedVersion, require_version
from contentapi.core.errors import Conflict
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
MOST_STEPS = 2
TARGETS = {action: next(iter(paths.values()))[-1] for action, paths in PATHS.items()}


def list_steps(action: StateAction, status: str) -> list[tuple[str, str]]:
    """Return the transitions of an action from a state: pairs of an old state and a new one."""
    path = PATHS[action].get(status, ())
    return list(zip((status, *path), path, strict=False))


def list_actions(actor: Actor, post: Post) -> list[StateAction]:
    """Return the actions that change the present state of a post, and whose transitions the actor may make."""
    owner_id = post.author.user_id
    actions = []
    for action in PATHS:
        steps = list_steps(action, post.status)
        is_change = any(old != new for old, new in steps)
        if is_change and all(policy.may_transition_posts_of(actor, owner_id, old, new) for old, new in steps):
            actions.append(action)
    return actions


def list_actions_on_some(actor: Actor) -> list[StateAction]:
    """Return the actions that the actor may do to some posts, perhaps only to their own."""
    return [
        action
        for action, paths in PATHS.items()
        if any(
            all(policy.may_transition_posts(actor, old, new) for old, new in list_steps(action, status))
            for status in paths
        )
    ]


@transaction.atomic
def change_state(
    *,
    actor: Actor,
    post_id: str,
    action: StateAction,
    publish_at: datetime | None = None,
    changes: Mapping[str, Any] | None = None,
    expected_version: ExpectedVersion = None,
) -> Post:
    """Do an action to a post, together with changes of its text. `publish_at` is the time for `StateAction.SCHEDULE`.

    Each transition is a version of its own. If one is refused, nothing is changed. Raises what `edit_post` raises, and
    `Conflict` if the present state does not allow the action.
    """
    post = get_post_for_update(actor, post_id, "change posts")
    target = TARGETS[action]
    may_transition = policy.may_transition_posts_of(actor, post.author.user_id, post.status, target)
    require_permission(actor, may_transition, f"make this {post.status} post {target}")
    require_version("post", post.version, expected_version)
    path = PATHS[action].get(post.status)
    if path is None:
        raise Conflict(f"A post that is {post.status} cannot be {action.label}.")
    values = dict(changes or {})
    with merge_events(post.pk) if len(path) > 1 else nullcontext():  # one action is one event
        for step in path:
            state = {"status": step, "publish_at": publish_at if step == SCHEDULED else None}
            post = edit_post(actor=actor, post_id=post_id, changes=values | state)
            values = {}
    return post
