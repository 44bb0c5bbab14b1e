"""The login of the desk, which limits wrong passwords, and its page for a new password."""

from http import HTTPStatus
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.http import HttpRequest
from unfold.forms import AuthenticationForm

from contentapi.auth.sessions import build_session_actor
from contentapi.desk.pages import restrict_admin_page
from contentapi.desk.site import AdminSite
from users.audit import Audit
from users.login import throttle_login
from users.mail import is_mail_on

DESK_IS_FOR = "The desk is for authors and editors. A reader's account cannot log in here."


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


class DeskSite(AdminSite):
    login_form = DeskLoginForm

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Show and perform the login. A reader who is logged in elsewhere is informed, too."""
        is_reader = request.method == "GET" and request.user.is_authenticated and not self.has_permission(request)
        context = {"desk_is_for": DESK_IS_FOR if is_reader else "", "is_mail_on": is_mail_on(), **(extra_context or {})}
        return restrict_admin_page(throttle_login(super().login)(request, context))

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        response = super().password_change(request, extra_context)
        if request.method == "POST" and response.status_code == HTTPStatus.FOUND:
            user = request.user
            Audit.USER_PASSWORD_CHANGED.record(build_session_actor(user), "user", user.pk)
        return response
