"""The form in which an editor writes a post."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.urls import reverse

from blog import services
from blog.desk.posts import address, autosave, coauthors, conflict, writing
from blog.models import CONTENT_FIELDS, OPTIONAL, SUMMARIES, Author, Kind, Post, PostStatus

LINES = [field.name for field in CONTENT_FIELDS if field.kind == Kind.LINE]
WORDS = [field.name for field in CONTENT_FIELDS if field.kind == Kind.WORDS]


class PostForm(writing.WritingForm, address.AddressForm, coauthors.CoauthorsForm, conflict.ConflictForm):
    """The form of a post: its text, its state, and the version that it was opened with."""

    version_before = 0  # of the post, for the log of the save

    class Meta:
        model = Post
        fields = [*LINES, "body", "author", "coauthor_ids", *WORDS, "published_at", *OPTIONAL]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if "body" in self.fields:
            is_on_copy = self.fields["opened_copy"].initial != ""
            saves = "data-autosave" if is_on_copy or self.instance.status == PostStatus.DRAFT else "data-save"
            address = reverse("admin:blog_post_autosave", args=[self.instance.pk or autosave.NEW])
            version = self.copy.version if self.copy else self.instance.version
            self.fields["body"].widget.attrs |= {saves: address, "data-version": version}
        if self.copy is not None:
            self.show_default_texts(self.copy.content)
        if "author" in self.fields:
            # A user without a profile has nobody to choose: the service creates the profile.
            self.fields["author"].required = False
            if self.instance.pk is None:
                self.fields["author"].help_text = "Leave this empty to write as yourself."

    def clean_author(self) -> Author | None:
        """Return the author: that of the post for a page without the field. An empty field of a post is refused."""
        author: Author | None = self.cleaned_data["author"]
        if author is None and self.instance.pk is not None:
            if "author" in self.data:
                raise ValidationError(self.fields["author"].error_messages["required"])
            author = self.instance.author
        return author

    def show_default_texts(self, content: Mapping[str, Any]) -> None:
        """Show the default excerpt and description of a working copy as the placeholders of the empty fields."""
        rendering = services.render_post(content.get("body", self.instance.body), content.get("excerpt"))
        for name in SUMMARIES:
            if name in self.fields:
                self.fields[name].widget.attrs["placeholder"] = getattr(rendering, f"default_{name}")
