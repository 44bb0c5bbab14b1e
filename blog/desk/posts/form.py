"""The form in which an editor writes a post."""

from typing import Any

from django.urls import reverse

from blog.desk.posts import address, conflict, writing
from blog.models import ADDRESSES, CONTENT_FIELDS, Kind, Post, PostStatus

LINES = [field.name for field in CONTENT_FIELDS if field.kind == Kind.LINE]
WORDS = [field.name for field in CONTENT_FIELDS if field.kind == Kind.WORDS]


class PostForm(writing.WritingForm, address.AddressForm, conflict.ConflictForm):
    """The form of a post: its text, its state, and the version that it was opened with."""

    version_before = 0  # of the post, for the log of the save

    class Meta:
        model = Post
        fields = [*LINES, "body", "author", *WORDS, "published_at", *ADDRESSES]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        is_on_copy = self.fields["opened_copy"].initial is not None
        if self.instance.pk and "body" in self.fields and (is_on_copy or self.instance.status == PostStatus.DRAFT):
            address = reverse("admin:blog_post_autosave", args=[self.instance.pk])
            version = self.copy.version if self.copy else self.instance.version
            self.fields["body"].widget.attrs |= {"data-autosave": address, "data-version": version}
        if "author" in self.fields:
            # A user without a profile has nobody to choose: the service creates the profile.
            self.fields["author"].required = False
            self.fields["author"].help_text = "Leave this empty to write as yourself."
