"""What the primary has at the end: posts, their events, and what the workers have not sent yet."""

from benchmarks.scale.cluster import DATABASE, Cluster

COUNT_POSTS = "SELECT title, count(*) FROM blog_post WHERE starts_with(title, %s) GROUP BY title"
# The positions of the event of each post whose title has a beginning.
FIND_EVENTS = """
    SELECT blog_post.id::text, coalesce(array_agg(position) FILTER (WHERE position IS NOT NULL), '{}')
    FROM blog_post LEFT JOIN events_event ON subject_id = blog_post.id AND type = 'post.created'
    WHERE starts_with(title, %s) GROUP BY blog_post.id
"""
# The events of posts that do not exist.
COUNT_UNFOUNDED = """
    SELECT count(*) FROM events_event
    WHERE type = 'post.created' AND NOT EXISTS (SELECT FROM blog_post WHERE blog_post.id = subject_id)
"""
# What waits for the relay, for a sender, or for its planning.
COUNT_UNSENT = """
    SELECT (SELECT count(*) FROM events_outbox) + (SELECT count(*) FROM events_delivery WHERE state = 'waiting')
        + (SELECT count(*) FROM events_webhook, events_log WHERE events_webhook.position < events_log.position)
"""


def count_posts(cluster: Cluster, beginning: str) -> dict[str, int]:
    """Return the number of posts by title, of those whose title has this beginning."""
    with cluster.connect(DATABASE) as connection:
        return dict(connection.execute(COUNT_POSTS, [beginning]).fetchall())


def find_events(cluster: Cluster, beginning: str) -> dict[str, list[int]]:
    """Return the positions of the events of each post whose title has this beginning, by the ids of the posts."""
    with cluster.connect(DATABASE) as connection:
        return dict(connection.execute(FIND_EVENTS, [beginning]).fetchall())


def count_unfounded_events(cluster: Cluster) -> int:
    """Return the number of events of posts that do not exist."""
    with cluster.connect(DATABASE) as connection:
        row = connection.execute(COUNT_UNFOUNDED).fetchone()
    return int(row[0]) if row else 0


def wait_until_sent(cluster: Cluster) -> None:
    """Wait until all events are in the log, and all deliveries are recorded."""
    with cluster.connect(DATABASE) as connection:
        cluster.wait_until(lambda: connection.execute(COUNT_UNSENT).fetchone() == (0,))
