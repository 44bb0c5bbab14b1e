"""Reads: the rows of posts, authors, comments, images and previews that an actor may see. Functions `select_*` return
them.
"""

from blog.selectors.authors import (
    AUTHOR_SORT_FIELDS,
    build_authors_connection,
    find_author,
    select_author_by_id,
    select_authors,
    select_editable_authors,
    select_writing_users,
)
from blog.selectors.comments import (
    COMMENT_ORDERS,
    filter_comments_by_state,
    select_comment_by_id,
    select_comments,
    select_known_comments,
    select_moderated_comments,
)
from blog.selectors.images import (
    IMAGE_SORT_FIELDS,
    build_images_connection,
    find_images,
    is_required,
    list_own_uses,
    list_posts_with_image,
    select_image_by_id,
    select_images,
    select_kept_images,
    select_seen_posts,
)
from blog.selectors.posts import (
    LOOKUPS,
    POST_ORDERS,
    POST_SORT_FIELDS,
    PostCriteria,
    build_posts_connection,
    filter_posts_by_writer,
    find_locked_scheduler,
    find_post,
    find_present_slug,
    select_editable_posts,
    select_newest_posts,
    select_post_by_id,
    select_post_by_slug,
    select_posts,
    select_working_copy,
    select_written_posts,
    validate_tag,
)
from blog.selectors.previews import (
    find_previewed_post,
    select_link_by_id,
    select_post_with_links,
    select_preview,
    select_preview_links,
)
