"""Writes of posts, comments, authors and images. Each function finds a row that the actor may see, checks the
permission, validates, writes and returns the model.

`expected_version` is a version that the caller has read, alone or as the whole entity tag: `7`, `7-c0ffee`,
`"7-c0ffee"`. If the row has another version, the function raises `Conflict`. None skips the comparison.

These are the functions that many modules call. Others are in their module, such as `services.slugs`.
"""

from blog.images.formats import CONTENT_TYPES
from blog.rendering import render_post
from blog.services import authors, image_figures, image_processing, image_repairs, image_room, slugs, sources
from blog.services.edits import CopyAction, Edit, Saved, StateAction, save_edit
from blog.services.image_deletion import delete_outdated_files, hide_deleted_images, purge_images
from blog.services.image_uploads import complete_upload, create_upload, purge_uploads
from blog.services.images import create_image, delete_image, edit_image, replace_image_file, restore_image
from blog.services.moderation import add_comment, delete_comment
from blog.services.posts import attribute_change, create_post, delete_post, edit_post
from blog.services.previews import add_preview, create_preview_link, revoke_preview_link
from blog.services.renderings import find_shown_images, render, render_body, render_posts
from blog.services.validation import list_problems, validate_post, validate_publish_at
from blog.services.working_copies import discard_working_copy, publish_due, publish_working_copy, save_working_copy
