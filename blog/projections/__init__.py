"""Projections: how each field of the SDL is read, and the rows of related posts, comments and images."""

from blog.projections import images, posts
from blog.projections.images import IMAGE
from blog.projections.posts import AUTHOR, COMMENT, POST, PREVIEW, PREVIEW_LINK, WORKING_COPY

PROJECTIONS = [*posts.PROJECTIONS, *images.PROJECTIONS]
