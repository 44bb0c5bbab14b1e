"""The states of posts in the admin site: buttons of the form, and their messages."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from blog import services, states
from blog.desk.local_times import LocalTimeField
from blog.models import CONTENT, Post, PostStatus
from blog.states import Act
from contentapi.core import policy
from contentapi.core.errors import Malformed
from contentapi.core.identity import Actor
from users.desk.rendering import render_time
from users.desk.service_admin import ServiceForm


@dataclass(frozen=True, slots=True)
class Button:
    """A button of the form, with what it does."""

    act: Act
    label: str
    effect: str

    @property
    def needs_time(self) -> bool:
        """Whether the field for the time is beside the button."""
        return self.act is Act.SCHEDULE

    @property
    def is_main(self) -> bool:
        """Whether the button is also in the row that stays in view."""
        return self.act in (Act.PUBLISH, Act.PUBLISH_AGAIN)

    @property
    def asks_first(self) -> bool:
        """Whether a dialog asks before the form is sent (blog/static/blog/publishing.js)."""
        return self.act is Act.PUBLISH


LABELS: Mapping[Act, str] = {
    Act.PUBLISH: "Publish now",
    Act.SCHEDULE: "Schedule",
    Act.UNPUBLISH: "Unpublish",
    Act.ARCHIVE: "Archive",
    Act.UNARCHIVE: "Take out of the archive",
    Act.PUBLISH_AGAIN: "Publish again",
}
EFFECTS: Mapping[Act, str] = {
    Act.PUBLISH: "Everybody can read the post at once.",
    Act.SCHEDULE: "The post becomes public by itself on",
    Act.UNPUBLISH: "The post becomes a draft. Readers do not see it any more.",
    Act.ARCHIVE: "The post is put away. Readers do not see it.",
    Act.UNARCHIVE: "The post becomes a draft.",
    Act.PUBLISH_AGAIN: "The post leaves the archive, and everybody can read it at once.",
}
# Other words for the same act in another state
STATE_LABELS: Mapping[tuple[Act, str], tuple[str, str]] = {
    (Act.SCHEDULE, PostStatus.SCHEDULED): ("Change the time", "The post becomes public by itself on"),
    (Act.UNPUBLISH, PostStatus.SCHEDULED): ("Do not publish", "The post becomes a draft again."),
}
NEW_POST = {Act.PUBLISH: PostStatus.PUBLISHED, Act.SCHEDULE: PostStatus.SCHEDULED}  # acts on a post that is new


def read_act(data: Mapping[str, Any]) -> Act | None:
    """Return the act whose button was pressed; None for a button that saves. Raises `Malformed`."""
    name = data.get("_act")
    if not name:
        return None
    if name not in Act.values:
        raise Malformed(f"There is no act “{name}”.")
    return Act(name)


def build_button(act: Act, status: str) -> Button:
    label, effect = STATE_LABELS.get((act, status), (LABELS[act], EFFECTS[act]))
    return Button(act, label, effect)


def list_buttons(actor: Actor, post: Post | None) -> list[Button]:
    """Return the buttons that change the state of a post, or of a new one."""
    if post is not None:
        return [build_button(act, post.status) for act in states.list_acts(actor, post)]
    return [
        build_button(act, PostStatus.DRAFT)
        for act, status in NEW_POST.items()
        if policy.may_transition_posts(actor, PostStatus.DRAFT, status)
    ]


def describe_state(post: Post | None) -> SafeString | str:
    """Return the present status in words, as HTML."""
    if post is None:
        return "New"
    if post.status == PostStatus.SCHEDULED:
        return format_html("Scheduled for {}", render_time(post.publish_at))
    if post.status == PostStatus.PUBLISHED and post.published_at is not None:
        return format_html("Published at {}", render_time(post.published_at))
    return str(post.get_status_display())


def describe_result(act: Act, post: Post) -> SafeString:
    """Return the message after an act, with a link to the post."""
    address = reverse("admin:blog_post_change", args=[post.pk])
    link = format_html('<a class="message-link" href="{}">{}</a>', address, post.title)
    if act is Act.SCHEDULE:
        return format_html("“{}” will be published on {}.", link, render_time(post.publish_at))
    results = {
        Act.PUBLISH: "“{}” is public now.",
        Act.PUBLISH_AGAIN: "“{}” is public again.",
        Act.ARCHIVE: "“{}” is in the archive. Readers do not see it.",
    }
    return format_html(results.get(act, "“{}” is a draft now. Readers do not see it."), link)


class StateForm(ServiceForm):
    """The form of a post without its state: a button changes it. `act` is the act of the pressed button."""

    schedule_at = LocalTimeField(label="Publish at")
    opened_version = forms.IntegerField(widget=forms.HiddenInput, required=False)

    api_fields = {"authorId": "author", "publishAt": "schedule_at", "publishedAt": "published_at"}
    not_stored = {"schedule_at", "opened_version"}  # fields of the form that are no fields of the post

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.fields["opened_version"].initial = self.instance.version
        self.fields["schedule_at"].initial = self.instance.publish_at

    @property
    def act(self) -> Act | None:
        return read_act(self.data)

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if self.act is not Act.SCHEDULE:
            self.errors.pop("schedule_at", None)  # another button does not use the time
        return cleaned

    @property
    def post_changes(self) -> dict[str, Any]:
        """Return the values of the post that differ from those of the form as it was opened."""
        return {name: self.cleaned_data[name] for name in self.changed_data if name not in self.not_stored}


def build_state(actor: Actor, post: Post | None, *, may_change: bool) -> dict[str, Any]:
    """Return what the form shows of the state of a post, or of a new one: in words, and the buttons that change it."""
    state = {"state": describe_state(post)}
    return state | {"state_buttons": list_buttons(actor, post)} if may_change else state


def create_post(actor: Actor, row: Post, form: StateForm) -> Post:
    """Create the post that the form describes, in the state of the pressed button."""
    state: dict[str, Any] = {}
    if form.act is not None:
        if form.act not in NEW_POST:
            raise Malformed(f"A new post cannot be {form.act.label}.")
        state = {"status": NEW_POST[form.act]}
    if form.act is Act.SCHEDULE:
        state["publish_at"] = form.cleaned_data["schedule_at"]
    content = {name: form.cleaned_data[name] for name in CONTENT}
    author_id = str(row.author_id) if row.author_id else None
    post = services.create_post(actor=actor, author_id=author_id, **content, **state)
    row.author_id = post.author_id  # the form of an author has no author
    copy_state(post, row)
    return post


def edit_post(actor: Actor, row: Post, form: StateForm) -> None:
    """Save the changes that the form describes, and do the act of the pressed button."""
    options: dict[str, Any] = {
        "changes": form.post_changes,
        "expected_version": str(form.cleaned_data["opened_version"]),
    }
    if form.act is None:
        post = services.edit_post(actor=actor, post_id=str(row.pk), **options)
    else:
        publish_at = form.cleaned_data.get("schedule_at") if form.act is Act.SCHEDULE else None
        post = states.change_state(actor=actor, post_id=str(row.pk), act=form.act, publish_at=publish_at, **options)
    copy_state(post, row)


def copy_state(post: Post, row: Post) -> None:
    """Copy what a service has decided to the row of the form, which messages describe."""
    for name in ("title", "status", "publish_at", "published_at"):
        setattr(row, name, getattr(post, name))
