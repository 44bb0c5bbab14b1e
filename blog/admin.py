"""The blog in the admin site: Django imports this module to register the pages."""

from blog.desk.authors import AuthorAdmin
from blog.desk.comments import CommentAdmin
from blog.desk.images.admin import ImageAdmin
from blog.desk.imports import ImportJobAdmin
from blog.desk.posts.admin import PostAdmin

__all__ = ["AuthorAdmin", "CommentAdmin", "ImageAdmin", "ImportJobAdmin", "PostAdmin"]
