"""The pages of a post in the desk that Django's admin does not have, and what its form shows beside the fields."""

from typing import Any

from blog.desk.comments import build_newest_comments
from blog.desk.posts import (
    announcements,
    autosave,
    changes,
    conflict,
    copies,
    history,
    links,
    presence,
    states,
    trash,
    writing,
)
from blog.models import Post
from contentapi.core import policy
from contentapi.core.identity import Actor

MODULES = (announcements, autosave, changes, conflict, history, links, presence, trash, writing)
PAGES = [page for module in MODULES for page in module.PAGES]


def build_form_context(actor: Actor, post: Post | None, *, may_change: bool) -> dict[str, Any]:
    """Return what the form of a post, or of a new one, shows beside its fields."""
    context = states.build_state(actor, post, may_change=may_change)
    if post is None:
        return context
    context["show_delete"] = False  # the link is not among the buttons that save (blog/post_state.html)
    context |= build_newest_comments(actor, post)
    context["show_history"] = policy.may_see_history_of(actor, post.author.user_id)
    if may_change:
        context["presence"] = presence.build_presence(actor, post)
        context |= links.build_preview_links(actor, post)
        context |= copies.build_copy_state(actor, post, copies.find_copy(actor, post))
    return context
