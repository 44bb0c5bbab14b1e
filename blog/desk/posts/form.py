"""The form in which an editor writes a post: its content, the versions that it was opened with, and its buttons."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.urls import reverse, reverse_lazy
from unfold.widgets import UnfoldAdminTextInputWidget

from blog import models, services
from blog.desk.local_times import LocalTimeField
from blog.desk.posts import fields
from blog.history.merging import has_marks
from blog.models import CONTENT_FIELDS, OPTIONAL, POST_OWN, SUMMARIES, Author, Kind, Post, PostStatus, WorkingCopy
from blog.services import CopyAction, Edit, StateAction
from contentapi.conf import conf
from contentapi.core.errors import Malformed
from contentapi.desk.forms import LinesField, ServiceForm, Textarea
from contentapi.types.forms import RelatedField
from contentapi.types.own_form import OwnFieldsField, keep_changes, list_own_inputs

NEW = "new"  # replaces the id of an unsaved post in addresses
OPENED = ("opened_version", "opened_copy", "opened_post")  # hidden fields of the form
ACTIONS: Mapping[str, StateAction | CopyAction] = {each.value: each for each in (*StateAction, *CopyAction)}
LINES = [field.name for field in CONTENT_FIELDS if field.kind == Kind.LINE]
WORDS = [field.name for field in CONTENT_FIELDS if field.kind == Kind.WORDS]
OWN = ["own"] if POST_OWN.fields else []
SCRIPTS = (
    "vendor/markdown-toolbar-element/markdown-toolbar-element", "editor", "preview", "following", "saving", "autosave",
    "images", "image_choice", "image_writing", "cover", "tags", "address", "coauthors",
)  # fmt: skip
STYLES = ["blog/vendor/tom-select/tom-select.min.css", "blog/writing.css", "blog/images.css", "blog/address.css"]


def read_action(data: Mapping[str, Any]) -> StateAction | CopyAction | None:
    """Return the action whose button was pressed; None for a button that only saves. Raises `Malformed`."""
    name = data.get("_act")
    if not name:
        return None
    if name not in ACTIONS:
        raise Malformed(f"There is no action “{name}”.")
    return ACTIONS[name]


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


class PostForm(ServiceForm):
    """The form of a post without its state: a button changes it. An empty text of `OPTIONAL` is null."""

    copy: WorkingCopy | None = None  # of the post, if the person may change it: its text is that of the form

    title = fields.TitleField(widget=Textarea(attrs={"rows": 1, "class": "grows"}), max_length=models.MAX_TITLE)
    body = fields.BodyField(
        widget=fields.MarkdownInput(
            attrs={"rows": 16, "class": "grows", "data-writing": True, "data-max-length": models.MAX_BODY}
        ),
        label="Text",
        strip=False,
        required=False,
        help_text=f"Markdown. At most {models.MAX_BODY:,} characters.",
    )
    tags = LinesField(
        forms.CharField(max_length=models.MAX_TAG),
        delimiter="\n",
        max_length=models.MAX_TAGS,
        required=False,
        widget=Textarea(
            attrs={
                "rows": 4,
                "placeholder": "One tag on each line",
                "data-max-tags": models.MAX_TAGS,
                "data-max-length": models.MAX_TAG,
                "data-suggestions": reverse_lazy("admin:blog_post_tags"),
            }
        ),
        help_text=f"At most {models.MAX_TAGS}. Press Enter or type a comma after each tag.",
    )
    coauthor_ids = RelatedField(
        is_list=True,
        widget=fields.CoauthorsInput,
        label="Co-authors",
        required=False,
        help_text=f"At most {models.MAX_COAUTHORS}, in the order in which readers see them. Remove and choose a name "
        "again to move it to the end. Co-authors may read the post before it is public.",
    )
    slug = fields.build_text(
        fields.SlugInput,
        "The name of the post in its address: a-z, 0-9 and hyphens. If you leave it empty, it is made from the title. "
        "An old slug of a public post keeps leading to it.",
        max_length=models.MAX_SLUG,
    )
    canonical_url = fields.build_text(
        UnfoldAdminTextInputWidget,
        "Where the original of this text is, if this is a copy.",
        label="Canonical URL",
        max_length=models.MAX_URL,
    )
    excerpt = fields.build_text(
        Textarea({"rows": 2, "class": "grows", "maxlength": models.MAX_EXCERPT}),
        "A short text for lists. If you leave it empty, the first sentences of the text are shown.",
        strip=False,
    )
    description = fields.build_text(
        Textarea({"rows": 2, "class": "grows", "maxlength": models.MAX_DESCRIPTION}),
        "A text for search engines and cards. If you leave it empty, the excerpt is shown.",
        strip=False,
    )
    cover_id = forms.IntegerField(
        widget=fields.CoverInput, label="Cover", required=False, min_value=1, help_text="An image for lists and cards."
    )
    cover_alt = fields.build_text(
        UnfoldAdminTextInputWidget,
        "What the cover shows. If you leave it empty, it is the text of the image.",
        label="Text of the cover",
        max_length=models.MAX_ALT,
    )
    if OWN:
        own = OwnFieldsField(POST_OWN)
    schedule_at = LocalTimeField(label="Publish at")
    opened_version = forms.IntegerField(widget=forms.HiddenInput, required=False)
    opened_copy = forms.IntegerField(widget=forms.HiddenInput, required=False)
    opened_post = forms.IntegerField(widget=forms.HiddenInput, required=False)

    api_fields = {"authorId": "author", "publishAt": "schedule_at"}
    not_stored = {"schedule_at", *OPENED}  # fields of the form that are no fields of the post

    class Meta:
        model = Post
        fields = [*LINES, "body", "author", "coauthor_ids", *WORDS, "published_at", *OPTIONAL, *OWN]

    class Media:
        css = {"all": STYLES}
        js = [
            "blog/vendor/tom-select/tom-select.popular.min.js",
            *(forms.Script(f"blog/{name}.js", type="module") for name in SCRIPTS),
        ]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        if self.copy is not None:
            options["initial"] = {**self.copy.content, **(options.get("initial") or {})}
        super().__init__(*arguments, **options)
        post, copy = self.instance, self.copy
        for name, version in list_versions(post, copy).items():
            self.fields[name].initial = version
        self.fields["schedule_at"].initial = (copy or post).publish_at
        self.describe_to_scripts(post, copy)
        texts = post if copy is None else services.render_post(self.initial["body"], self.initial.get("excerpt"))
        for name in SUMMARIES:  # what readers see instead of an empty one
            self.fields[name].widget.attrs["placeholder"] = getattr(texts, f"default_{name}") or ""
        if "author" in self.fields:
            # A user without a profile has nobody to choose: the service creates the profile.
            self.fields["author"].required = False
            if post.pk is None:
                self.fields["author"].help_text = "Leave this empty to write as yourself."

    def describe_to_scripts(self, post: Post, copy: WorkingCopy | None) -> None:
        is_autosaved = is_on_copy(post, copy) or post.status == PostStatus.DRAFT
        post_id, content = post.pk or NEW, [field.name for field in CONTENT_FIELDS]
        self.fields["body"].widget.attrs |= {
            "data-post": post_id,
            "data-version": (copy or post).version,
            # The values that the scripts keep and preview
            "data-fields": " ".join([*content, *list_own_inputs(POST_OWN), "author"]),
            "data-unsaved": self.is_bound,  # the page of a form that was refused shows text that is not stored
            "data-autosave" if is_autosaved else "data-save": reverse("admin:blog_post_autosave", args=[post_id]),
        }
        self.fields["slug"].widget.attrs["data-url"] = conf.environment.contentapi_site_post_url or "https://…/{slug}"

    def clean_author(self) -> Author | None:
        """Return the author: that of the post for a page without the field. An empty field of a post is refused."""
        author: Author | None = self.cleaned_data["author"]
        if author is None and self.instance.pk is not None:
            if "author" in self.data:
                raise ValidationError(self.fields["author"].error_messages["required"])
            author = self.instance.author
        return author

    def clean_own(self) -> dict[str, Any]:
        return keep_changes(POST_OWN, self.initial.get("own"), self.cleaned_data["own"])

    def clean(self) -> dict[str, Any] | None:
        """Keep texts of which browsers have changed the line ends only, and say what is wrong with the others.

        Refuse a merged text in which a conflict is not decided. Only a button that schedules uses the time.
        """
        cleaned = super().clean() or self.cleaned_data
        for field in CONTENT_FIELDS:
            if field.name in cleaned and field.name not in self.changed_data:
                cleaned[field.name] = self.initial.get(field.name)
            elif problems := services.list_problems(field, cleaned.get(field.name)):
                self.add_error(field.name, problems)
        if read_action(self.data) not in (StateAction.SCHEDULE, CopyAction.SCHEDULE):
            self.errors.pop("schedule_at", None)
        if "_merged" in self.data and has_marks(cleaned.get("body", "")):
            marks = "The text still has marks of a conflict (<<<<<<< and >>>>>>>)."
            problem = f"{marks} Delete them, or save again as it is."
            self.add_error("body", problem)
        return cleaned

    def read_edit(self) -> Edit:
        """Return what the form changes, and the action of the pressed button."""
        opened_copy = self.cleaned_data["opened_copy"]
        return Edit(
            changes=self.read_changes(),
            action=read_action(self.data),
            publish_at=self.cleaned_data.get("schedule_at"),
            version=str(self.cleaned_data["opened_version"]),
            copy_version=None if opened_copy is None else str(opened_copy),
            settings_version=str(self.cleaned_data["opened_post"]),
        )

    def read_changes(self) -> dict[str, Any]:
        """Return the values that differ from those of the form as it was opened, of the fields that its page had."""
        changes = {
            name: self.cleaned_data[name]
            for name in self.changed_data
            if name not in self.not_stored
            and not self.fields[name].widget.value_omitted_from_data(self.data, self.files, self.add_prefix(name))
        }
        if "author" in changes:
            author = changes.pop("author")
            changes["author_id"] = author and str(author.pk)
        if "coauthor_ids" in changes:
            changes["coauthor_ids"] = list(map(str, changes["coauthor_ids"]))
        return changes
