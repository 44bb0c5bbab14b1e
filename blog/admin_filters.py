"""Filters of the admin's lists."""

from datetime import date, datetime, time, timedelta
from typing import Any

from django.db import models
from django.http import HttpRequest
from django.utils import timezone
from django.utils.dateparse import parse_date
from unfold.contrib.filters.admin import (
    RangeDateFilter,
    TextFilter,
)

from blog.models import Post


class TagFilter(TextFilter):
    title = "tag"
    parameter_name = "tag"

    def queryset(self, request: HttpRequest, queryset: models.QuerySet[Post]) -> models.QuerySet[Post]:
        tag = self.value()
        return queryset.filter(tags__contains=[tag]) if tag else queryset


class DayFilter(RangeDateFilter):
    """The days from a first to a last one, both included. A text that is no date is no limit."""

    def queryset(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> models.QuerySet[Any]:
        first, last = (parse_day(self.used_parameters.get(name)) for name in self.expected_parameters())
        if first is not None:
            queryset = queryset.filter(**{f"{self.parameter_name}__gte": begin_day(first)})
        if last is not None:
            queryset = queryset.filter(**{f"{self.parameter_name}__lt": begin_day(last) + timedelta(days=1)})
        return queryset


def parse_day(text: str | None) -> date | None:
    """Return the date; None for a text that is no date, and for a year that has no next day everywhere."""
    try:
        day = parse_date(text or "")
    except ValueError:
        return None
    return day if day and 1 < day.year < 9999 else None


def begin_day(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))
