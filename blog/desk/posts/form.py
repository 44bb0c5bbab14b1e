"""The form in which an editor writes a post."""

from typing import Any

from blog.desk.posts import address, coauthors, conflict, writing
from blog.models import CONTENT_FIELDS, OPTIONAL, Kind, Post

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
        if "author" in self.fields:
            # A user without a profile has nobody to choose: the service creates the profile.
            self.fields["author"].required = False
            self.fields["author"].help_text = "Leave this empty to write as yourself."
