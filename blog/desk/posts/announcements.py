"""The page with the events of a post. Users who may see the history of the post may see it."""

from django.db.models import F
from django.http import HttpRequest, HttpResponse

from blog.desk.posts.history import read_position
from blog.history import versions
from contentapi.core.pagination import parse_id
from contentapi.events.feed import list_last_events
from users.desk.bases import Page, PolicyAdmin, get_actor
from users.models import User

SHOWN = 50


def show_events(request: HttpRequest, model_admin: PolicyAdmin, object_id: str) -> HttpResponse:
    """Show the events of a post, the last first. They are kept for some time, also of a deleted post."""
    actor = get_actor(request)
    page = versions.list_versions(actor=actor, post_id=object_id, limit=1)
    events = list_last_events(actor, parse_id(object_id), before=read_position(request, "before"), limit=SHOWN + 1)
    shown = events[:SHOWN]
    names = dict(User.objects.filter(pk__in={event.actor_id for event in shown}).values_list("pk", F("name")))
    context = {
        "title": f"Events of {page.title}",
        "page": page,
        "events": [(event, names.get(event.actor_id or 0, "")) for event in shown],
        "next_before": shown[-1].position if len(events) > SHOWN else None,
        "object_id": object_id,
    }
    return model_admin.render(request, "admin/blog/post/events.html", context)


PAGES = [Page("<str:object_id>/events/", "events", show_events)]
