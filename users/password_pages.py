"""The pages at which people ask for a link by mail, and choose a password at it. Without EMAIL_URL there are none."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.tokens import default_token_generator
from django.contrib.auth.views import INTERNAL_RESET_SESSION_TOKEN, PasswordResetConfirmView, PasswordResetView
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache

from contentapi.core.errors import NotFound, RateLimited
from contentapi.monitoring.audit import Event
from contentapi.rate_limits.account import Reservation
from users.login import find_login_user, get_login_limits, record_stranger, render_rate_limited
from users.mail import is_mail_on
from users.models import MAX_EMAIL
from users.pages import render_page
from users.password_links import choose_password, request_link


def require_mail(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    @wraps(view)
    @never_cache
    def guarded(request: HttpRequest, *arguments: Any, **options: Any) -> HttpResponseBase:
        if not is_mail_on():
            raise Http404
        return view(request, *arguments, **options)

    return guarded


class ForgottenPasswordPage(PasswordResetView):
    """Asks for an email. The answer, and its time, are the same whether there is an account with it or not."""

    def post(self, request: HttpRequest, *arguments: Any, **options: Any) -> HttpResponse:
        """Count each request like a wrong password, and apart from these."""
        try:
            Reservation(get_login_limits(request, request.POST.get("email", ""), purpose="link|"))
        except RateLimited as error:
            return render_rate_limited(request, error)
        return super().post(request, *arguments, **options)

    def form_valid(self, form: Any) -> HttpResponse:
        email = form.cleaned_data["email"][:MAX_EMAIL]
        user = find_login_user(email)
        record_stranger(Event.USER_LINK_REQUESTED, self.request, email, user)
        request_link(user)
        return redirect("password_link_sent")

    def render_to_response(self, context: dict[str, Any], **_: Any) -> HttpResponse:
        return render_page(self.request, "forgotten_password", context)


class NewPasswordPage(PasswordResetConfirmView):
    """Asks for a new password. The token is in the session, where `follow_link` has put it."""

    def get_user(self, uidb64: str) -> Any:
        user = super().get_user(uidb64)
        return user if user is not None and user.is_active else None

    def form_valid(self, form: Any) -> HttpResponse:
        token = self.request.session.pop(INTERNAL_RESET_SESSION_TOKEN)
        try:
            choose_password(user_id=form.user.pk, token=token, password=form.cleaned_data["new_password1"])
        except NotFound:  # used by another request since this one began
            self.validlink = False
            return self.render_to_response(self.get_context_data())
        return redirect("password_chosen")

    def render_to_response(self, context: dict[str, Any], **_: Any) -> HttpResponse:
        return render_page(self.request, "new_password", context, status=200 if self.validlink else NotFound.status)


@require_mail
def follow_link(request: HttpRequest) -> HttpResponse:
    """Put the token of a link in the session, and lead to an address without it, which may be shown and logged."""
    uid, token = request.GET.get("user", ""), request.GET.get("token", "")
    user = NewPasswordPage().get_user(uid)
    if user is None or not default_token_generator.check_token(user, token):
        return render_page(request, "new_password", {"validlink": False}, status=NotFound.status)
    request.session[INTERNAL_RESET_SESSION_TOKEN] = token
    return redirect("new_password", uidb64=uid)


@require_mail
def show_sent(request: HttpRequest) -> HttpResponse:
    return render_page(request, "link_sent", {})


@require_mail
def show_chosen(request: HttpRequest) -> HttpResponse:
    return render_page(request, "password_chosen", {})


forgotten_password = require_mail(ForgottenPasswordPage.as_view())
new_password = require_mail(NewPasswordPage.as_view())
