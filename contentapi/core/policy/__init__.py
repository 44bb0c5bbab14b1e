"""Every permission rule. `visible_*` returns the condition on the rows that an actor may see, `may_*` a boolean.

The source is the permission table in docs/authentication.md. Both forms of a rule are computed from one `Reach`: whose
objects an action may touch. The owner of an object is a user id, never an author profile: a credential has only a user
id. Rules use the models' field names and ids, and one subquery for the author profile of a user.
"""

from contentapi.core.policy.accounts import (
    ORDER_EVENTS,
    USER_EVENTS,
    may_delete_user,
    may_grant_scope,
    may_leave_no_admin,
    may_list_all_orders,
    may_manage_all_keys,
    may_manage_clients,
    may_manage_keys_of,
    may_manage_users,
    may_read_orders,
    may_read_users,
    may_see_order,
    may_see_user,
    may_ship_orders,
    may_use_admin_app,
    may_use_admin_site,
    may_write_orders,
    may_write_orders_of,
    may_write_users,
    visible_api_keys,
    visible_orders,
    visible_users,
    writable_orders,
)
from contentapi.core.policy.comments import (
    AUTHOR_EVENTS,
    COMMENT_EVENTS,
    VISIBLE_COMMENTS,
    editable_authors,
    known_comments,
    may_comment,
    may_delete_comment_of,
    may_edit_author,
    may_manage_comments,
    may_moderate_comments,
    may_moderate_comments_on,
    may_see_author_email,
    may_see_comment,
    moderated_comments,
    visible_author_emails,
)
from contentapi.core.policy.enforcement import require_credential, require_no_preview, require_permission
from contentapi.core.policy.events import EventRule, build_events_in_reach, visible_event_actors, visible_events
from contentapi.core.policy.images import (
    editable_images,
    may_change_images_of,
    may_list_images,
    may_purge_images,
    may_upload_images,
    visible_image_events,
    visible_images,
)
from contentapi.core.policy.posts import (
    POST_EVENTS,
    VisiblePosts,
    build_visibility_within_status,
    editable_posts,
    may_import_posts,
    may_list_deleted_posts,
    may_manage_posts_and_authors,
    may_manage_publication,
    may_preview_site,
    may_publish_working_copy_of,
    may_purge_history,
    may_see_history_of,
    may_see_post,
    may_transition_posts,
    may_transition_posts_of,
    may_write_posts,
    may_write_posts_of,
    previewable_posts,
    readable_posts,
    select_author_id,
    split_visible_posts,
    visible_deleted_posts,
    visible_imports,
    visible_posts,
    visible_preview_links,
    visible_working_copies,
)
from contentapi.core.policy.reach import ADMINS, EVERYTHING, NEVER, NOTHING, PUBLIC_POSTS, STAFF
from contentapi.core.policy.webhooks import may_manage_webhooks, may_name_maker, visible_webhooks
