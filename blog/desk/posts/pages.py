"""The pages of a post in the desk that Django's admin does not have, and what its form shows beside the fields."""

from typing import Any

from blog import policy, services
from blog.desk.comments import build_newest_comments
from blog.desk.posts import (
    announcements,
    conflict,
    copies,
    history,
    links,
    presence,
    saving,
    states,
    trash,
    writing,
)
from blog.models import Post
from contentapi.core.identity import Actor
from contentapi.desk.bases import Page

PAGES = [
    Page("<str:object_id>/events/", "events", announcements.show_events),
    Page("<str:object_id>/autosave/", "autosave", saving.save_text),
    Page("<str:object_id>/changes/", "changes", copies.show_changes, "../change/"),
    Page("<str:object_id>/history/changes/<int:number>/", "copy", copies.show_copy),
    Page("<str:object_id>/history/changes/<int:number>/restore/", "restore_copy", copies.restore_changes, "../../../"),
    Page("<str:object_id>/take-over/", "take_over", conflict.take_over),
    Page("<str:object_id>/history/", "history", history.show_history),
    Page("<str:object_id>/history/<int:number>/", "version", history.show_version),
    Page("<str:object_id>/history/<int:number>/restore/", "restore_version", history.restore_text, "../../"),
    Page("<str:object_id>/preview-links/open/", "open_preview", links.open_preview, "../../change/#preview-links"),
    Page("<str:object_id>/preview-links/create/", "create_preview_link", links.create_link),
    Page(
        "<str:object_id>/preview-links/<str:link_id>/revoke/",
        "revoke_preview_link",
        links.revoke_link,
        "../../../change/#preview-links",
    ),
    Page("<str:object_id>/presence/", "presence", presence.announce_page),
    Page("deleted/", "deleted", trash.show_deleted_posts),
    Page("deleted/restore/", "restore_selected", trash.restore_posts),
    Page("deleted/<str:object_id>/restore/", "restore_deleted", trash.restore_posts),
    Page("preview/", "preview", writing.show_preview),
    Page("tags/", "tags", writing.list_tags),
    Page("session/", "session", writing.show_session),
]


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
        context |= copies.build_copy_state(actor, post, services.find_visible_copy(actor, post))
    return context
