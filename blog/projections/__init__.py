"""Projections: how each field of the SDL is read, and the rows of related posts, comments and images."""

from blog.projections import images, posts
from blog.projections.images import IMAGE
from blog.projections.posts import (
    AUTHOR,
    COMMENT,
    POST,
    PREVIEW,
    PREVIEW_LINK,
    WORKING_COPY,
    select_newest_valid_links,
    select_oldest_visible_comments,
)
from blog.projections.rows import (
    filter_previewed_posts,
    select_listed_posts,
    select_visible_posts_of,
    show_previewed_list,
    show_previewed_texts,
)

PROJECTIONS = [*posts.PROJECTIONS, *images.PROJECTIONS]
