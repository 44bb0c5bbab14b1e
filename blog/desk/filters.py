"""Filters of the admin's lists."""

from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from typing import Any

from django import forms
from django.db import models
from django.http import HttpRequest
from django.urls import reverse
from django.utils.dateparse import parse_date
from unfold.contrib.filters.admin import ChoicesDropdownFilter, RangeDateFilter, TextFilter
from unfold.widgets import INPUT_CLASSES, UnfoldAdminTextInputWidget

from blog import policy, selectors
from blog.desk import queries
from blog.models import MAX_TAG, NEVER_PUBLIC, Post, PostStatus
from contentapi.auth.sessions import get_actor
from contentapi.core.pagination import parse_id
from contentapi.desk.lists import RelatedFilter


class TagForm(forms.Form):
    """The field of a tag. A script completes it with the tags of posts that the person may see."""

    class Media:
        js = (forms.Script("blog/tag_filter.js", type="module"),)

    def __init__(self, name: str, label: str, **options: Any) -> None:
        super().__init__(**options)
        suggestions = {"data-suggestions": reverse("admin:blog_post_tags"), "data-max-length": MAX_TAG}
        widget = UnfoldAdminTextInputWidget(attrs={"autocomplete": "off", **suggestions})
        self.fields[name] = forms.CharField(label=label, required=False, widget=widget)


class TagFilter(TextFilter):
    title = "tag"
    parameter_name = "tag"
    form_class = TagForm

    def queryset(self, request: HttpRequest, queryset: models.QuerySet[Post]) -> models.QuerySet[Post]:
        tag = self.value()
        return queryset.filter(tags__contains=[tag]) if tag else queryset


class AuthorFilter(RelatedFilter):
    """A filter by author, for actors who have rows of all authors."""

    def has_output(self) -> bool:
        return policy.may_manage_posts_and_authors(get_actor(self.request))


class WriterFilter(AuthorFilter):
    """The posts that an author has written, alone or with others."""

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        found = super().queryset(request, queryset)  # refuses a value that is no id
        author = self.value()
        return selectors.posts.filter_posts_by_writer(queryset, parse_id(author)) if author else found


class DayRangeForm(forms.Form):
    """The first and the last day. The browser has the calendar; the theme's one warns of every other time zone."""

    def __init__(self, name: str, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for end, label in (("from", "From"), ("to", "To")):
            widget = forms.DateInput(attrs={"type": "date", "class": " ".join(INPUT_CLASSES)})
            self.fields[f"{name}_{end}"] = forms.DateField(label=label, required=False, widget=widget)


class DayFilter(RangeDateFilter):
    """The days from a first to a last one, both included. A text that is no date is no limit."""

    form_class = DayRangeForm
    template = "blog/day_filter.html"
    column = ""  # whose values are compared; by default those of the field
    select_dated: Callable[[HttpRequest, Any], Any] = staticmethod(lambda _, rows: rows)  # that are on some day

    def queryset(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> models.QuerySet[Any]:
        first, last = (parse_day(self.used_parameters.get(name)) for name in self.expected_parameters())
        column = self.column or self.parameter_name
        if first or last:
            queryset = self.select_dated(request, queryset)
        if first:
            queryset = queryset.filter(**{f"{column}__gte": first})
        if last:
            queryset = queryset.filter(**{f"{column}__lt": last + timedelta(days=1)})
        return queryset


class ScheduleDayFilter(DayFilter):
    """The days on which scheduled posts and changes will be published. Other posts are on no day."""

    column = "due_at"
    select_dated = staticmethod(lambda request, posts: queries.select_scheduled(get_actor(request), posts))


class PublicationDayFilter(DayFilter):
    """The days on which posts first became public. Posts that never were public are on no day."""

    column = "publication_order"  # equal to `published_at`, and indexed
    select_dated = staticmethod(lambda _, posts: posts.filter(publication_order__lt=NEVER_PUBLIC))


class StatusFilter(ChoicesDropdownFilter):
    """Posts of one status. Those with scheduled changes are scheduled too."""

    def queryset(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> Any:
        if self.value() == PostStatus.SCHEDULED:
            return queries.select_scheduled(get_actor(request), queryset)
        return super().queryset(request, queryset)


def parse_day(text: str | None) -> datetime | None:
    """Return the begin of a day; None for a text that is no date, and for a year that has no next day everywhere."""
    try:
        day = parse_date(text or "")
    except ValueError:
        return None
    return datetime.combine(day, time.min, UTC) if day and 1 < day.year < 9999 else None
