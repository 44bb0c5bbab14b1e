"""Where the tables of a distributed database are. Those that are not here are on the coordinator alone."""

# The column that has the id of the post or order, by table: each with everything of it is in one shard. Foreign keys
# between them compare these columns.
DISTRIBUTED = {
    "blog_post": "id",
    "blog_coauthorship": "post_id",
    "blog_comment": "post_id",
    "blog_copyversion": "post_id",
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
    "orders_order": "id",
    "orders_orderstate": "id",
}
# A copy on each node: what the statements of posts join, and OAuth clients. A write to one needs all nodes.
ON_EACH_NODE = ("users_user", "blog_author", "blog_image", "oauth2_provider_application")
# Unique values of posts, which a unique index of a shard cannot compare: a table that is distributed by the value.
CLAIMS = "citus_claim"
# Changes nothing. With it, a transaction of the coordinator and one node has two phases, because Citus knows the table:
# otherwise the node commits first, and a coordinator that fails then loses its own changes.
TWO_PHASES = "DELETE FROM contentapi_idempotencyrecord WHERE key = ''"
