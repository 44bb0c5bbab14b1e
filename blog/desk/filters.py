"""Filters of the admin's lists."""

from datetime import date, datetime, time, timedelta
from typing import Any

from django import forms
from django.db import models
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_date
from unfold.contrib.filters.admin import ChoicesDropdownFilter, RangeDateFilter, TextFilter
from unfold.widgets import INPUT_CLASSES, UnfoldAdminTextInputWidget

from blog import selectors
from blog.desk import queries
from blog.models import MAX_TAG, NEVER_PUBLIC, Post, PostStatus
from contentapi.core.pagination import parse_id
from contentapi.desk.bases import get_actor
from contentapi.desk.lists import RelatedFilter

TITLES = {"created_at": "created at", "publish_at": "publish at", "published_at": "published at"}


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


class WriterFilter(RelatedFilter):
    """The posts that an author has written, alone or with others."""

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        found = super().queryset(request, queryset)  # refuses a value that is no id
        author = self.value()
        return selectors.filter_posts_by_writer(queryset, parse_id(author)) if author else found


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

    def __init__(self, field: Any, *arguments: Any, **options: Any) -> None:
        super().__init__(field, *arguments, **options)
        self.title = TITLES[field.name]

    def queryset(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> models.QuerySet[Any]:
        begin, end = self.parse_period()
        column = self.get_column()
        if begin is not None:
            queryset = queryset.filter(**{f"{column}__gte": begin})
        if end is not None:
            queryset = queryset.filter(**{f"{column}__lt": end})
        return queryset

    def get_column(self) -> str:
        """Return the name of the column whose values are compared."""
        return str(self.parameter_name)

    def parse_period(self) -> tuple[datetime | None, datetime | None]:
        """Return the first moment of the first day, and the moment after the last day."""
        first, last = (parse_day(self.used_parameters.get(name)) for name in self.expected_parameters())
        begin = begin_day(first) if first else None
        end = begin_day(last) + timedelta(days=1) if last else None
        return begin, end


class ScheduleDayFilter(DayFilter):
    """The days on which scheduled posts and changes will be published. Other posts are on no day."""

    def queryset(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> models.QuerySet[Any]:
        if self.parse_period() == (None, None):
            return queryset
        return super().queryset(request, queries.select_scheduled(get_actor(request), queryset))

    def get_column(self) -> str:
        return "due_at"


class StatusFilter(ChoicesDropdownFilter):
    """Posts of one status. Those with scheduled changes are scheduled too."""

    def queryset(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> Any:
        if self.value() == PostStatus.SCHEDULED:
            return queries.select_scheduled(get_actor(request), queryset)
        return super().queryset(request, queryset)


class PublicationDayFilter(DayFilter):
    """The days on which posts first became public. Posts that never were public are on no day."""

    def get_column(self) -> str:
        return "publication_order"  # equal to `published_at`, and indexed

    def parse_period(self) -> tuple[datetime | None, datetime | None]:
        begin, end = super().parse_period()
        return begin, end or (begin and NEVER_PUBLIC)


def parse_day(text: str | None) -> date | None:
    """Return the date; None for a text that is no date, and for a year that has no next day everywhere."""
    try:
        day = parse_date(text or "")
    except ValueError:
        return None
    return day if day and 1 < day.year < 9999 else None


def begin_day(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))
