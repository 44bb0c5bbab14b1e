"""The list of posts: its tabs, its search, three of its columns, and which of its posts are scheduled."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.db import models
from django.db.models import Exists, OuterRef, Subquery
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from blog import policy, selectors
from blog.models import Post, PostStatus, WorkingCopy
from blog.search.query import MAX_MATCHES
from blog.selectors.posts import PostCriteria
from contentapi.auth.sessions import get_actor
from contentapi.conf import conf
from contentapi.core.errors import Malformed
from contentapi.desk.lists import ORDER, BoundedList
from contentapi.desk.rendering import render_time

STATUS = "status__exact"  # the parameter of the filter by status
TABS = {"Drafts": "draft", "Scheduled": "scheduled", "Published": "published", "All": ""}


class PostList(BoundedList):
    """A list of posts with its tabs, and with the working copies that the person may see."""

    @property
    def tabs(self) -> list[tuple[str, str, bool]]:
        return self.build_links(STATUS, TABS, **{ORDER: None})  # each list begins in its own order

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> Any:
        copies = WorkingCopy.objects.filter(policy.visible_working_copies(get_actor(request)), pk=OuterRef("pk"))
        posts = super().get_queryset(request, exclude_parameters)
        return posts.annotate(has_changes=Exists(copies), changes_at=Subquery(copies.values("publish_at")))

    def get_ordering(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> Any:
        """Return the order of the list. By the time of publication, changes are among the scheduled posts."""
        first, *others = super().get_ordering(request, queryset)
        if lists_scheduled(request) and first in ("publish_at", "-publish_at"):
            first = first.replace("publish_at", "due_at")
        return [first, *others]


def lists_scheduled(request: HttpRequest) -> bool:
    """Whether the list has scheduled posts only: each has a time of publication, which an index orders."""
    return request.GET.get(STATUS) == PostStatus.SCHEDULED


def choose_columns(request: HttpRequest, columns: Sequence[str]) -> list[str]:
    """Return the columns of the list: of scheduled posts with their time, not their status, and links to a site."""
    is_time_shown = lists_scheduled(request)
    shown = ["show_publish_at" if is_time_shown and name == "show_status" else name for name in columns]
    return [*shown, "show_site"] if conf.environment.contentapi_site_post_url else shown


def search_posts(request: HttpRequest, posts: models.QuerySet[Post], text: str) -> models.QuerySet[Post]:
    """Return the posts that the search of the API finds. It searches once, while the list reads its rows repeatedly."""
    try:
        found = selectors.posts.select_posts(get_actor(request), PostCriteria.parse(search=text)).queryset()
    except Malformed as error:
        messages.warning(request, f"No posts are shown: {error.message}")
        return posts.none()
    ids = list(found.order_by().values_list("pk", flat=True))
    if len(ids) == MAX_MATCHES:
        request.search_limit = MAX_MATCHES  # type: ignore[attr-defined]
    return posts.filter(pk__in=ids)


def render_status(post: Post) -> tuple[str, SafeString]:
    """Return the status of a post in a list, with its color."""
    is_scheduled = post.status == PostStatus.SCHEDULED
    text = format_html("scheduled for {}", render_time(post.publish_at)) if is_scheduled else post.status
    changes: SafeString | str = ""
    if getattr(post, "has_changes", False):  # a column of the list alone
        time = render_time(post.changes_at)  # type: ignore[attr-defined]
        changes = format_html(", changes scheduled for {}", time) if time else ", unpublished changes"
    return post.status, format_html("{}{}", text, changes)


def render_publication(post: Post) -> SafeString | str:
    """Return when a post of the list becomes public, and when its changes do."""
    changes_at = render_time(getattr(post, "changes_at", None))
    changes = changes_at and format_html("changes: {}", changes_at)
    return format_html_join(", ", "{}", [(each,) for each in (render_time(post.publish_at), changes) if each])
