"""The page with the events of a post, and for admins to whom they were sent.

Only users who can see the history of the post can open the page.
"""

from django.http import HttpRequest, HttpResponse

from blog.desk.posts.history import read_position
from blog.history import versions
from contentapi.auth.people import name_users
from contentapi.auth.sessions import get_actor
from contentapi.core.pagination import parse_id
from contentapi.desk.bases import PolicyAdmin
from contentapi.events.feed import list_last_events
from contentapi.events.webhooks.selectors import list_deliveries_of_subject

SHOWN = 50


def show_events(request: HttpRequest, model_admin: PolicyAdmin, object_id: str) -> HttpResponse:
    """Show the events of a post, the last first. They are kept for some time, also of a deleted post."""
    actor, post_id = get_actor(request), parse_id(object_id)
    page = versions.list_versions(actor=actor, post_id=object_id, limit=1)
    events = list_last_events(actor, post_id, before=read_position(request, "before"), limit=SHOWN + 1)
    shown = events[:SHOWN]
    deliveries = list_deliveries_of_subject(actor, post_id, positions=[event.position for event in shown])
    sent = {
        event.position: [delivery for delivery in deliveries if delivery.position == event.position] for event in shown
    }
    names = name_users(event.actor_id for event in shown)
    context = {
        "title": f"Events of {page.title}",
        "page": page,
        "events": [(event, names.get(event.actor_id or 0, ""), sent[event.position]) for event in shown],
        "has_deliveries": bool(deliveries),
        "next_before": shown[-1].position if len(events) > SHOWN else None,
        "object_id": object_id,
    }
    return model_admin.render(request, "admin/blog/post/events.html", context)
