from blog.models.authors import MAX_NAME, Author
from blog.models.comments import Comment, CommentQuerySet, CommentState
from blog.models.history import DeletedComment, DeletedPostSource, PostVersion
from blog.models.imports import RUNNING_IMPORT, ImportJob, ImportPiece, ImportResult, ImportState, PostSource
from blog.models.posts import (
    DATABASE,
    MAX_BODY,
    MAX_TAG,
    MAX_TAGS,
    MAX_TITLE,
    NEVER_PUBLIC,
    VERSIONED,
    IsUniqueTagList,
    Post,
    PostPresence,
    PostQuerySet,
    PostStatus,
)
from blog.models.search import PostSearch, SearchChange

__all__ = [
    "DATABASE",
    "MAX_BODY",
    "MAX_NAME",
    "MAX_TAG",
    "MAX_TAGS",
    "MAX_TITLE",
    "NEVER_PUBLIC",
    "RUNNING_IMPORT",
    "VERSIONED",
    "Author",
    "Comment",
    "CommentQuerySet",
    "CommentState",
    "DeletedComment",
    "DeletedPostSource",
    "ImportJob",
    "ImportPiece",
    "ImportResult",
    "ImportState",
    "IsUniqueTagList",
    "Post",
    "PostPresence",
    "PostQuerySet",
    "PostSearch",
    "PostSource",
    "PostStatus",
    "PostVersion",
    "SearchChange",
]
