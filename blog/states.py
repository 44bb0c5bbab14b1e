"""What an editor does to the state of a post: publish, schedule, unpublish, archive, publish again.

An act is one transition of `services.TRANSITIONS`, or two of them in one transaction. The policy must allow each.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import TextChoices

from blog import services
from blog.models import Post, PostStatus
from contentapi.core import policy
from contentapi.core.entity_tags import ExpectedVersion, require_version
from contentapi.core.errors import Conflict
from contentapi.core.identity import Actor


class Act(TextChoices):
    """An act with its result, as a message to an editor says it: a post is published again."""

    PUBLISH = "publish", "published"
    SCHEDULE = "schedule", "scheduled"
    UNPUBLISH = "unpublish", "unpublished"
    ARCHIVE = "archive", "archived"
    UNARCHIVE = "unarchive", "taken out of the archive"
    PUBLISH_AGAIN = "publish_again", "published again"


DRAFT, SCHEDULED, PUBLISHED, ARCHIVED = PostStatus  # in the order of the states
# The states that a post takes in an act, by its present state. A state without an entry does not allow the act.
PATHS: Mapping[Act, Mapping[str, tuple[PostStatus, ...]]] = {
    Act.PUBLISH: {DRAFT: (PUBLISHED,), SCHEDULED: (PUBLISHED,), PUBLISHED: (PUBLISHED,)},
    Act.SCHEDULE: {DRAFT: (SCHEDULED,), SCHEDULED: (DRAFT, SCHEDULED)},
    Act.UNPUBLISH: {PUBLISHED: (DRAFT,), SCHEDULED: (DRAFT,)},
    Act.ARCHIVE: {DRAFT: (ARCHIVED,), PUBLISHED: (ARCHIVED,)},
    Act.UNARCHIVE: {ARCHIVED: (DRAFT,)},
    Act.PUBLISH_AGAIN: {ARCHIVED: (DRAFT, PUBLISHED)},
}
MOST_STEPS = 2
TARGETS = {act: next(iter(paths.values()))[-1] for act, paths in PATHS.items()}


def list_steps(act: Act, status: str) -> list[tuple[str, str]]:
    """Return the transitions of an act from a state: pairs of an old state and a new one."""
    path = PATHS[act].get(status, ())
    return list(zip((status, *path), path, strict=False))


def list_acts(actor: Actor, post: Post) -> list[Act]:
    """Return the acts that change the present state of a post, and whose transitions the actor may make."""
    owner_id = post.author.user_id
    acts = []
    for act in PATHS:
        steps = list_steps(act, post.status)
        is_change = any(old != new for old, new in steps)
        if is_change and all(policy.may_transition_posts_of(actor, owner_id, old, new) for old, new in steps):
            acts.append(act)
    return acts


def list_acts_on_some(actor: Actor) -> list[Act]:
    """Return the acts that the actor may do to some posts, perhaps only to their own."""
    return [
        act
        for act, paths in PATHS.items()
        if any(
            all(policy.may_transition_posts(actor, old, new) for old, new in list_steps(act, status))
            for status in paths
        )
    ]


@transaction.atomic
def change_state(
    *,
    actor: Actor,
    post_id: str,
    act: Act,
    publish_at: datetime | None = None,
    changes: Mapping[str, Any] | None = None,
    expected_version: ExpectedVersion = None,
) -> Post:
    """Do an act to a post, together with changes of its text. `publish_at` is the time for `Act.SCHEDULE`.

    Each transition is a version of its own. If one is refused, nothing is changed. Raises what `services.edit_post`
    raises, and `Conflict` if the present state does not allow the act.
    """
    post = services.get_post_for_update(actor, post_id, "change posts")
    target = TARGETS[act]
    may_transition = policy.may_transition_posts_of(actor, post.author.user_id, post.status, target)
    policy.require_permission(actor, may_transition, f"make this {post.status} post {target}")
    require_version("post", post.version, expected_version)
    path = PATHS[act].get(post.status)
    if path is None:
        raise Conflict(f"A post that is {post.status} cannot be {act.label}.")
    values = dict(changes or {})
    for step in path:
        state = {"status": step, "publish_at": publish_at if step == SCHEDULED else None}
        post = services.edit_post(actor=actor, post_id=post_id, changes=values | state)
        values = {}
    return post
