from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import reduce
from operator import or_
from typing import ClassVar

import pghistory
import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import Func, Q, Value
from django.db.models.functions import Coalesce, Length, Now
from django.db.models.lookups import LessThanOrEqual
from django.utils import timezone

from contentapi.db.ids import SharedIdField
from contentapi.db.literals import TextLiteral

MAX_NAME = 150
MAX_TITLE = 200
MAX_BODY = 200_000
MAX_TAG = 50
MAX_TAGS = 20
MAX_ORIGIN = 300


def build_search_trigger(column: str, watched: Sequence[str]) -> pgtrigger.Trigger:
    """Return a trigger that notes the id of a row, in a column of `SearchChange`, when an update changes the row."""
    return pgtrigger.Trigger(
        name="search_change",
        when=pgtrigger.After,
        operation=pgtrigger.UpdateOf(*watched),  # type: ignore[no-untyped-call]
        condition=pgtrigger.AnyChange(*(name.removesuffix("_id") for name in watched)),
        func=f"INSERT INTO blog_searchchange ({column}) VALUES (NEW.id); RETURN NULL;",  # noqa: S608 - a constant
    )


class Author(models.Model):
    """The author of posts and comments: the public profile of a user, or an author without a user."""

    id = SharedIdField("ID", primary_key=True)
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        help_text="The account behind this author. Imported authors have none.",
    )
    name = models.CharField(max_length=MAX_NAME)
    bio = models.TextField(blank=True)
    avatar_url = models.URLField(blank=True, max_length=2000)
    email = models.EmailField(blank=True, help_text="Shown to editors and to the author only.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [models.CheckConstraint(condition=~Q(name=""), name="blog_author_name_present")]
        indexes = [
            models.Index(fields=["name", "id"], name="blog_author_name"),  # import_posts looks authors up, too
            models.Index(fields=["created_at", "id"], name="blog_author_oldest"),
        ]
        triggers = [build_search_trigger("author_id", ["name"])]

    def __str__(self) -> str:
        return self.name


class PostStatus(models.TextChoices):
    DRAFT = "draft"
    SCHEDULED = "scheduled"
    PUBLISHED = "published"
    ARCHIVED = "archived"


PUBLIC = Q(status=PostStatus.PUBLISHED)  # the condition of indexes; see also `policy.PUBLIC_POSTS`
NEWEST = ("-created_at", "-id")
UPDATED = ("updated_at", "id")
PUBLISHED = ("publication_order", "id")
NEVER_PUBLIC = datetime(9999, 12, 31, tzinfo=UTC)  # the place of posts without `published_at` in their order


class IsUniqueTagList(Func):
    """Whether a text array has only unique, non-empty strings: a SQL function that the first migration creates."""

    function = "blog_is_set_of_words"
    output_field = models.BooleanField()


class PostQuerySet(models.QuerySet["Post"]):
    def newest_first(self) -> PostQuerySet:
        return self.order_by("-created_at", "-id")

    def in_status(self, status: PostStatus | None) -> PostQuerySet:
        """Return the posts with a status. Literals let PostgreSQL use the indexes of public and unpublished posts."""
        if status is None:
            return self
        public = Q(status=TextLiteral(PostStatus.PUBLISHED))
        if status is PostStatus.PUBLISHED:
            return self.filter(public)
        # A parameter: with a literal, PostgreSQL would know that a status is rare, and not use the index of authors.
        return self.filter(~public, status=status)

    def due(self) -> PostQuerySet:
        return self.filter(status=PostStatus.SCHEDULED, publish_at__lte=timezone.now())


# The fields of which a change is a new version of a post.
VERSIONED = ["title", "body", "tags", "status", "publish_at", "published_at", "author", "created_at"]
DATABASE = "database"  # `changed_with` of a change in SQL or in the shell

# A change that did not increase the version was made in SQL or in the shell. Nobody else must be named for it.
ATTRIBUTE_TO_DATABASE = pgtrigger.Trigger(
    name="attribute_to_database",
    operation=pgtrigger.Update,
    when=pgtrigger.Before,
    # The version is compared first: the services increase it, and PostgreSQL then does not compare the texts.
    condition=pgtrigger.Q(old__version=pgtrigger.F("new__version"))
    & reduce(or_, [pgtrigger.Q(**{f"old__{name}__df": pgtrigger.F(f"new__{name}")}) for name in VERSIONED]),
    func=f"""
        NEW.version = OLD.version + 1;
        NEW.updated_at = clock_timestamp();
        NEW.changed_at = NEW.updated_at;
        NEW.changed_by = NULL;
        NEW.changed_with = '{DATABASE}';
        RETURN NEW;
    """,
)


class Post(models.Model):
    """An article. `version` increases with every change of the post itself.

    The three `changed_` fields describe who made the present version. `PostVersion` has the earlier versions.
    """

    id = SharedIdField("ID", primary_key=True)
    title = models.CharField(max_length=MAX_TITLE)
    body = models.TextField(blank=True, help_text="Markdown.")
    status = models.CharField(max_length=10, choices=PostStatus.choices, default=PostStatus.DRAFT)
    author = models.ForeignKey(Author, on_delete=models.PROTECT, related_name="posts", db_index=False)
    tags = ArrayField(models.CharField(max_length=MAX_TAG), default=list, blank=True)
    publish_at = models.DateTimeField(null=True, blank=True, help_text="When a scheduled post will be published.")
    published_at = models.DateTimeField(null=True, blank=True, help_text="When the post first became public.")
    publication_order = models.GeneratedField(
        expression=Coalesce("published_at", Value(NEVER_PUBLIC)), output_field=models.DateTimeField(), db_persist=True
    )
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)
    version = models.BigIntegerField(default=1, editable=False)
    changed_at = models.DateTimeField(default=timezone.now, db_default=Now(), null=True, editable=False)
    changed_by = models.BigIntegerField(null=True, editable=False, help_text="The id of a user, who may be deleted.")
    changed_with = models.CharField(
        max_length=MAX_ORIGIN,
        default=DATABASE,
        db_default=DATABASE,
        editable=False,
        help_text="The interface and the credential. Empty for versions that are older than the history.",
    )

    objects: ClassVar[models.Manager[Post]] = PostQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(status__in=PostStatus.values), name="blog_post_status_known"),
            models.CheckConstraint(condition=~Q(title=""), name="blog_post_title_present"),
            models.CheckConstraint(
                condition=LessThanOrEqual(Length("body"), MAX_BODY),
                name="blog_post_body_length",
                violation_error_message=f"The body may have at most {MAX_BODY:,} characters.",
            ),
            models.CheckConstraint(
                condition=Q(tags__len__lte=MAX_TAGS),
                name="blog_post_tags_number",
                violation_error_message=f"A post may have at most {MAX_TAGS} tags.",
            ),
            models.CheckConstraint(
                condition=IsUniqueTagList("tags"),
                name="blog_post_tags_set",
                violation_error_message="Each tag once, and none empty.",
            ),
            models.CheckConstraint(
                condition=Q(status=PostStatus.SCHEDULED, publish_at__isnull=False)
                | ~Q(status=PostStatus.SCHEDULED) & Q(publish_at__isnull=True),
                name="blog_post_publish_at_iff_scheduled",
                violation_error_message="A scheduled post, and no other, has a time of publication.",
            ),
            models.CheckConstraint(condition=Q(version__gte=1), name="blog_post_version_positive"),
        ]
        indexes = [
            # All posts: for editors, and for the foreign key.
            models.Index(fields=[*NEWEST], name="blog_post_newest"),
            models.Index(fields=[*UPDATED], name="blog_post_updated"),
            models.Index(fields=[*PUBLISHED], name="blog_post_published"),
            models.Index(fields=["author", *NEWEST], name="blog_post_author_newest"),
            GinIndex(fields=["tags"], name="blog_post_tags"),
            # Public posts, however many drafts there are beside them.
            models.Index(fields=[*NEWEST], condition=PUBLIC, name="blog_post_public_newest"),
            models.Index(fields=[*UPDATED], condition=PUBLIC, name="blog_post_public_updated"),
            models.Index(fields=[*PUBLISHED], condition=PUBLIC, name="blog_post_public_published"),
            models.Index(fields=["author", *NEWEST], condition=PUBLIC, name="blog_post_public_author"),
            GinIndex(fields=["tags"], condition=PUBLIC, name="blog_post_public_tags"),
            # Unpublished posts: by status for editors, by author for that author. Each further index of drafts would
            # make createPost slower.
            models.Index(fields=["status", *NEWEST], condition=~PUBLIC, name="blog_post_hidden_newest"),
            models.Index(fields=["status", *UPDATED], condition=~PUBLIC, name="blog_post_hidden_updated"),
            models.Index(fields=["author", *NEWEST], condition=~PUBLIC, name="blog_post_own_newest"),
            models.Index(fields=["publish_at"], condition=Q(status=PostStatus.SCHEDULED), name="blog_post_due"),
        ]
        # A creation has no trigger: the clock finds new posts by their ids.
        triggers = [
            ATTRIBUTE_TO_DATABASE,
            build_search_trigger("post_id", ["title", "body", "tags", "status", "author_id", "created_at"]),
        ]

    def __str__(self) -> str:
        return self.title


