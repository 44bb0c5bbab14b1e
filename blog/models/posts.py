from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from functools import reduce
from operator import or_
from typing import ClassVar, NamedTuple

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from blog.models.announcements import announce_posts
from blog.models.authors import Author, note_search_change
from blog.models.coauthors import LIST_COAUTHORS, LIST_COAUTHORS_AGAIN, UNLIST_COAUTHORS, build_coauthor_ids
from blog.models.conditions import IsValidPost
from blog.models.images import MAX_ALT
from blog.models.slugs import KEEP_OLD_SLUG, KEEP_SLUG_OF_DELETED, MAX_SLUG, UniqueIndex
from blog.models.writing import DELETE_ROWS
from blog.rendering import RENDERER
from contentapi.core.text import convert_to_camel
from contentapi.db.expressions import TextLiteral
from contentapi.db.ids import SharedIdField
from contentapi.events.triggers import build_change_condition
from contentapi.types.own_fields import COLUMN, build_own_column, declare_own_fields

MAX_TITLE = 200
MAX_BODY = 200_000
MAX_TAG = 50
MAX_TAGS = 20
MAX_URL = 2000
MAX_EXCERPT = 500
MAX_DESCRIPTION = 300
MAX_ORIGIN = 300
LONGEST_ID = 19  # digits


class Kind(StrEnum):
    """What a field of a post's content is. It decides how the field is validated, merged, imported and exported.

    Only the body is Markdown: a file has one text after its front matter. An address and a summary may be null, and
    search does not find them. A summary that is null is made from the body (`blog.rendering`). So it is with an image,
    which is an id, and with its text, in whose place the image has one of its own.
    """

    LINE = "line"
    ADDRESS = "address"
    SUMMARY = "summary"
    MARKDOWN = "markdown"
    WORDS = "words"
    IMAGE = "image"
    IMAGE_TEXT = "image text"


class ContentField(NamedTuple):
    """A field of a post's content: what an author writes, as opposed to the state of the post.

    `label` is the word for it in the desk, and `item` for one of several words. `longest` is the number of characters:
    of each word, if there are several. `weight` is that of its words in search: A, B or C; none of `OPTIONAL`.
    """

    name: str
    kind: Kind
    label: str
    longest: int
    weight: str
    is_required: bool = False
    most_words: int = 0
    item: str = ""

    @property
    def api_name(self) -> str:
        return convert_to_camel(self.name)


# Services, history, desk, files and search use this list. `make check` names other places that lack a field.
CONTENT_FIELDS = (
    ContentField("title", Kind.LINE, "title", MAX_TITLE, "A", is_required=True),
    ContentField("slug", Kind.ADDRESS, "slug", MAX_SLUG, ""),
    ContentField("canonical_url", Kind.ADDRESS, "canonical URL", MAX_URL, ""),
    ContentField("excerpt", Kind.SUMMARY, "excerpt", MAX_EXCERPT, ""),
    ContentField("description", Kind.SUMMARY, "description", MAX_DESCRIPTION, ""),
    ContentField("cover_id", Kind.IMAGE, "cover", LONGEST_ID, ""),
    ContentField("cover_alt", Kind.IMAGE_TEXT, "text of the cover", MAX_ALT, ""),
    ContentField("body", Kind.MARKDOWN, "text", MAX_BODY, "C"),
    ContentField("tags", Kind.WORDS, "tags", MAX_TAG, "B", most_words=MAX_TAGS, item="tag"),
)
POST_OWN = declare_own_fields(
    "Post",
    inputs=["CreatePostInput", "UpdatePostInput", "SaveWorkingCopyInput"],
    copies=["WorkingCopy"],
    filter_input="PostFilter",
    table="blog_post",
    schemas=["Post", "WorkingCopy", "NewPost", "PostChanges", "WorkingCopyChanges"],
    lists=["/posts", "/authors/{author_id}/posts"],
)
CONTENT = [*(field.name for field in CONTENT_FIELDS), COLUMN]
ADDRESSES = [field.name for field in CONTENT_FIELDS if field.kind == Kind.ADDRESS]
SUMMARIES = [field.name for field in CONTENT_FIELDS if field.kind == Kind.SUMMARY]
COVER = [field.name for field in CONTENT_FIELDS if field.kind in (Kind.IMAGE, Kind.IMAGE_TEXT)]
OPTIONAL = [*ADDRESSES, *SUMMARIES, *COVER]
SEARCHED = [field.name for field in CONTENT_FIELDS if field.weight]
# The fields of which a change is a new version of a post.
VERSIONED = [*CONTENT, "status", "publish_at", "published_at", "author", "coauthor_ids", "created_at"]
RESTORED = [*VERSIONED, "slug_is_chosen"]  # of a deleted post
# What `blog.rendering` makes of the text, with the version that it was made of and the number of the renderer
RENDERED_TEXTS = ["body_html", "default_excerpt", "default_description", "image_ids", "image_alts"]
RENDERED = [*RENDERED_TEXTS, "rendered_version", "renderer"]
DATABASE = "database"  # `changed_with` of a change in SQL or in the shell


