"""The blog in the admin site: Django imports this module to register the pages."""

from blog.author_admin import AuthorAdmin
from blog.comment_admin import CommentAdmin
from blog.import_admin import ImportJobAdmin
from blog.post_admin import PostAdmin

__all__ = ["AuthorAdmin", "CommentAdmin", "ImportJobAdmin", "PostAdmin"]
