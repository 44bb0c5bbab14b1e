"""The desk: the first page of the admin, with the posts and comments that are waiting, out and next."""

from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from blog import selectors
from users.admin_bases import get_actor


def add_dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Return the context of the first page with the desk of the actor. django-unfold calls this function."""
    desk = selectors.build_desk(get_actor(request), timezone.now())
    return {**context, "desk": desk, "max_count": selectors.MAX_COUNT}
