"""The states of posts in the admin site: buttons of the form, actions of the list, and their messages."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin import action as list_action
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from blog import services, states
from blog.history_admin import HistoryAdmin, build_log_message
from blog.local_times import LocalTimeField
from blog.models import Post, PostStatus
from blog.states import Act
from contentapi.core import policy
from contentapi.core.errors import Conflict, Invalid, Malformed
from contentapi.core.identity import Actor
from users.admin_acts import Outcome, collect_outcome, read_selected, report_refused
from users.admin_bases import ServiceForm, get_actor, render_time

MOST_SELECTED = 100  # posts of one action of the list: the page that asks for confirmation names each


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
# What a list does to the selected posts, as the choice of the action and the page that asks for confirmation name it
LIST_LABELS: Mapping[Act, tuple[str, str]] = {
    Act.PUBLISH: ("Publish", "Everybody can read these posts at once."),
    Act.SCHEDULE: ("Schedule for…", "These posts become public by themselves at the time that you choose."),
    Act.UNPUBLISH: ("Unpublish", "These posts become drafts. Readers do not see them any more."),
    Act.ARCHIVE: ("Archive", "These posts are put away. Readers do not see them."),
    Act.UNARCHIVE: ("Take out of the archive", "These posts become drafts."),
    Act.PUBLISH_AGAIN: ("Publish again", "These posts leave the archive, and everybody can read them at once."),
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


class ScheduleForm(forms.Form):
    """The time for an action of the list."""

    schedule_at = LocalTimeField(label="Publish at", required=True)

    def clean_schedule_at(self) -> datetime | None:
        time: datetime | None = self.cleaned_data["schedule_at"]
        try:
            services.validate_publish_at(PostStatus.SCHEDULED, time)
        except Invalid as error:
            raise forms.ValidationError(list(error.fields["publishAt"])) from None
        return time


class StateAdmin(HistoryAdmin):
    """The admin of posts, with their states. `create` and `edit` do the act of the pressed button with the save."""

    change_form_before_template = "blog/post_top.html"
    change_form_after_template = "blog/post_state.html"

    def get_fields(self, request: HttpRequest, obj: Post | None = None) -> list[str]:
        """Leave out the time of the button “Schedule”, which is beside the button."""
        return [name for name in super().get_fields(request, obj) if name != "schedule_at"]

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        if db_field.name == "published_at":
            return LocalTimeField(label="Published at", help_text=db_field.help_text)
        return super().formfield_for_dbfield(db_field, request, **options)

    def may_edit_publication_time(self, request: HttpRequest, post: Post | None) -> bool:
        """Whether the form has the time at which the post first became public."""
        return bool(post and post.published_at) and policy.may_manage_publication(get_actor(request))

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Post | None = None,
    ) -> Any:
        post = obj if change else None
        if self.may_change(get_actor(request), post):
            context["state_buttons"] = list_buttons(get_actor(request), post)
        context["state"] = describe_state(post)
        return super().render_change_form(request, context, add, change, form_url, obj)

    def create_post(self, actor: Actor, form: StateForm, author_id: str | None, values: dict[str, Any]) -> Post:
        """Create the post that the form describes, in the state of the pressed button."""
        state: dict[str, Any] = {}
        if form.act is not None:
            if form.act not in NEW_POST:
                raise Malformed(f"A new post cannot be {form.act.label}.")
            state = {"status": NEW_POST[form.act]}
        if form.act is Act.SCHEDULE:
            state["publish_at"] = form.cleaned_data["schedule_at"]
        post = services.create_post(actor=actor, author_id=author_id, **values, **state)
        copy_state(post, form.instance)
        return post

    def edit(self, actor: Actor, row: Post, form: Any) -> None:
        options = {"changes": form.post_changes, "expected_version": str(form.cleaned_data["opened_version"])}
        if form.act is None:
            post = services.edit_post(actor=actor, post_id=str(row.pk), **options)
        else:
            publish_at = form.cleaned_data.get("schedule_at") if form.act is Act.SCHEDULE else None
            post = states.change_state(actor=actor, post_id=str(row.pk), act=form.act, publish_at=publish_at, **options)
        copy_state(post, row)

    def response_add(self, request: HttpRequest, obj: Post, post_url_continue: str | None = None) -> Any:
        act = read_act(request.POST)
        if act is None:
            return super().response_add(request, obj, post_url_continue)
        self.message_user(request, describe_result(act, obj), messages.SUCCESS)
        return self.response_post_save_add(request, obj)

    def response_change(self, request: HttpRequest, obj: Post) -> Any:
        act = read_act(request.POST)
        if act is None:
            return super().response_change(request, obj)
        self.message_user(request, describe_result(act, obj), messages.SUCCESS)
        return self.response_post_save_change(request, obj)

    # Actions of the list

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Add the acts that the actor may do to some posts."""
        actions: dict[str, Any] = super().get_actions(request)
        actor = get_actor(request)
        if not self.may_change(actor, None):
            return actions
        for act in states.list_acts_on_some(actor):
            actions[act.value] = (build_list_action(act), act.value, LIST_LABELS[act][0])
        return actions

    def change_states(self, request: HttpRequest, rows: models.QuerySet[Post], act: Act) -> HttpResponse | None:
        """Do an act to the selected posts; ask for a time first, or for confirmation if there are several posts."""
        posts = read_selected(self, rows.select_related("author").defer("body"), MOST_SELECTED)
        is_confirmed = "confirm" in request.POST
        form = None
        if act is Act.SCHEDULE:
            form = ScheduleForm(request.POST if is_confirmed else None)
            if not form.is_valid():
                return self.confirm_act(request, posts, act, form)
        elif len(posts) > 1 and not is_confirmed:
            return self.confirm_act(request, posts, act, None)
        publish_at = form.cleaned_data["schedule_at"] if form else None
        self.report_act(request, act, self.do_act(request, posts, act, publish_at))
        return None

    def confirm_act(self, request: HttpRequest, posts: list[Post], act: Act, form: forms.Form | None) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": f"{LABELS[act]}: {count_posts(len(posts))}",
            "effect": LIST_LABELS[act][1],
            "act": act,
            "button": f"{LABELS[act]}: {count_posts(len(posts))}",
            "posts": [(post, describe_state(post)) for post in posts],
            "form": form,
            "media": form.media if form else "",
            "checkbox": ACTION_CHECKBOX_NAME,
        }
        return TemplateResponse(request, "admin/blog/post/confirm_act.html", context)

    def do_act(self, request: HttpRequest, posts: Iterable[Post], act: Act, publish_at: datetime | None) -> Outcome:
        """Do an act to each post in a transaction of its own."""
        actor = get_actor(request)

        def do_one(post: Post) -> Post:
            changed = states.change_state(actor=actor, post_id=str(post.pk), act=act, publish_at=publish_at)
            if changed.version == post.version:
                raise Conflict(f"It is {changed.status} already.")
            self.log_change(request, changed, build_log_message(request, changed, post.version))
            return changed

        return collect_outcome(posts, do_one)

    def report_act(self, request: HttpRequest, act: Act, outcome: Outcome) -> None:
        """Show how many posts were changed, and name the others with the reasons."""
        done = outcome.done
        if len(done) == 1:
            self.message_user(request, describe_result(act, done[0]), messages.SUCCESS)
        elif done:
            time = format_html(" for {}", render_time(done[0].publish_at)) if act is Act.SCHEDULE else ""
            text = format_html("{} are {}{}.", count_posts(len(done)), act.label, time)
            self.message_user(request, text, messages.SUCCESS)
        report_refused(request, act.label, outcome)


def copy_state(post: Post, row: Post) -> None:
    """Copy what a service has decided to the row of the form, which messages describe."""
    for name in ("title", "status", "publish_at", "published_at"):
        setattr(row, name, getattr(post, name))


def build_list_action(act: Act) -> Callable[[StateAdmin, HttpRequest, Any], HttpResponse | None]:
    @list_action(description=LIST_LABELS[act][0])
    def change_states(admin: StateAdmin, request: HttpRequest, rows: Any) -> HttpResponse | None:
        return admin.change_states(request, rows, act)

    return change_states


def count_posts(number: int) -> str:
    return f"{number} post" if number == 1 else f"{number} posts"
