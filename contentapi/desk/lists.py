"""Lists of the admin: how many rows they count and show, their order, and filters by related objects."""

from collections.abc import Iterator
from typing import Any

from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Page, Paginator
from django.db import models
from django.http import HttpRequest
from django.utils.functional import cached_property
from unfold.contrib.filters.admin import AutocompleteSelectFilter

ORDER = "o"  # the parameter of a list's order


class BoundedPaginator(Paginator):
    """Pages of the first `MAX_ROWS` rows. Counting and skipping more rows takes long; filters find them."""

    MAX_ROWS = 10_000
    template_name = "desk/pagination.html"  # the theme looks for it

    @cached_property
    def bounded_count(self) -> int:
        rows: Any = self.object_list
        return int(rows.order_by()[: self.MAX_ROWS + 1].count())

    @cached_property
    def count(self) -> int:
        return min(self.bounded_count, self.MAX_ROWS)

    @property
    def has_more(self) -> bool:
        return self.bounded_count > self.MAX_ROWS

    def page(self, number: int | str) -> Page:
        """Return a page. Its rows are found by their ids: PostgreSQL would join the tables for each skipped row."""
        valid = self.validate_number(number)
        end = valid * self.per_page
        rows: Any = self.object_list
        ids = rows.values("pk")[end - self.per_page : min(end, self.count)]
        return Page(rows.filter(pk__in=ids), valid, self)


class BoundedList(ChangeList):
    """A list that offers to show all rows only while a filter or a search hides some, and knows their number.

    A chosen order is one column and the id, in one direction, as the indexes have it. Django would add the default
    order, for which PostgreSQL sorts all rows of equal value: of posts, those that never were public.
    """

    def get_ordering(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> Any:
        ordering = super().get_ordering(request, queryset)
        if ORDER not in self.params:
            return ordering
        first = ordering[0]
        return [first, "-pk" if str(first).startswith("-") else "pk"]

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.search_limit: int | None = getattr(request, "search_limit", None)
        is_complete = not self.query and not self.has_active_filters
        if is_complete or self.paginator.has_more or self.is_limited_search:
            self.full_result_count = self.result_count  # the theme then writes no number beside the title

    @property
    def is_limited_search(self) -> bool:
        """Whether the list has as many rows as a search finds at most. `search_limit` of the request is this number."""
        return self.search_limit == self.result_count


class RelatedFilter(AutocompleteSelectFilter):
    """A filter by an object of another model. Its choices are the rows that the admin of that model lists for the user.

    The theme takes the name of the chosen object from all rows, so that an id in the address would show a hidden title.
    """

    def choices(self, changelist: ChangeList) -> Iterator[dict[str, Any]]:
        related = self.model_admin.admin_site.get_model_admin(self.field.related_model)
        for choice in super().choices(changelist):
            choice["form"].fields[self.lookup_kwarg].queryset = related.get_queryset(self.request)
            yield choice