class CommentState(models.TextChoices):
    VISIBLE = "visible"
    HIDDEN = "hidden"
    DELETED = "deleted"


class CommentQuerySet(models.QuerySet["Comment"]):
    def oldest_first(self) -> CommentQuerySet:
        return self.order_by("created_at", "id")


class Comment(models.Model):
    """A comment on a post. Nobody changes its text. `policy.VISIBLE_COMMENTS` states which comments the API shows.

    The three `state_changed_` fields describe who hid, showed, deleted or restored it. They are empty for a comment
    whose state has never changed.
    """

    id = SharedIdField("ID", primary_key=True)
    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="comments", db_index=False)
    author = models.ForeignKey(Author, on_delete=models.CASCADE, related_name="comments")
    body = models.TextField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    state = models.CharField(
        max_length=7,
        choices=CommentState.choices,
        default=CommentState.VISIBLE,
        db_default=CommentState.VISIBLE,
        editable=False,
    )
    state_changed_at = models.DateTimeField(null=True, editable=False)
    state_changed_by = models.BigIntegerField(null=True, editable=False, help_text="The id of a user.")
    state_changed_with = models.CharField(
        max_length=MAX_ORIGIN, default="", db_default="", editable=False, help_text="The interface and the credential."
    )

    objects: ClassVar[models.Manager[Comment]] = CommentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(body=""), name="blog_comment_body_present"),
            models.CheckConstraint(
                condition=Q(state=CommentState.VISIBLE)
                | Q(state__in=[CommentState.HIDDEN, CommentState.DELETED], state_changed_at__isnull=False),
                name="blog_comment_state_known",
            ),
        ]
        indexes = [
            # One index for the pages of the API, which have one state, and for the foreign key, which has every state.
            models.Index(fields=["post", "state", "created_at", "id"], name="blog_comment_post_state"),
            models.Index(fields=[*NEWEST], name="blog_comment_newest"),  # the admin's list and desk
            # Few comments are not visible: a list of them is read without passing the others. addComment writes none.
            models.Index(
                fields=["state", *NEWEST], condition=~Q(state=CommentState.VISIBLE), name="blog_comment_moderated"
            ),
            models.Index(
                fields=["state_changed_at"], condition=Q(state=CommentState.DELETED), name="blog_comment_deleted"
            ),
        ]

    def __str__(self) -> str:
        return self.body[:60]


