"""The form in which an editor writes a post: its content, the versions that it was opened with, and its buttons."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.urls import reverse

from blog import services
from blog.desk.local_times import LocalTimeField
from blog.desk.posts import address, coauthors, writing
from blog.history.merging import has_marks
from blog.models import CONTENT, CONTENT_FIELDS, OPTIONAL, SUMMARIES, Author, Kind, Post, PostStatus, WorkingCopy
from blog.services import CopyAction, Edit, StateAction
from contentapi.core.errors import Malformed

NEW = "new"  # replaces the id of an unsaved post in addresses
OPENED = ("opened_version", "opened_copy", "opened_post")  # hidden fields of the form
COPY_BUTTONS = {f"_{action}": action for action in CopyAction}
LINES = [field.name for field in CONTENT_FIELDS if field.kind == Kind.LINE]
WORDS = [field.name for field in CONTENT_FIELDS if field.kind == Kind.WORDS]


def read_action(data: Mapping[str, Any]) -> StateAction | None:
    """Return the action whose button was pressed; None for a button that saves. Raises `Malformed`."""
    name = data.get("_act")
    if not name:
        return None
    if name not in StateAction.values:
        raise Malformed(f"There is no action “{name}”.")
    return StateAction(name)


def read_pressed(data: Mapping[str, Any]) -> str:
    """Return the name of the pressed button of the working copy; an empty one for another button."""
    return next((name for name in COPY_BUTTONS if name in data), "")


def list_versions(post: Post, copy: WorkingCopy | None) -> dict[str, int | str]:
    """Return the versions with which a form is opened, by the names of its hidden fields.

    That of the post on which the text is based; that of the working copy, 0 if there is none yet, and empty if the form
    changes the post itself; and that of the post, for its authors and its time, which a working copy does not have.
    """
    first: int | str = 0 if post.pk and post.status == PostStatus.PUBLISHED else ""
    base, version = (post.version, first) if copy is None else (copy.base_version, copy.version)
    return dict(zip(OPENED, (base, version, post.version), strict=True))


def is_on_copy(post: Post, copy: WorkingCopy | None) -> bool:
    """Whether the form changes the working copy, and not the post itself."""
    return list_versions(post, copy)["opened_copy"] != ""


class PostForm(writing.WritingForm, address.AddressForm, coauthors.CoauthorsForm):
    """The form of a post without its state: a button changes it."""

    copy: WorkingCopy | None = None  # of the post, if the person may change it: its text is that of the form

    schedule_at = LocalTimeField(label="Publish at")
    opened_version = forms.IntegerField(widget=forms.HiddenInput, required=False)
    opened_copy = forms.IntegerField(widget=forms.HiddenInput, required=False)
    opened_post = forms.IntegerField(widget=forms.HiddenInput, required=False)

    api_fields = {"authorId": "author", "publishAt": "schedule_at"}
    not_stored = {"schedule_at", *OPENED}  # fields of the form that are no fields of the post

    class Meta:
        model = Post
        fields = [*LINES, "body", "author", "coauthor_ids", *WORDS, "published_at", *OPTIONAL]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        if self.copy is not None:
            options["initial"] = {**self.copy.content, **(options.get("initial") or {})}
        super().__init__(*arguments, **options)
        post, copy = self.instance, self.copy
        for name, version in list_versions(post, copy).items():
            self.fields[name].initial = version
        self.fields["schedule_at"].initial = post.publish_at if copy is None else copy.publish_at
        if "body" in self.fields:
            is_autosaved = is_on_copy(post, copy) or post.status == PostStatus.DRAFT
            saves = "data-autosave" if is_autosaved else "data-save"
            address = reverse("admin:blog_post_autosave", args=[post.pk or NEW])
            version = copy.version if copy else post.version
            self.fields["body"].widget.attrs |= {saves: address, "data-version": version}
        if copy is not None:
            self.show_default_texts(copy.content)
        if "author" in self.fields:
            # A user without a profile has nobody to choose: the service creates the profile.
            self.fields["author"].required = False
            if post.pk is None:
                self.fields["author"].help_text = "Leave this empty to write as yourself."

    def show_default_texts(self, content: Mapping[str, Any]) -> None:
        """Show the default excerpt and description of a working copy as the placeholders of the empty fields."""
        rendering = services.render_post(content.get("body", self.instance.body), content.get("excerpt"))
        for name in SUMMARIES:
            if name in self.fields:
                self.fields[name].widget.attrs["placeholder"] = getattr(rendering, f"default_{name}")

    def clean_author(self) -> Author | None:
        """Return the author: that of the post for a page without the field. An empty field of a post is refused."""
        author: Author | None = self.cleaned_data["author"]
        if author is None and self.instance.pk is not None:
            if "author" in self.data:
                raise ValidationError(self.fields["author"].error_messages["required"])
            author = self.instance.author
        return author

    def clean(self) -> dict[str, Any] | None:
        """Refuse a merged text in which a conflict is not decided. Only a button that schedules uses the time."""
        cleaned = super().clean() or self.cleaned_data
        if read_action(self.data) is not StateAction.SCHEDULE and f"_{CopyAction.SCHEDULE}" not in self.data:
            self.errors.pop("schedule_at", None)
        if "_merged" in self.data and has_marks(cleaned.get("body", "")):
            problem = (
                "The text still has marks of a conflict (<<<<<<< and >>>>>>>). Delete them, or save again as it is."
            )
            self.add_error("body", ValidationError(problem))
        return cleaned

    def read_edit(self) -> Edit:
        """Return what the form changes, and the action of the pressed button."""
        opened_copy = self.cleaned_data["opened_copy"]
        return Edit(
            changes=self.read_changes(),
            action=read_action(self.data),
            copy_action=COPY_BUTTONS.get(read_pressed(self.data)),
            publish_at=self.cleaned_data.get("schedule_at"),
            version=str(self.cleaned_data["opened_version"]),
            copy_version=None if opened_copy is None else str(opened_copy),
            settings_version=str(self.cleaned_data["opened_post"]),
        )

    def read_changes(self) -> dict[str, Any]:
        """Return the values of the post that differ from those of the form as it was opened.

        The form may have fields that the page had not: the post has become public since.
        """
        changes = {
            name: self.cleaned_data[name]
            for name in self.changed_data
            if name not in self.not_stored and not self.is_omitted(name)
        }
        for name in changes.keys() & CONTENT:
            if changes[name] == self.initial.get(name):  # the browser has changed line ends
                del changes[name]
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
