"""Where each table of a distributed database is. A new table is a line here: `distribute` stops without it.

A post and everything of it is in one shard. So a statement about a post is one worker's work, and so are its triggers.
"""

# The column that has the id of the post, by table. Foreign keys between them compare these columns.
OF_POSTS = {
    "blog_post": "id",
    "blog_coauthorship": "post_id",
    "blog_comment": "post_id",
    "blog_deletedcomment": "post_id",
    "blog_deletedpostsource": "post_id",
    "blog_oldslug": "post_id",
    "blog_postsearch": "post_id",
    "blog_postsource": "post_id",
    "blog_postversion": "id",
    "blog_previewlink": "post_id",
    "blog_searchchange": "post_id",
    "blog_workingcopy": "post_id",
    "events_outbox": "parent_id",
}
# A copy on each node: what the statements of posts join.
ON_EACH_NODE = ("users_user", "blog_author", "blog_image")
# Rows of the coordinator alone. No statement joins them with posts.
ON_COORDINATOR = """
    auth_group auth_group_permissions auth_permission blog_imageupload blog_importjob blog_importpiece blog_importresult
    blog_postpresence contentapi_idempotencyrecord contentapi_jobheartbeat django_admin_log django_content_type
    django_migrations django_session events_attempt events_delivery events_event events_log events_ticket events_webhook
    oauth2_provider_accesstoken oauth2_provider_application oauth2_provider_devicegrant oauth2_provider_grant
    oauth2_provider_idtoken oauth2_provider_refreshtoken orders_order orders_orderstate pghistory_context users_apikey
    users_issuedtoken
""".split()  # noqa: SIM905
# Unique values of posts, which a unique index of a shard cannot compare: a table that is distributed by the value.
CLAIMS = "citus_claim"