class PostSource(models.Model):
    """The file that a post was imported from, and values of the file for which `Post` has no field.

    Posts that were imported before sources had names have the source "", and no front matter.
    """

    post = models.OneToOneField(Post, on_delete=models.CASCADE, related_name="source")
    source = models.TextField(default="", help_text="The name of the site that the file belongs to.")
    path = models.TextField(help_text="Relative to the folder that was imported.")
    digest = models.BinaryField(max_length=32, help_text="SHA-256 of the file as it was last imported.")
    authors = ArrayField(models.TextField(), help_text="All authors named by the file; the first is the post's.")
    status = models.CharField(
        max_length=10, choices=PostStatus.choices, help_text="The state that the last import called for."
    )
    publish_at = models.DateTimeField(null=True, help_text="The time of publication that the last import called for.")
    front_matter = models.JSONField(null=True, help_text="The keys of the file that have no field here.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "path"], name="blog_postsource_file_unique")]

    def __str__(self) -> str:
        return f"{self.source}: {self.path}"


# The history. Triggers copy the old row of a change. There is no trigger for insertions, which would make each creation
# slower: the present version is the row of the post itself.


class PostVersion(
    pghistory.create_event_model(  # type: ignore[misc]  # a class that pghistory makes
        Post,
        pghistory.UpdateEvent(row=pghistory.Old, condition=pgtrigger.AnyChange("version")),
        pghistory.DeleteEvent(),
        fields=["id", *VERSIONED, "updated_at", "version", "changed_at", "changed_by", "changed_with"],
        obj_field=None,
        context_field=pghistory.ContextJSONField(),
        context_id_field=None,
    )
):
    """An earlier version of a post, or the last version of a deleted post. `id` is the id of the post.

    `pgh_label` is "update" or "delete". `pgh_context` of a deletion has the person and the credential, like
    `changed_by` and `changed_with`.
    """

    pgh_id = models.BigAutoField(primary_key=True)

    class Meta:
        indexes = [
            models.Index(fields=["id", "version"], name="blog_postversion_post"),
            models.Index(fields=["pgh_created_at"], condition=Q(pgh_label="delete"), name="blog_postversion_deleted"),
        ]

    def __str__(self) -> str:
        return f"{self.title}, version {self.version}"


class DeletedComment(
    pghistory.create_event_model(  # type: ignore[misc]
        Comment, pghistory.DeleteEvent(), obj_field=None, context_field=None
    )
):
    """A deleted comment. `id` is the id of the comment. It is restored together with its post."""

    pgh_id = models.BigAutoField(primary_key=True)

    class Meta:
        indexes = [
            models.Index(fields=["post"], name="blog_deletedcomment_post"),
            models.Index(fields=["pgh_created_at"], name="blog_deletedcomment_time"),
        ]

    def __str__(self) -> str:
        return str(self.body[:60])


class DeletedPostSource(
    pghistory.create_event_model(  # type: ignore[misc]
        PostSource, pghistory.DeleteEvent(), obj_field=None, context_field=None
    )
):
    """The source of a deleted post. It is restored together with the post."""

    pgh_id = models.BigAutoField(primary_key=True)

    class Meta:
        indexes = [models.Index(fields=["pgh_created_at"], name="blog_deletedsource_time")]

    def __str__(self) -> str:
        return str(self.path)


class PostSearch(models.Model):
    """What search finds a post by. The clock writes it (`blog.indexing`): a new post has none for some seconds.

    Author, status and time are copies that select candidates. They have the names of `Post`, so that the policy applies
    to them. They can be out of date: a query must compare the post too. Without the constraints of foreign keys, the
    clock and a deletion never wait for each other.
    """

    post = models.OneToOneField(
        Post, on_delete=models.CASCADE, primary_key=True, db_constraint=False, related_name="search"
    )
    author = models.ForeignKey(
        Author, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    status = models.CharField(max_length=10)
    created_at = models.DateTimeField()
    language = models.CharField(max_length=63, help_text="The text search configuration of the document.")
    document = SearchVectorField()

    class Meta:
        indexes = [
            models.Index(fields=["-created_at", "-post"], name="blog_postsearch_newest"),
            # Without the pending list of GIN, which each search would read from start to end.
            GinIndex(fields=["document"], fastupdate=False, name="blog_postsearch_document"),
        ]

    def __str__(self) -> str:
        return str(self.post_id)


class SearchChange(models.Model):
    """A change of a post, or of an author's name, that search does not know yet. Triggers add it; the clock deletes it.

    No constraint and no unique index: the writer of a post never waits for the clock.
    """

    post_id = models.BigIntegerField(null=True)
    author_id = models.BigIntegerField(null=True)

    def __str__(self) -> str:
        return f"author {self.author_id}" if self.post_id is None else f"post {self.post_id}"


class PostPresence(models.Model):
    """A page of the admin in which a person has a post open. The page renews it; it expires after 90 seconds.

    The table is unlogged: after a crash of PostgreSQL it is empty, and the open pages fill it again.
    """

    post_id = models.BigIntegerField()
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    page = models.UUIDField(help_text="The number that the page got when it was opened.")
    opened_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["post_id", "user", "page"], name="blog_postpresence_page")]
        indexes = [models.Index(fields=["seen_at"], name="blog_postpresence_seen")]

    def __str__(self) -> str:
        return f"user {self.user_id} has post {self.post_id} open"


