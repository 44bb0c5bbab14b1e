"""The actions on posts: buttons of the form and entries of the list that change the status, and their messages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django import forms
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from blog import policy, selectors, services
from blog.desk.local_times import LocalTimeField
from blog.models import Post, PostStatus, WorkingCopy
from blog.services import CopyAction, Edit, StateAction, edits, save_edit
from contentapi.conf import conf
from contentapi.conf.timeouts import RESTORABLE_FOR
from contentapi.core.errors import Conflict, Invalid, VersionConflict
from contentapi.core.identity import Actor
from contentapi.desk.actions import Action, list_offered_actions, perform_each
from contentapi.desk.rendering import render_time

HELD = ". It is not published while the account of {name}, who chose this time, is locked"
STATUS_COLORS = {"draft": "warning", "scheduled": "info", "published": "success", "archived": "default"}


class ScheduleForm(forms.Form):
    """The time for an action of the list."""

    schedule_at = LocalTimeField(
        label="Publish at",
        required=True,
        help_text=mark_safe(
            'Time of publication: <span data-result-of="schedule_at_local">the time that you choose</span>'
        ),
    )

    def clean_schedule_at(self) -> Any:
        time = self.cleaned_data["schedule_at"]
        try:
            services.validate_publish_at(PostStatus.SCHEDULED, time)
        except Invalid as error:
            raise forms.ValidationError(list(error.fields["publishAt"])) from None
        return time


def change_state(actor: Actor, post: Post, values: Mapping[str, Any], state_action: StateAction) -> Post:
    """Do an action to a post of the list. Return the changed post."""
    saved = save_edit(actor, str(post.pk), Edit(action=state_action, publish_at=values.get("schedule_at")))
    if isinstance(saved, VersionConflict):
        raise saved
    changed = saved.post
    if changed.version == post.version:
        raise Conflict(f"It is {changed.status} already.")
    return changed


def build_action(state_action: StateAction, label: str, effect: str, **options: Any) -> Action:
    return Action(
        name=state_action.value,
        label=label,
        help=effect,
        done=state_action.label.capitalize(),
        perform=partial(change_state, state_action=state_action),
        is_permitted=lambda actor, post: state_action in edits.list_actions(actor, post),
        **{"list_label": label, "confirmed_from": 1, **options},
    )


BY_ITSELF = "The post becomes public by itself on"
HIDDEN = "The post becomes a draft. Readers do not see it any more. You can publish it again."
RETURNED = "The post leaves the archive, and everybody can read it at once."
ARCHIVED = "The post is put away. Readers do not see it. You can take it out of the archive again."
STATE_ACTIONS = [
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
    build_action(StateAction.PUBLISH_AGAIN, "Publish again", RETURNED),
]
DELETION = Action(
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
MAIN = (StateAction.PUBLISH, StateAction.PUBLISH_AGAIN)  # make a post public
# Other words for the same action on a scheduled post, which is not public yet
SCHEDULED_LABELS: Mapping[str, tuple[str, str]] = {
    StateAction.SCHEDULE: ("Change the time", BY_ITSELF),
    StateAction.UNPUBLISH: ("Do not publish", "The post becomes a draft again."),
}
NEW_POST = (StateAction.PUBLISH, StateAction.SCHEDULE)  # actions on a post that is new


@dataclass(frozen=True)
class Button:
    """A button of the form, which saves it and does an action. With a `verb`, a dialog asks before.

    With `has_time`, the time of publication is beside the button. The main ones are also in the row that stays in view.
    """

    action: str
    label: str
    help: str
    verb: str = ""
    has_time: bool = False
    is_dangerous: bool = False

    @property
    def is_main(self) -> bool:
        return self.action in MAIN


def list_state_buttons(actor: Actor, post: Post | None) -> list[Button]:
    """Return the buttons that change the state of a post, or of a new one."""
    if post is not None:
        return [build_button(action, post.status) for action in list_offered_actions(STATE_ACTIONS, actor, post)]
    return [build_button(action, PostStatus.DRAFT) for action in STATE_ACTIONS if action.name in NEW_POST]


def build_button(action: Action, status: str) -> Button:
    """Return the button of an action on the state, with the words for posts of a status."""
    words, is_dangerous = (action.label, action.help), action.is_dangerous
    if status == PostStatus.SCHEDULED:
        words, is_dangerous = SCHEDULED_LABELS.get(action.name, words), False
    asks = is_dangerous or action.name in MAIN
    return Button(action.name, *words, action.list_label if asks else "", action.has_form, is_dangerous)


def list_copy_buttons(actor: Actor, post: Post, copy: WorkingCopy | None) -> Iterator[Button]:
    """Yield the buttons for the working copy below the form, of those that the actor may press."""
    may_publish = policy.may_publish_working_copy_of(actor, post.author.user_id, post.status)
    if may_publish and post.status == PostStatus.PUBLISHED:
        yield Button(CopyAction.SCHEDULE, "Schedule the changes", "Readers see the changes from", has_time=True)
    if copy is not None and copy.publish_at is not None:
        yield Button(CopyAction.UNSCHEDULE, "Do not publish the changes", "The changes stay, without a time.")
    if copy is not None:
        effect = "The form shows the text of the post again. The history keeps the changes: you can restore them."
        yield Button(CopyAction.DISCARD, "Discard the changes", effect, "Discard the changes of", is_dangerous=True)


def describe_state(post: Post | None) -> SafeString | str:
    """Return the present status in words, as HTML."""
    if post is None:
        return "New"
    if post.status == PostStatus.SCHEDULED:
        name = selectors.posts.find_locked_scheduler(post)
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


def describe_result(state_action: str, post: Post) -> SafeString:
    """Return the message after an action, with a link to the post."""
    link = link_post(post)
    if state_action == StateAction.SCHEDULE:
        return format_html("“{}” will be published on {}.", link, render_time(post.publish_at))
    results: Mapping[str, str] = {
        StateAction.PUBLISH: "“{}” is public now. {}",
        StateAction.PUBLISH_AGAIN: "“{}” is public again. {}",
        StateAction.ARCHIVE: "“{}” is in the archive. Readers do not see it.",
    }
    return format_html(results.get(state_action, "“{}” is a draft now. Readers do not see it."), link, link_site(post))


def describe_outcome(action: Action, posts: Sequence[Post]) -> SafeString | str:
    """Return the message after an action of the list."""
    if len(posts) == 1 and action.name in StateAction:
        return describe_result(action.name, posts[0])
    time = format_html(" for {}", render_time(posts[0].publish_at)) if action.name == StateAction.SCHEDULE else ""
    number = "1 post is" if len(posts) == 1 else f"{len(posts):,} posts are"
    return format_html("{} {}{}.", number, action.done.lower(), time)
