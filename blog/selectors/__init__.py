"""Reads: the rows of posts, authors, comments, images and previews that an actor may see. Functions `select_*` return
them. What only one module uses is in its module, such as `selectors.posts`.
"""

from blog.selectors.authors import find_author, select_author_by_id, select_editable_authors, select_writing_users
from blog.selectors.comments import (
    filter_comments_by_state,
    select_comment_by_id,
    select_known_comments,
    select_moderated_comments,
)
from blog.selectors.images import (
    is_required,
    list_posts_with_image,
    select_image_by_id,
    select_images,
    select_kept_images,
    select_seen_images,
    select_seen_posts,
)
from blog.selectors.posts import (
    PostCriteria,
    find_locked_scheduler,
    find_post,
    select_post_by_id,
    select_post_by_slug,
    select_posts,
    select_written_posts,
)
from blog.selectors.previews import select_preview, select_preview_links
