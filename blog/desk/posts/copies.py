"""The form of a post on its working copy: which text it shows, and what its buttons do.

The form of a published post, and of every post that has a working copy, changes the copy. Other forms change the post.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from blog import policy, selectors, services
from blog.desk.posts import save
from blog.desk.posts.save import StateForm
from blog.desk.posts.states import describe_result, link_post
from blog.history import versions
from blog.models import CONTENT, Post, PostStatus, WorkingCopy
from blog.services import states
from blog.services.states import StateAction
from contentapi.auth.people import name_users
from contentapi.core.identity import Actor
from contentapi.desk.bases import PolicyAdmin

PUBLISH, SCHEDULE, UNSCHEDULE, DISCARD = "_publish_changes", "_schedule_changes", "_unschedule_changes", "_discard"
BUTTONS = (PUBLISH, SCHEDULE, UNSCHEDULE, DISCARD)


class CopyButton(NamedTuple):
    """A button of the form for its working copy. With `has_time`, the time of publication is beside it.

    With a `verb`, a dialog asks before the form is sent.
    """

    name: str
    label: str
    help: str
    has_time: bool = False
    verb: str = ""


def find_copy(actor: Actor, post: Post | None) -> WorkingCopy | None:
    """Return the working copy of a post, if there is one and the actor may change the post."""
    if post is None or not policy.may_see_history_of(actor, post.author.user_id):
        return None
    copy: WorkingCopy | None = getattr(post, "working_copy", None)  # a statement for each object of the post
    return copy


def name_saver(copy: WorkingCopy) -> str:
    """Return the name of the person who saved a working copy last; an empty one for a program."""
    return versions.name_person(copy.updated_by, name_users([copy.updated_by]))


def read_pressed(data: Mapping[str, Any]) -> str:
    """Return the name of the pressed button of the working copy; an empty one for another button."""
    return next((name for name in BUTTONS if name in data), "")


def edit_post(actor: Actor, row: Post, form: StateForm) -> None:
    """Save a form, in the working copy or in the post itself, and do what the pressed button says."""
    if form.cleaned_data["opened_copy"] is None:
        save.edit_post(actor, row, form)
    else:
        save.copy_state(save_on_copy(actor, row, form), row)


@transaction.atomic
def save_on_copy(actor: Actor, row: Post, form: StateForm) -> Post:
    """Save the text of a form in the working copy, and do what the pressed button says. Return the post.

    The authors and the time at which the post became public are not part of the text: they change at once.
    """
    post_id, pressed = str(row.pk), read_pressed(form.data)
    version = str(form.cleaned_data["opened_copy"])
    save_settings(actor, row, form)
    if pressed == DISCARD:
        return services.discard_working_copy(actor=actor, post_id=post_id, expected_version=version)
    form.copy = save_text(actor, row, form)
    if form.copy is not None and pressed == PUBLISH:
        services.require_present_base(row, form.copy)
    elif form.state_action is not None:
        change_state(actor, row, form)
    return selectors.select_post_by_id(actor, post_id).queryset().select_related("author").get()


def save_settings(actor: Actor, row: Post, form: StateForm) -> int | None:
    """Save the authors and the publication time of a form in the post. Return the version that the form then shows."""
    settings = {name: value for name, value in form.post_changes.items() if name not in CONTENT}
    opened: int | None = form.cleaned_data["opened_post"]
    if not settings:
        return opened
    post = services.edit_post(actor=actor, post_id=str(row.pk), changes=settings, expected_version=str(opened))
    return post.version


def save_text(actor: Actor, row: Post, form: StateForm) -> WorkingCopy | None:
    """Save the text of a form in the working copy if it differs from it. Return the copy, if there is one."""
    opened_version, opened_copy = form.cleaned_data["opened_version"], form.cleaned_data["opened_copy"]
    changes = {
        name: value
        for name, value in form.post_changes.items()
        if name in CONTENT and value != form.initial.get(name)  # the browser has changed line ends
    }
    pressed = read_pressed(form.data)
    if pressed == SCHEDULE:
        changes["publish_at"] = form.cleaned_data["schedule_at"]
        services.validate_publish_at(PostStatus.SCHEDULED, changes["publish_at"])
    elif pressed == UNSCHEDULE:
        changes["publish_at"] = None
    is_merged = form.copy is not None and form.copy.base_version != opened_version
    if not changes and not is_merged:
        return form.copy
    return services.save_working_copy(
        actor=actor, post_id=str(row.pk), base_version=str(opened_version), expected_version=str(opened_copy), **changes
    )


def publish_text(actor: Actor, post_id: str) -> None:
    """Make the working copy the text of its post, if there is one."""
    if selectors.select_working_copy(actor, post_id).exists():
        services.publish_working_copy(actor=actor, post_id=post_id)


def change_state(actor: Actor, row: Post, form: StateForm) -> None:
    """Do the action of the pressed button. The post takes over the text that the person sees, unless it is put away."""
    action = form.state_action
    assert action is not None  # noqa: S101 - for the type checker
    publish_at = form.cleaned_data.get("schedule_at") if action is StateAction.SCHEDULE else None
    post_id, is_hidden_first = str(row.pk), action is StateAction.UNPUBLISH
    takes_over = action is not StateAction.ARCHIVE and row.status != states.TARGETS[action]
    if takes_over and not is_hidden_first:
        publish_text(actor, post_id)
    states.change_state(actor=actor, post_id=post_id, action=action, publish_at=publish_at)
    if takes_over and is_hidden_first:
        publish_text(actor, post_id)


def list_buttons(actor: Actor, post: Post, copy: WorkingCopy | None) -> Iterator[CopyButton]:
    """Yield the buttons for the working copy below the form, of those that the actor may press."""
    is_public = post.status == PostStatus.PUBLISHED
    may_publish = policy.may_publish_working_copy_of(actor, post.author.user_id, post.status)
    if may_publish and is_public:
        yield CopyButton(SCHEDULE, "Schedule the changes", "Readers see the changes from", has_time=True)
    if copy is not None and copy.publish_at is not None:
        yield CopyButton(UNSCHEDULE, "Do not publish the changes", "The changes stay, without a time.")
    if copy is not None:
        effect = "The form shows the text of the post again. The history keeps the changes: you can restore them."
        yield CopyButton(DISCARD, "Discard the changes", effect, verb="Discard the changes of")


def build_copy_state(actor: Actor, post: Post, copy: WorkingCopy | None) -> dict[str, Any]:
    """Return what the form shows of the working copy; nothing if the form changes the post itself."""
    if save.list_versions(post, copy)["opened_copy"] == "":
        return {}
    is_public = post.status == PostStatus.PUBLISHED
    state: dict[str, Any] = {
        "publish": PUBLISH if policy.may_publish_working_copy_of(actor, post.author.user_id, post.status) else "",
        "publish_label": "Publish changes" if is_public else "Take over the changes",
        "buttons": list(list_buttons(actor, post, copy)),
        "is_outdated": copy is not None and services.has_changed_since(post, copy.base_version),
        "copy": copy,
        "held": copy and copy.publish_at and selectors.find_locked_scheduler(copy),
        "person": copy and name_saver(copy),
    }
    return {"working_copy": state, "show_save": False, "show_save_and_add_another": False}  # the row is full


RESULTS = {
    PUBLISH: "Readers see the text of “{}” already: there are no changes.",
    SCHEDULE: "The changes of “{}” are saved. Readers will see them at the time that you chose.",
    UNSCHEDULE: "The changes of “{}” are saved, without a time of publication.",
    DISCARD: 'The changes of “{}” are discarded. <a class="message-link" href="{}">Look at them, or restore them</a>.',
    "": "The changes of “{}” are saved. Readers do not see them yet.",
}


def leads_to_changes(form: StateForm) -> bool:
    """Return whether the pressed button publishes a working copy: a page shows first what will change."""
    return read_pressed(form.data) == PUBLISH and form.cleaned_data["opened_copy"] is not None and form.copy is not None


def report_save(request: HttpRequest, model_admin: PolicyAdmin, post: Post) -> bool:
    """Show what the pressed button has done. Return False for a button that only saves the post itself."""
    form: StateForm = request.saved_form  # type: ignore[attr-defined]
    pressed, opened_copy = read_pressed(form.data), form.cleaned_data["opened_copy"]
    if form.state_action is not None:
        message = describe_result(form.state_action, post)
    elif opened_copy is not None:
        copy_address = reverse("admin:blog_post_copy", args=[post.pk, opened_copy])
        message = format_html(RESULTS[pressed], link_post(post), copy_address)
    else:
        return False
    model_admin.message_user(request, message, messages.SUCCESS)
    return True
