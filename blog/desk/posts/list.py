"""The list of posts: its tabs, its search, and which of its posts are scheduled."""

from typing import Any, NamedTuple

from django.contrib import messages
from django.db import models
from django.db.models import Exists, OuterRef
from django.http import HttpRequest

from blog import selectors
from blog.models import Post, PostStatus, WorkingCopy
from blog.search.query import MAX_MATCHES
from blog.selectors import PostCriteria
from contentapi.core.errors import Malformed
from users.desk.bases import PolicyAdmin, get_actor
from users.desk.lists import ORDER, BoundedList

STATUS = "status__exact"  # the parameter of the filter by status
TABS = {"Drafts": "draft", "Scheduled": "scheduled", "Published": "published", "All": ""}


class Tab(NamedTuple):
    """A link to the posts of one status, or to all. It keeps the other filters and the search."""

    label: str
    address: str
    is_current: bool


class LightPostList(BoundedList):
    """A list of posts without their bodies, which no column shows."""

    @property
    def tabs(self) -> list[Tab]:
        """Return the tabs. Each list begins with its first page, in its own order."""
        chosen = self.params.get(STATUS, "")
        return [
            Tab(label, self.get_query_string({STATUS: status or None, ORDER: None}), chosen == status)
            for label, status in TABS.items()
        ]

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> Any:
        changes = Exists(WorkingCopy.objects.filter(pk=OuterRef("pk")))
        posts = super().get_queryset(request, exclude_parameters).defer("body", "body_html")
        return posts.annotate(has_changes=changes)


def lists_scheduled(request: HttpRequest) -> bool:
    """Whether the list has scheduled posts only: each has a time of publication, which an index orders."""
    return request.GET.get(STATUS) == PostStatus.SCHEDULED


def search_posts(
    request: HttpRequest, model_admin: PolicyAdmin, posts: models.QuerySet[Post], text: str
) -> models.QuerySet[Post]:
    """Return those of the posts that the search of the API finds, in the order of the list."""
    if not text.strip():
        return posts
    try:
        criteria = PostCriteria.parse(search=text)
    except Malformed as error:
        model_admin.message_user(request, f"No posts are shown: {error.message}", messages.WARNING)
        return posts.none()
    found = selectors.select_posts(get_actor(request), criteria).queryset()
    # The ids, at most `MAX_MATCHES`: the list would repeat a subquery to count and to find a page.
    ids = list(found.order_by().values_list("pk", flat=True))
    if len(ids) == MAX_MATCHES:
        request.search_limit = MAX_MATCHES  # type: ignore[attr-defined]  # for the list, which says so
    return posts.filter(pk__in=ids)
