"""Reads: the rows of posts, authors, comments, images and previews that an actor may see; `select_*` returns them."""

from blog.selectors import authors, comments, images, posts, previews
