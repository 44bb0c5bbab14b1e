"""The pages at which people ask for a link by mail, and choose a password at it. Without EMAIL_URL there are none."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.views import PasswordResetView
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.generic import FormView

from contentapi.auth.sessions import read_secret, store_secret
from contentapi.core.errors import NotFound, RateLimited
from contentapi.desk.pages import render_page
from contentapi.rate_limits.account import Reservation
from users.audit import Audit
from users.login import find_login_user, get_login_limits, record_stranger, render_rate_limited
from users.mail import is_mail_on
from users.models import MAX_EMAIL
from users.password_links import choose_password, find_user_of_link, request_link

FOLLOWED = "followed_link"  # a secret of a session: the user and the token


def require_mail(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    @wraps(view)
    @never_cache
    def guarded(request: HttpRequest, *arguments: Any, **options: Any) -> HttpResponseBase:
        if not is_mail_on():
            raise Http404
        return view(request, *arguments, **options)

    return guarded


class ForgottenPasswordPage(PasswordResetView):
    """Asks for an email. The response, and its time, are the same whether there is an account with it or not."""

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
        record_stranger(Audit.USER_LINK_REQUESTED, self.request, email, user)
        request_link(user)
        return redirect("password_link_sent")

    def render_to_response(self, context: dict[str, Any], **_: Any) -> HttpResponse:
        return render_page(self.request, "users/forgotten_password.html", context)


class NewPasswordPage(FormView):  # type: ignore[type-arg]  # no generic class at run time
    """Asks for a new password. The session has the user and the token of the link that was followed."""

    form_class = SetPasswordForm

    def dispatch(self, request: HttpRequest, *arguments: Any, **options: Any) -> HttpResponseBase:
        self.link = read_secret(request.session, FOLLOWED) or ("", "")
        self.user = find_user_of_link(*self.link)
        if self.user is None:
            return render_invalid_link(request)
        return super().dispatch(request, *arguments, **options)

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "user": self.user}

    def form_valid(self, form: Any) -> HttpResponse:
        try:
            choose_password(*self.link, password=form.cleaned_data["new_password1"])
        except NotFound:  # another request has used the link since this one began
            return render_invalid_link(self.request)
        del self.request.session[FOLLOWED]
        return redirect("password_chosen")

    def render_to_response(self, context: dict[str, Any], **_: Any) -> HttpResponse:
        return render_page(self.request, "users/new_password.html", context)


@require_mail
def follow_link(request: HttpRequest) -> HttpResponse:
    """Put the link in the session, and lead to an address without the token, which may be shown and logged."""
    link = (request.GET.get("user", ""), request.GET.get("token", ""))
    if find_user_of_link(*link) is None:
        return render_invalid_link(request)
    store_secret(request.session, FOLLOWED, link)
    return redirect("new_password")


def render_invalid_link(request: HttpRequest) -> HttpResponse:
    return render_page(request, "users/invalid_link.html", {}, status=NotFound.status)


show_sent = require_mail(lambda request: render_page(request, "users/link_sent.html", {}))
show_chosen = require_mail(lambda request: render_page(request, "users/password_chosen.html", {}))
forgotten_password = require_mail(ForgottenPasswordPage.as_view())
new_password = require_mail(NewPasswordPage.as_view())
