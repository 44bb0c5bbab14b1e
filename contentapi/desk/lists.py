"""Lists of the admin: how many rows they count and show, their order, their search boxes, filters by related objects.

The lookup `folded` of the search boxes: a text contains another one, without differences of case and accents. The
pattern names all letters that are equal, so that the locale of the database has no part in it.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Page, Paginator
from django.db import models
from django.db.models import CharField, TextField
from django.db.models.lookups import BuiltinLookup
from django.http import HttpRequest
from django.utils.functional import cached_property
from unfold.contrib.filters.admin import AutocompleteSelectFilter, DropdownFilter

from contentapi.core.pagination import parse_id
from contentapi.core.unicode import ACCENTS, fold_accents, remove_invisible

ORDER = "o"  # the parameter of a list's order


def read_page_number(request: HttpRequest) -> int:
    """Return the number of the page of suggestions that a request names: 1 without one."""
    return min(parse_id(request.GET.get("page", "")) or 1, BoundedPaginator.MAX_ROWS)


class BoundedPaginator(Paginator):
    """Pages of the first `MAX_ROWS` rows. Counting and skipping more rows takes long; filters find them."""

    MAX_ROWS = 10_000
    template_name = "desk/pagination.html"  # the theme looks for it

    has_more = False  # rows than `count`, which notices it

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        number = int(rows.order_by()[: self.MAX_ROWS + 1].count())
        self.has_more = number > self.MAX_ROWS
        return min(number, self.MAX_ROWS)

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

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> Any:
        admin: Any = self.model_admin
        return super().get_queryset(request, exclude_parameters).defer(*admin.list_deferred)

    def get_ordering(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> Any:
        ordering = super().get_ordering(request, queryset)
        if ORDER not in self.params:
            return ordering
        first = ordering[0]
        return [first, "-pk" if str(first).startswith("-") else "pk"]

    def build_links(self, parameter: str, values: Mapping[str, str], **others: None) -> list[tuple[str, str, bool]]:
        """Return the label and the address of each value of a parameter, and whether it is the present one."""
        chosen = self.params.get(parameter, "")
        return [
            (label, self.get_query_string({parameter: value or None, **others}), chosen == value)
            for label, value in values.items()
        ]

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.search_limit: int | None = getattr(request, "search_limit", None)  # of rows that a search finds
        self.is_limited_search = self.search_limit == self.result_count
        is_complete = not self.query and not self.has_active_filters
        if is_complete or self.paginator.has_more or self.is_limited_search:
            self.full_result_count = self.result_count  # the theme then writes no number beside the title


class RelatedFilter(AutocompleteSelectFilter):
    """A filter by an object of another model. Its choices are the rows that the admin of that model lists for the user.

    The theme takes the name of the chosen object from all rows, so that an id in the address would show a hidden title.
    """

    def choices(self, changelist: ChangeList) -> Iterator[dict[str, Any]]:
        related = self.model_admin.admin_site.get_model_admin(self.field.related_model)
        for choice in super().choices(changelist):
            choice["form"].fields[self.lookup_kwarg].queryset = related.get_queryset(self.request)
            yield choice


def build_state_filter(
    title: str,
    parameter: str,
    choices: Sequence[tuple[str, str]],
    select: Callable[[models.QuerySet[Any], str], models.QuerySet[Any]],
) -> type[DropdownFilter]:
    """Return a filter by states of the rows. `select` gets the chosen state; an empty text without a choice."""

    class StateFilter(DropdownFilter):
        def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[str, str]]:
            return choices

        def queryset(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> models.QuerySet[Any]:
            return select(queryset, self.value() or "")

    StateFilter.title, StateFilter.parameter_name = title, parameter
    return StateFilter


LETTERS = range(0x80, 0x2C00)  # the scripts that have case or accents
MOST_LETTERS = 100  # of a search


@CharField.register_lookup
@TextField.register_lookup
class Folded(BuiltinLookup):
    lookup_name = "folded"

    def get_prep_lookup(self) -> str:
        return build_pattern(str(self.rhs))

    def get_rhs_op(self, connection: Any, rhs: str) -> str:
        return f"~ {rhs}"


def fold(text: str) -> str:
    return fold_accents(unicodedata.normalize("NFKC", remove_invisible(text)).casefold())


@cache
def list_variants() -> dict[str, str]:
    """Return the characters beyond ASCII that are equal to one letter or to several: `ß` and `ẞ` for `ss`."""
    variants: dict[str, str] = {}
    for char in map(chr, LETTERS):
        if char.isalpha() and (folded := fold(char)):
            variants[folded] = variants.get(folded, "") + char
    return variants


def build_pattern(text: str) -> str:
    """Return a regular expression of PostgreSQL: `(?:[sSśŝ…][\\u0300…]*[sSśŝ…][\\u0300…]*|[ßẞ])` for `ss`.

    It matches the text as it is written too: folding it may change characters that the stored text has.
    """
    pairs = "|".join(letters for letters in list_variants() if len(letters) == 2 and letters.isalpha())
    folded = "".join(map(match_letters, re.findall(f"{pairs}|.", fold(text)[:MOST_LETTERS], re.DOTALL)))
    return "|".join(filter(None, (folded, re.escape(text[:MOST_LETTERS]))))


def match_letters(letters: str) -> str:
    """Return the pattern for a letter, or for two of which one character can be a form."""
    variants = list_variants().get(letters, "")
    if len(letters) == 2:
        return f"(?:{''.join(map(match_letters, letters))}|[{variants}])"
    if not letters.isalnum():
        return re.escape(letters)
    return f"[{letters}{letters.upper() if letters.isascii() else ''}{variants}]{ACCENTS}*"