class ImportState(models.TextChoices):
    CHECKING = "checking"
    CHECKED = "checked"
    IMPORTING = "importing"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"
    UNDOING = "undoing"
    UNDONE = "undone"


WORKING = (ImportState.CHECKING, ImportState.IMPORTING, ImportState.UNDOING)  # the states in which the clock works
RUNNING_IMPORT = Q(state__in=WORKING)


class ImportJob(models.Model):
    """The import of an uploaded zip file. The clock checks the files, and imports them after the owner has agreed."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    file_name = models.TextField()
    source = models.TextField(help_text="The name of the site that the files belong to.")
    status = models.CharField(
        max_length=10, choices=PostStatus.choices, help_text="The state of posts whose file has none."
    )
    state = models.CharField(max_length=10, choices=ImportState.choices, default=ImportState.CHECKING)
    total = models.PositiveIntegerField(help_text="The number of Markdown files.")
    done = models.PositiveIntegerField(default=0, help_text="The number of files that are checked or imported.")
    ignored = models.PositiveIntegerField(help_text="The number of files that are not Markdown.")
    problem = models.TextField(blank=True, help_text="Why the import failed.")
    run = models.PositiveIntegerField(default=0, help_text="How often a clock has begun or continued the work.")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="The runs since the last file that was finished.")
    undone_by = models.BigIntegerField(null=True, help_text="The id of the user who undid the import.")
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now, help_text="When the clock last finished a file.")

    class Meta:
        verbose_name = "import"
        constraints = [
            models.CheckConstraint(condition=Q(state__in=ImportState.values), name="blog_importjob_state_known"),
            models.UniqueConstraint(
                fields=["source"], condition=Q(state=ImportState.IMPORTING), name="blog_importjob_one_per_source"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.file_name} ({self.source})"

    @property
    def is_running(self) -> bool:
        return self.state in WORKING


class ImportPiece(models.Model):
    """A part of the uploaded zip file, which is deleted when the import ends.

    A part without Markdown is left out. `number` counts all parts.
    """

    job = models.ForeignKey(ImportJob, on_delete=models.CASCADE, related_name="pieces", db_index=False)
    number = models.PositiveIntegerField()
    content = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "number"], name="blog_importpiece_unique")]

    def __str__(self) -> str:
        return f"part {self.number} of import {self.job_id}"


class ImportResult(models.Model):
    """What an import did with a file or, in its plan, would do."""

    job = models.ForeignKey(ImportJob, on_delete=models.CASCADE, related_name="results", db_index=False)
    is_plan = models.BooleanField()
    number = models.PositiveIntegerField(help_text="The place of the file in the zip file.")
    path = models.TextField()
    outcome = models.CharField(max_length=10)
    reason = models.TextField(blank=True, help_text="Why the file was refused, and what to write instead.")
    post_id = models.BigIntegerField(null=True, help_text="The id of the post that the import has written.")
    details = models.JSONField(null=True, help_text="The post as the file describes it, and its missing images.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "is_plan", "number"], name="blog_importresult_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.path}: {self.outcome}"
