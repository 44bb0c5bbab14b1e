"""How events show posts, comments, authors and images. `blog.models.announcements` says which events there are."""

import msgspec

from blog import projections, selectors, views
from contentapi.events.sources import EventSource


def represent_author(author: bytes, _: str) -> bytes:
    """Leave out an email that the actor may not see."""
    members = msgspec.json.decode(author)
    if members["email"] is None:
        del members["email"]
    return msgspec.json.encode(members)


POST_ACTIONS = ("created", "updated", "scheduled", "published", "unpublished", "archived", "deleted", "restored")
CHANGES = ("created", "updated", "deleted")
SOURCES = [
    EventSource(projections.POST, selectors.select_post_by_id, POST_ACTIONS, views.POST),
    EventSource(
        projections.COMMENT, selectors.select_comment_by_id, ("created", "hidden", "shown", "deleted"), views.COMMENT
    ),
    EventSource(projections.AUTHOR, selectors.select_author_by_id, CHANGES, views.AUTHOR, represent_author),
    EventSource(projections.IMAGE, selectors.select_image_by_id, CHANGES, views.IMAGE),
]
