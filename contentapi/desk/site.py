"""The admin site: shows API errors as pages, and restricts what its pages may do."""

from collections.abc import Callable
from typing import Any

from django.core.exceptions import BadRequest, PermissionDenied, SuspiciousOperation
from django.core.paginator import InvalidPage
from django.http import Http404, HttpRequest
from unfold.sites import UnfoldAdminSite

from contentapi.core.errors import ApiError, Malformed
from contentapi.core.text import require_storable
from contentapi.desk.pages import render_error, restrict_admin_page

REFUSALS = (ApiError, BadRequest, Http404, PermissionDenied, SuspiciousOperation)


class AdminSite(UnfoldAdminSite):
    index_title = "Editors' desk"

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Return the variables of every page. The colours are in `desk/admin.css`, not in a style of the page."""
        return {**super().each_context(request), "colors": None}

    def admin_view(self, view: Callable[..., Any], cacheable: bool = False) -> Any:
        """Return the view with Django's checks and a policy for browsers.

        An API error and a refusal of Django become an HTML page, not JSON. Parameters that no database can store are
        refused for all pages; forms report them beside the field.
        """
        checked = super().admin_view(view, cacheable)

        def guarded(request: HttpRequest, *arguments: Any, **options: Any) -> Any:
            try:
                require_storable([*arguments, options, dict(request.GET.lists())])
                return restrict_admin_page(checked(request, *arguments, **options))
            except REFUSALS as error:
                return render_error(request, error)

        return guarded

    def search(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        try:
            return super().search(request, extra_context)
        except (ValueError, InvalidPage):
            raise Malformed("There is no such page of search results.") from None