class PostStatus(models.TextChoices):
    DRAFT = "draft"
    SCHEDULED = "scheduled"
    PUBLISHED = "published"
    ARCHIVED = "archived"


PUBLIC = Q(status=PostStatus.PUBLISHED)  # the condition of indexes; see also `policy.PUBLIC_POSTS`
IS_RENDERED = Q(rendered_version=F("version"))
IS_UNRENDERED = ~IS_RENDERED | Q(renderer__lt=RENDERER)
NEWEST = ("-created_at", "-id")
UPDATED = ("updated_at", "id")
PUBLISHED = ("publication_order", "id")
NEVER_PUBLIC = datetime(9999, 12, 31, tzinfo=UTC)  # the place of posts without `published_at` in their order


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


FOUND_BY = [*SEARCHED, "status", "author_id", "coauthor_ids", "created_at"]
# Without a new version, PostgreSQL does not compare the texts.
NOTE_SEARCH_CHANGE = note_search_change("post_id", f"OLD.version <> NEW.version AND {build_change_condition(FOUND_BY)}")

# A change that did not increase the version was made in SQL or in the shell. Nobody else must be named for it.
ATTRIBUTE_TO_DATABASE = pgtrigger.Trigger(
    name="attribute_to_database",
    operation=pgtrigger.Update,
    when=pgtrigger.Before,
    # The version is compared first: the services increase it, and PostgreSQL then does not compare the texts.
    condition=pgtrigger.Q(old__version=pgtrigger.F("new__version"))
    & reduce(or_, [pgtrigger.Q(**{f"old__{name}__df": pgtrigger.F(f"new__{name}")}) for name in VERSIONED])
    # The first slug of a post that was created without one is no change of the post.
    & ~pgtrigger.Q(old__slug__isnull=True, new__slug__isnull=False),
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

    shard_key = "id"
    shard_claims = [
        "SELECT 'slug', slug, id FROM blog_post WHERE slug IS NOT NULL",
        "SELECT 'slug', slug, post_id FROM blog_oldslug ON CONFLICT DO NOTHING",
    ]
    id = SharedIdField("ID", primary_key=True)
    title = models.CharField(max_length=MAX_TITLE)
    # The worker gives a slug to the posts that SQL, or a server of an earlier release, has created without one.
    slug = models.CharField(max_length=MAX_SLUG, null=True)  # noqa: DJ001
    # A slug that a person has chosen does not follow the title. This alone is no version; see `slugs.follows_title`.
    slug_is_chosen = models.BooleanField(default=False, db_default=False, editable=False)
    canonical_url = models.CharField(max_length=MAX_URL, null=True)  # noqa: DJ001
    excerpt = models.CharField(max_length=MAX_EXCERPT, null=True)  # noqa: DJ001 - null is the default text
    description = models.CharField(max_length=MAX_DESCRIPTION, null=True)  # noqa: DJ001
    cover_id = models.BigIntegerField(null=True, help_text="The id of an image. The image may have been deleted.")
    cover_alt = models.CharField(max_length=MAX_ALT, null=True)  # noqa: DJ001 - null is the text of the image
    body = models.TextField(blank=True, help_text="Markdown.")
    # The worker renders the posts whose `rendered_version` is not their version, or whose renderer has a lower number.
    body_html = models.TextField(null=True, editable=False)  # noqa: DJ001
    default_excerpt = models.TextField(null=True, editable=False)  # noqa: DJ001
    default_description = models.TextField(null=True, editable=False)  # noqa: DJ001
    # The images in the body, each once, and their texts there. Null, which costs nothing, for a body without images.
    image_ids = ArrayField(models.BigIntegerField(), null=True, editable=False)
    image_alts = ArrayField(models.TextField(), null=True, editable=False)
    rendered_version = models.BigIntegerField(null=True, editable=False)
    renderer = models.SmallIntegerField(null=True, editable=False)
    status = models.CharField(max_length=10, choices=PostStatus.choices, default=PostStatus.DRAFT)
    author = models.ForeignKey(Author, on_delete=models.PROTECT, related_name="posts", db_index=False)
    coauthor_ids = build_coauthor_ids()  # in their order; see `Coauthorship`
    tags = ArrayField(models.CharField(max_length=MAX_TAG), default=list, blank=True)
    own = build_own_column()
    publish_at = models.DateTimeField(null=True, blank=True, help_text="When a scheduled post will be published.")
    published_at = models.DateTimeField(null=True, blank=True, help_text="When the post first became public.")
    publication_order = models.GeneratedField(
        expression=Coalesce("published_at", Value(NEVER_PUBLIC)), output_field=models.DateTimeField(), db_persist=True
    )
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)
    version = models.BigIntegerField(default=1, editable=False)
    changed_at = models.DateTimeField(default=timezone.now, db_default=Now(), editable=False)
    changed_by = models.BigIntegerField(
        null=True, editable=False, help_text="The id of the user. The user may have been deleted."
    )
    changed_with = models.CharField(
        max_length=MAX_ORIGIN,
        default=DATABASE,
        db_default=DATABASE,
        editable=False,
        help_text="The interface and the credential.",
    )

    objects: ClassVar[models.Manager[Post]] = PostQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=IsValidPost("status", "title", "body", "tags", "publish_at", "version"),
                name="blog_post_valid",
            ),
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
            UniqueIndex(fields=["slug"], name="blog_post_slug"),
            models.Index(fields=["id"], condition=Q(slug__isnull=True), name="blog_post_without_slug"),
            GinIndex(fields=["image_ids"], condition=Q(image_ids__isnull=False), name="blog_post_images"),
            models.Index(fields=["cover_id"], condition=Q(cover_id__isnull=False), name="blog_post_cover"),
            models.Index(fields=["id"], condition=IS_UNRENDERED, name=f"blog_post_unrendered_{RENDERER}"),
        ]
        # One of each kind of statement: each trigger takes time, in all statements.
        triggers = [
            ATTRIBUTE_TO_DATABASE,
            *announce_posts(
                ("author_id" if name == "author" else name for name in VERSIONED if name != COLUMN),
                created=[LIST_COAUTHORS],  # the worker finds new posts by their ids
                updated=[KEEP_OLD_SLUG, LIST_COAUTHORS_AGAIN, NOTE_SEARCH_CHANGE],
                deleted=[KEEP_SLUG_OF_DELETED, DELETE_ROWS, UNLIST_COAUTHORS],
            ),
        ]

    def __str__(self) -> str:
        return self.title
