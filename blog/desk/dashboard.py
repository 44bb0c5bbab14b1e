"""The desk: the first page of the admin, with the posts and comments that are waiting, out and next."""

from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.utils import timezone

from blog import policy
from blog.desk import queries
from contentapi.auth.sessions import get_actor


def add_dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Return the context of the first page with the desk of the actor. django-unfold calls this function."""
    actor = get_actor(request)
    desk = queries.build_desk(actor, timezone.now())
    return {**context, "desk": desk, "max_count": queries.MAX_COUNT, "may_import": policy.may_import_posts(actor)}


def get_text_keeper(request: HttpRequest) -> str:
    """Return the script of the texts that the browser keeps, on each page of the desk. Its address names the user."""
    return f"{static('blog/kept_texts.js')}?user={request.user.pk or ''}"
