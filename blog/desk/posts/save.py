"""Saving the form of a post: its content, and the state of the button that was pressed."""

from collections.abc import Mapping
from typing import Any

from django import forms

from blog import services
from blog.desk.local_times import LocalTimeField
from blog.desk.posts.states import NEW_POST
from blog.models import CONTENT, Post, PostStatus, WorkingCopy
from blog.services import states
from blog.services.states import StateAction
from contentapi.core.errors import Malformed
from contentapi.core.identity import Actor
from contentapi.desk.service_admin import ServiceForm

OPENED = ("opened_version", "opened_copy", "opened_post")  # hidden fields of the form


def read_action(data: Mapping[str, Any]) -> StateAction | None:
    """Return the action whose button was pressed; None for a button that saves. Raises `Malformed`."""
    name = data.get("_act")
    if not name:
        return None
    if name not in StateAction.values:
        raise Malformed(f"There is no action “{name}”.")
    return StateAction(name)


def list_versions(post: Post, copy: WorkingCopy | None) -> dict[str, int | str]:
    """Return the versions with which a form is opened, by the names of its hidden fields.

    That of the post on which the text is based; that of the working copy, 0 if there is none yet, and empty if the form
    changes the post itself; and that of the post, for its authors and its time, which a working copy does not have.
    """
    first: int | str = 0 if post.pk and post.status == PostStatus.PUBLISHED else ""
    base, version = (post.version, first) if copy is None else (copy.base_version, copy.version)
    return dict(zip(OPENED, (base, version, post.version), strict=True))


class StateForm(ServiceForm):
    """The form of a post without its state: a button changes it. `state_action` is the action of the pressed button."""

    copy: WorkingCopy | None = None  # of the post, if the person may change it: its text is that of the form

    schedule_at = LocalTimeField(label="Publish at")
    opened_version = forms.IntegerField(widget=forms.HiddenInput, required=False)
    opened_copy = forms.IntegerField(widget=forms.HiddenInput, required=False)
    opened_post = forms.IntegerField(widget=forms.HiddenInput, required=False)

    api_fields = {"authorId": "author", "publishAt": "schedule_at"}
    not_stored = {"schedule_at", *OPENED}  # fields of the form that are no fields of the post

    def __init__(self, *arguments: Any, **options: Any) -> None:
        if self.copy is not None:
            options["initial"] = {**self.copy.content, **(options.get("initial") or {})}
        super().__init__(*arguments, **options)
        post, copy = self.instance, self.copy
        for name, version in list_versions(post, copy).items():
            self.fields[name].initial = version
        self.fields["schedule_at"].initial = post.publish_at if copy is None else copy.publish_at

    @property
    def state_action(self) -> StateAction | None:
        return read_action(self.data)

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if self.state_action is not StateAction.SCHEDULE and "_schedule_changes" not in self.data:
            self.errors.pop("schedule_at", None)  # another button does not use the time
        return cleaned

    @property
    def post_changes(self) -> dict[str, Any]:
        """Return the values of the post that differ from those of the form as it was opened.

        The form may have fields that the page had not: the post has become public since.
        """
        changes = {
            name: self.cleaned_data[name]
            for name in self.changed_data
            if name not in self.not_stored and not self.is_omitted(name)
        }
        if "author" in changes:
            author = changes.pop("author")
            changes["author_id"] = author and str(author.pk)
        if "coauthor_ids" in changes:
            changes["coauthor_ids"] = list(map(str, changes["coauthor_ids"]))
        return changes

    def is_omitted(self, name: str) -> bool:
        """Return whether the page that was sent had no such field."""
        widget = self.fields[name].widget
        return bool(widget.value_omitted_from_data(self.data, self.files, self.add_prefix(name)))


def create_post(actor: Actor, row: Post, form: StateForm) -> Post:
    """Create the post that the form describes, in the state of the pressed button."""
    state: dict[str, Any] = {}
    if form.state_action is not None:
        if form.state_action not in NEW_POST:
            raise Malformed(f"A new post cannot be {form.state_action.label}.")
        state = {"status": NEW_POST[form.state_action]}
    if form.state_action is StateAction.SCHEDULE:
        state["publish_at"] = form.cleaned_data["schedule_at"]
    content = {name: form.cleaned_data[name] for name in CONTENT}
    author_id = str(row.author_id) if row.author_id else None
    coauthor_ids = list(map(str, form.cleaned_data.get("coauthor_ids", ())))
    post = services.create_post(actor=actor, author_id=author_id, coauthor_ids=coauthor_ids, **content, **state)
    row.author_id = post.author_id  # the form of an author has no author
    copy_state(post, row)
    return post


def edit_post(actor: Actor, row: Post, form: StateForm) -> None:
    """Save the changes that the form describes, and do the action of the pressed button."""
    options: dict[str, Any] = {
        "changes": form.post_changes,
        "expected_version": str(form.cleaned_data["opened_version"]),
    }
    if form.state_action is None:
        post = services.edit_post(actor=actor, post_id=str(row.pk), **options)
    else:
        publish_at = form.cleaned_data.get("schedule_at") if form.state_action is StateAction.SCHEDULE else None
        post = states.change_state(
            actor=actor, post_id=str(row.pk), action=form.state_action, publish_at=publish_at, **options
        )
    copy_state(post, row)


def copy_state(post: Post, row: Post) -> None:
    """Copy what a service has decided to the row of the form, which messages describe."""
    for name in ("title", "status", "publish_at", "published_at"):
        setattr(row, name, getattr(post, name))
