"""The notice in the form of a post that other people have it open too."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_POST

from blog.models import Post
from blog.services import presence
from contentapi.core.errors import Malformed
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.desk.bases import PolicyAdmin, get_actor


@require_POST
def announce_page(request: HttpRequest, model_admin: PolicyAdmin, object_id: str) -> HttpResponse:
    """Record that a page has opened or closed a post. Return the other people who have it open, and the last save.

    A script sends this (blog/static/blog/presence.js).
    """
    actor = get_actor(request)
    page = read_page(request.POST)
    if page is None:
        raise Malformed("The page has no number.")
    if "closed" in request.POST:
        presence.forget_page(actor=actor, post_id=object_id, page=page)
        return HttpResponse(status=204)
    people = presence.announce_page(actor=actor, post_id=object_id, page=page)
    opened = parse_id(request.POST.get("opened_version", ""))
    sent = request.POST.get("opened_copy")
    copy = parse_id(sent) if sent else None
    save = presence.find_save(actor=actor, post_id=object_id, opened=opened, opened_copy=copy) if opened else None
    return JsonResponse({"people": [person._asdict() for person in people], "save": save and save._asdict()})


def build_presence(actor: Actor, post: Post) -> dict[str, Any]:
    """Return the number of a page that shows the form of a post, and the other people who have it open."""
    people = presence.list_others(actor=actor, post_id=str(post.pk))
    return {"people": people, "page": uuid4(), "post_id": post.pk}


def forget_saved_page(actor: Actor, post: Post, sent: Mapping[str, Any]) -> None:
    """Forget the page whose form was saved: the response replaces it."""
    page = read_page(sent)
    if page is not None:
        presence.forget_page(actor=actor, post_id=str(post.pk), page=page)


def read_page(sent: Mapping[str, Any]) -> UUID | None:
    """Return the number of the page that sent the values; None if it has none."""
    try:
        return UUID(str(sent.get("_page", "")))
    except ValueError:
        return None
