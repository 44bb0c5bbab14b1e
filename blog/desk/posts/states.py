"""The actions on posts: buttons of the form and entries of the list that change the status, and their messages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from django import forms
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from blog import policy, selectors, services
from blog.desk.local_times import LocalTimeField
from blog.models import Post, PostStatus
from blog.services import Edit, StateAction, edits, save_edit
from contentapi.conf import conf
from contentapi.conf.timeouts import RESTORABLE_FOR
from contentapi.core.errors import Conflict, Invalid, VersionConflict
from contentapi.core.identity import Actor
from contentapi.desk.actions import Action, list_offered_actions, perform_each, perform_rows
from contentapi.desk.rendering import render_time

HELD = ". It is not published while the account of {name}, who chose this time, is locked"
STATUS_COLORS = {
    PostStatus.DRAFT.value: "warning",
    PostStatus.SCHEDULED.value: "info",
    PostStatus.PUBLISHED.value: "success",
    PostStatus.ARCHIVED.value: "default",
}


class ScheduleForm(forms.Form):
    """The time for an action of the list."""

    schedule_at = LocalTimeField(
        label="Publish at",
        required=True,
        help_text=mark_safe(
            'Time of publication: <span data-result-of="schedule_at_local">the time that you choose</span>'
        ),
    )

    def clean_schedule_at(self) -> datetime | None:
        time: datetime | None = self.cleaned_data["schedule_at"]
        try:
            services.validate_publish_at(PostStatus.SCHEDULED, time)
        except Invalid as error:
            raise forms.ValidationError(list(error.fields["publishAt"])) from None
        return time


@dataclass(frozen=True)
class PostAction(Action):
    """An action on posts: in the form, a button that also saves the content. Without a `state_action`, it deletes."""

    state_action: StateAction | None = None

    @property
    def is_main(self) -> bool:
        """Whether the button makes the post public. It is also in the row that stays in view."""
        return self.state_action in (StateAction.PUBLISH, StateAction.PUBLISH_AGAIN)


def change_state(actor: Actor, post: Post, values: Mapping[str, Any], state_action: StateAction) -> Post:
    """Do an action to a post of the list. Return the changed post, which knows its `version_before`."""
    saved = save_edit(actor, str(post.pk), Edit(action=state_action, publish_at=values.get("schedule_at")))
    if isinstance(saved, VersionConflict):
        raise saved
    changed = saved.post
    if changed.version == post.version:
        raise Conflict(f"It is {changed.status} already.")
    changed.version_before = post.version  # type: ignore[attr-defined]
    return changed


def build_action(state_action: StateAction, label: str, effect: str, **options: Any) -> PostAction:
    return PostAction(
        name=state_action.value,
        label=label,
        help=effect,
        done=state_action.label.capitalize(),
        perform=perform_rows(partial(change_state, state_action=state_action)),
        is_permitted=lambda actor, post: state_action in edits.list_actions(actor, post),
        state_action=state_action,
        **{"list_label": label, "confirmed_from": 1, **options},
    )


BY_ITSELF = "The post becomes public by itself on"
HIDDEN = "The post becomes a draft. Readers do not see it any more. You can publish it again."
ARCHIVED = "The post is put away. Readers do not see it. You can take it out of the archive again."
STATE_ACTIONS = {
    action.state_action: action
    for action in [
        build_action(StateAction.PUBLISH, "Publish now", "Everybody can read the post at once.", list_label="Publish"),
        build_action(
            StateAction.SCHEDULE,
            "Schedule",
            BY_ITSELF,
            list_label="Schedule for…",
            list_help="The post becomes public by itself at the time that you choose.",
            form=ScheduleForm,
        ),
        build_action(StateAction.UNPUBLISH, "Unpublish", HIDDEN, is_dangerous=True),
        build_action(StateAction.ARCHIVE, "Archive", ARCHIVED, is_dangerous=True),
        build_action(StateAction.UNARCHIVE, "Take out of the archive", "The post becomes a draft.", confirmed_from=2),
        build_action(
            StateAction.PUBLISH_AGAIN,
            "Publish again",
            "The post leaves the archive, and everybody can read it at once.",
        ),
    ]
}
DELETION = PostAction(
    name="delete_selected",  # replaces Django's action, which deletes all selected posts in one request
    label="Delete",
    help="",
    done="Deleted",
    perform=perform_each(services.delete_post, "post_id"),
    list_label="Delete",
    list_help="These posts and their comments are deleted. For "
    f"{RESTORABLE_FOR.days} days you can restore them: “Deleted posts” above the list. Then they are gone for good.",
    confirmed_from=1,
    is_dangerous=True,
)
# Other words for the same action in another state
STATE_LABELS: Mapping[tuple[StateAction | None, str], tuple[str, str]] = {
    (StateAction.SCHEDULE, PostStatus.SCHEDULED): ("Change the time", BY_ITSELF),
    (StateAction.UNPUBLISH, PostStatus.SCHEDULED): ("Do not publish", "The post becomes a draft again."),
}
NEW_POST = {
    StateAction.PUBLISH: PostStatus.PUBLISHED,
    StateAction.SCHEDULE: PostStatus.SCHEDULED,
}  # actions on a post that is new


def list_actions_on_some(actor: Actor) -> list[Action]:
    """Return the actions that the actor may do to some posts, perhaps only to their own."""
    if not policy.may_write_posts(actor):
        return []
    offered = edits.list_actions_on_some(actor)
    return [*(action for state_action, action in STATE_ACTIONS.items() if state_action in offered), DELETION]


def build_button(action: PostAction, status: str) -> PostAction:
    """Return the action with the words for posts of a status."""
    label, effect = STATE_LABELS.get((action.state_action, status), (action.label, action.help))
    is_dangerous = action.is_dangerous and status != PostStatus.SCHEDULED
    return replace(action, label=label, help=effect, is_dangerous=is_dangerous)


def list_buttons(actor: Actor, post: Post | None) -> list[PostAction]:
    """Return the buttons that change the state of a post, or of a new one."""
    if post is not None:
        offered = list_offered_actions(STATE_ACTIONS.values(), actor, post)
        return [build_button(action, post.status) for action in offered]
    return [
        STATE_ACTIONS[state_action]
        for state_action, status in NEW_POST.items()
        if policy.may_transition_posts(actor, PostStatus.DRAFT, status)
    ]


def describe_state(post: Post | None) -> SafeString | str:
    """Return the present status in words, as HTML."""
    if post is None:
        return "New"
    if post.status == PostStatus.SCHEDULED:
        name = selectors.find_locked_scheduler(post)
        return format_html("Scheduled for {}{}", render_time(post.publish_at), HELD.format(name=name) if name else "")
    if post.status == PostStatus.PUBLISHED and post.published_at is not None:
        return format_html("Published at {}", render_time(post.published_at))
    return str(post.get_status_display())


def link_site(post: Post | None) -> SafeString | str:
    """Return a link to a public post on the web site, if `CONTENTAPI_SITE_POST_URL` states its address."""
    address = conf.environment.contentapi_site_post_url
    if not address or post is None or post.status != PostStatus.PUBLISHED or not post.slug:
        return ""
    html = '<a class="message-link" href="{}" target="_blank" rel="noopener">View on the site</a>'
    return format_html(html, address.replace("{slug}", post.slug, 1))


def link_post(post: Post) -> SafeString:
    """Return the title of a post as a link to its form."""
    address = reverse("admin:blog_post_change", args=[post.pk])
    return format_html('<a class="message-link" href="{}">{}</a>', address, post.title)


def describe_result(state_action: StateAction, post: Post) -> SafeString:
    """Return the message after an action, with a link to the post."""
    link = link_post(post)
    if state_action is StateAction.SCHEDULE:
        return format_html("“{}” will be published on {}.", link, render_time(post.publish_at))
    results = {
        StateAction.PUBLISH: "“{}” is public now. {}",
        StateAction.PUBLISH_AGAIN: "“{}” is public again. {}",
        StateAction.ARCHIVE: "“{}” is in the archive. Readers do not see it.",
    }
    return format_html(results.get(state_action, "“{}” is a draft now. Readers do not see it."), link, link_site(post))


def describe_outcome(action: PostAction, posts: Sequence[Post]) -> SafeString | str:
    """Return the message after an action of the list."""
    if len(posts) == 1 and action.state_action is not None:
        return describe_result(action.state_action, posts[0])
    time = (
        format_html(" for {}", render_time(posts[0].publish_at)) if action.state_action is StateAction.SCHEDULE else ""
    )
    number = "1 post is" if len(posts) == 1 else f"{len(posts):,} posts are"
    return format_html("{} {}{}.", number, action.done.lower(), time)
