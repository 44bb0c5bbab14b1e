"""Models of the blog, and the fields of a post's content."""

from blog.models.authors import AUTHOR_OWN, MAX_NAME, Author
from blog.models.coauthors import MAX_COAUTHORS, Coauthorship
from blog.models.comments import Comment, CommentQuerySet, CommentState
from blog.models.history import CopyVersion, DeletedComment, DeletedPostSource, PostVersion
from blog.models.images import IS_WAITING, MAX_ALT, Image, ImageFormat, ImageStatus, ImageUpload
from blog.models.imports import RUNNING_IMPORT, ImportJob, ImportPiece, ImportResult, ImportState, PostSource
from blog.models.posts import (
    ADDRESSES,
    CONTENT,
    CONTENT_FIELDS,
    COVER,
    DATABASE,
    IS_UNRENDERED,
    MAX_BODY,
    MAX_DESCRIPTION,
    MAX_EXCERPT,
    MAX_TAG,
    MAX_TAGS,
    MAX_TITLE,
    MAX_URL,
    NEVER_PUBLIC,
    OPTIONAL,
    POST_OWN,
    RENDERED,
    RENDERED_TEXTS,
    SEARCHED,
    SUMMARIES,
    VERSIONED,
    ContentField,
    Kind,
    Post,
    PostQuerySet,
    PostStatus,
)
from blog.models.search import PostSearch, SearchChange
from blog.models.slugs import MAX_OLD_SLUGS, MAX_SLUG, SLUG, OldSlug, build_old_slugs
from blog.models.writing import MAX_NOTE, PostPresence, PreviewLink, PreviewMode, WorkingCopy
from blog.rendering.limits import MAX_IMAGES
