"""The admin site: limits wrong passwords, shows API errors as pages, and restricts what its pages may do."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, ClassVar

from django.core.exceptions import BadRequest, PermissionDenied, SuspiciousOperation, ValidationError
from django.core.paginator import InvalidPage
from django.http import Http404, HttpRequest
from unfold.forms import AuthenticationForm
from unfold.sites import UnfoldAdminSite

from contentapi.auth.sessions import build_session_actor
from contentapi.core.errors import ApiError, Malformed
from contentapi.core.text import require_storable
from contentapi.desk.pages import render_error, restrict_admin_page
from contentapi.http.request_log import classify_and_record
from contentapi.monitoring.audit import Event, record_event
from users.login import throttle_login
from users.mail import is_mail_on

DESK_IS_FOR = "The desk is for authors and editors. A reader's account cannot log in here."
REFUSALS = (ApiError, BadRequest, Http404, PermissionDenied, SuspiciousOperation)


class DeskLoginForm(AuthenticationForm):
    """The login of the desk. Somebody who knows the password of a reader learns why the account cannot log in here."""

    error_messages: ClassVar = {
        **AuthenticationForm.error_messages,
        "invalid_login": "This email and password do not belong to an account that may log in.",
        "reader": DESK_IS_FOR,
    }

    def confirm_login_allowed(self, user: Any) -> None:
        if user.is_active and not user.is_staff:
            raise ValidationError(self.error_messages["reader"], code="reader")
        super().confirm_login_allowed(user)


class AdminSite(UnfoldAdminSite):
    index_title = "Editors' desk"
    login_form = DeskLoginForm

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Return the variables of every page. The colours are in `desk/admin.css`, not in a style of the page."""
        return {**super().each_context(request), "colors": None}

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Show and perform the login. A reader who is logged in elsewhere is informed, too."""
        is_reader = request.method == "GET" and request.user.is_authenticated and not self.has_permission(request)
        context = {"desk_is_for": DESK_IS_FOR if is_reader else "", "is_mail_on": is_mail_on(), **(extra_context or {})}
        return restrict_admin_page(throttle_login(super().login)(request, context))

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        response = super().password_change(request, extra_context)
        if request.method == "POST" and response.status_code == HTTPStatus.FOUND:
            user = request.user
            record_event(Event.USER_PASSWORD_CHANGED, build_session_actor(user), "user", user.pk)
        return response

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
                return render_error(request, classify_and_record(error))

        return guarded

    def search(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        try:
            return super().search(request, extra_context)
        except (ValueError, InvalidPage):
            raise Malformed("There is no such page of search results.") from None
