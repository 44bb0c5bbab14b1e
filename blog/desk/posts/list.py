"""The list of posts: its tabs, and which of its posts are scheduled."""

from typing import Any, NamedTuple

from django.http import HttpRequest

from blog.models import PostStatus
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
        return super().get_queryset(request, exclude_parameters).defer("body")


def lists_scheduled(request: HttpRequest) -> bool:
    """Whether the list has scheduled posts only: each has a time of publication, which an index orders."""
    return request.GET.get(STATUS) == PostStatus.SCHEDULED
